package cli_test

import (
	"path/filepath"
	"slices"
	"testing"

	"ackmark/results"
)

// rungs measures variants of a profile in testdata, one repeat of each.
func rungs(t *testing.T, profile string, variants []string, sets ...string) map[string]*results.Run {
	t.Helper()
	args := []string{filepath.Join("testdata", profile)}
	for _, v := range variants {
		args = append(args, "--variant", v)
	}
	for _, s := range sets {
		args = append(args, "--set", s)
	}
	r := trusted(t, run(t, args...))
	out := map[string]*results.Run{}
	for i := range r.Runs {
		out[r.Runs[i].Variant] = &r.Runs[i]
	}
	for _, v := range variants {
		if out[v] == nil {
			t.Fatalf("%s wasn't run", v)
		}
	}
	return out
}

// figures checks metrics of a run.
func figures(t *testing.T, run *results.Run, want map[string]float64) {
	t.Helper()
	for name, x := range want {
		if got, ok := run.Value(name); !ok || got != x {
			t.Errorf("%s: %s is %v, want %v", run.Variant, name, got, x)
		}
	}
}

// The arithmetic of rungs.yaml: three users with 20 friends each, of whom 10
// have sent 3 messages, 30 messages in ⌈30/7⌉ = 5 pages.
const (
	receivers, friends, senders = 3, 20, 10
	waiting, page, pages        = 30, 7, 5
)

// TestRungs logs three users in on each rung of design.md's table for direct
// messages, over both transports.
func TestRungs(t *testing.T) {
	requests := map[string]float64{
		"d1": 1 + friends, "d2": 1 + senders, "d3": 1,
		"d4 oldest": pages, "d4 newest": pages, "d5 oldest": pages + waiting, "d5 newest": pages + waiting,
		"d6 oldest": 2 * pages, "d6 newest": 2 * pages, "d7 oldest": pages + 1, "d7 newest": pages + 1,
	}
	answers := map[string]float64{"d1": friends, "d2": senders, "d3": 1} // that were asked for messages; others: pages
	var names []string
	for name := range requests {
		names = append(names, name)
	}
	for _, transport := range []string{"websocket", "http"} {
		t.Run(transport, func(t *testing.T) {
			runs := rungs(t, "rungs.yaml", names, "clients.transport="+transport)
			for _, name := range names {
				run := runs[name]
				asked, ok := answers[name]
				if !ok {
					asked = pages
				}
				figures(t, run, map[string]float64{
					"logins": receivers, "requests_per_login": requests[name], "pages_per_login": asked,
					"redis_commands_per_send": 1, "rows_per_message": 1, "member_lookups_per_send": 0, "presence_lookups_per_send": 0,
					"sync.count": receivers, "offline_age.count": receivers * waiting, "live.count": 0,
				})
				if a := run.Audit; a.Sends != receivers*waiting || a.Deliveries != receivers*waiting || a.Pending+a.Redelivered != 0 {
					t.Errorf("%s: audit %+v; want %d messages, each delivered once", name, a, receivers*waiting)
				}
				var phases []string
				for _, p := range run.Phases {
					phases = append(phases, p.Name)
				}
				if want := []string{"start", "seed", "backlog", "connect", "warmup", "measure", "drain", "audit"}; !slices.Equal(phases, want) {
					t.Errorf("%s: phases %v", name, phases)
				}
			}
			// d3's one answer holds 30 bodies of 50 bytes, d4's largest seven.
			all, _ := runs["d3"].Value("largest_response_bytes")
			largest, _ := runs["d4 oldest"].Value("largest_response_bytes")
			if all < waiting*50 || largest < page*50 || largest > all/3 {
				t.Errorf("largest responses: d3 %v bytes, d4 %v", all, largest)
			}
		})
	}
}

// TestRungsThatCrash has each client die in its first login. Between pull and
// ack that loses the page on the rungs that remove on pull, and nothing on those
// that ack: there the page, delivered and not acked, comes again. So it does in
// the middle of a sync, and dedup knows it.
func TestRungsThatCrash(t *testing.T) {
	lost := map[string]int64{"d1 crash": 3, "d2 crash": 3, "d3 crash": waiting, "d4 crash": page, "d6 crash": 0, "d7 crash": 0}
	again := map[string]int64{"d6 crash": page, "d7 crash": page, "d6 mid-sync": page, "d7 mid-sync": page, "d7 newest mid-sync": page}
	var names []string
	for name := range lost {
		names = append(names, name)
	}
	for name := range again {
		if _, known := lost[name]; !known {
			names = append(names, name)
		}
	}
	runs := rungs(t, "rungs.yaml", names)
	for _, name := range names {
		run, a := runs[name], runs[name].Audit
		figures(t, run, map[string]float64{"crashes": receivers, "logins": 2 * receivers})
		gone := receivers * lost[name]
		if a.Lost != gone || a.Deliveries != receivers*waiting-gone || a.Redelivered != receivers*again[name] || a.ShownTwice != 0 {
			t.Errorf("%s: %d lost, %d delivered, %d redelivered, %d shown twice; want %d, %d, %d, 0", name,
				a.Lost, a.Deliveries, a.Redelivered, a.ShownTwice, gone, receivers*waiting-gone, receivers*again[name])
		}
		if gone > 0 {
			figures(t, run, map[string]float64{"crash_dropped": float64(gone)}) // exactly the injector's own log
		}
	}
}

// TestGroupRungs counts what a group message takes. Of G = 12 members 11 are to
// get it. Designs with a row per recipient look the members up, and with a row
// for the offline ones only, who is online; they write a row for each and note
// that it is done. 25 messages make 3 pages of 10.
func TestGroupRungs(t *testing.T) {
	const others, group = 11, 25
	for _, tt := range []struct {
		variant           string
		rows, commands    float64
		members, presence float64
		requests          float64
	}{
		{"g1", others, 1 + 2 + others + 1, 1, 1, 3},
		{"g1 all", others, 1 + 1 + others + 1, 1, 0, 3},
		{"g2", 1 + others, 1 + 2 + others + 1, 1, 1, 3},
		{"g3", 1 + others, 1 + 1 + others + 1, 1, 0, 4}, // the next page is the ack
		{"g4", 1, 1, 0, 0, 4},
	} {
		t.Run(tt.variant, func(t *testing.T) {
			run := rungs(t, "rungs-group.yaml", []string{tt.variant})[tt.variant]
			figures(t, run, map[string]float64{
				"rows_per_message": tt.rows, "redis_commands_per_send": tt.commands,
				"member_lookups_per_send": tt.members, "presence_lookups_per_send": tt.presence,
				"logins": others, "requests_per_login": tt.requests, "pages_per_login": 3,
			})
			if a := run.Audit; a.Deliveries != group*others || a.Pending+a.Redelivered != 0 {
				t.Errorf("audit %+v; want %d deliveries, each once", a, group*others)
			}
		})
	}
}

// TestChurn has users come, go and crash while messages flow. They ack by number:
// a deadline of all members at the end of so short a phase would be much of it.
func TestChurn(t *testing.T) {
	o := run(t, short("clients.ack.policy=count", "clients.ack.every=4", "clients.online=50%", "population.friends=4", "traffic.login.rate=20/s", "clients.session=700ms", "clients.away=200ms", "phases.measure=3s",
		"clients.crash.between=receive-and-ack", "clients.crash.login=0", "clients.crash.probability=30%", "clients.crash.relogin=100ms")...)
	r := trusted(t, o)
	run := r.Runs[0]
	logins, _ := run.Value("logins")
	crashes, _ := run.Value("crashes")
	if logins < 12 || crashes < 1 {
		t.Errorf("%v logins, %v crashes; six users come about every second, and three in ten logins crash", logins, crashes)
	}
	if a := run.Audit; a.Lost+a.ShownTwice+a.OutOfOrder != 0 {
		t.Errorf("audit %+v", a)
	}
}
