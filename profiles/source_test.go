package profiles

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func mustParse(t *testing.T, yaml string) *Source {
	t.Helper()
	s, err := Parse("t.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustResolve(t *testing.T, yaml string, sets ...string) []Setting {
	t.Helper()
	settings, err := mustParse(t, yaml).Resolve(sets)
	if err != nil {
		t.Fatal(err)
	}
	return settings
}

const head = "profile: ackmark/v1\nname: t\n"

// The example of the design, which leaves redis and resume to the defaults.
const designExample = `
profile: ackmark/v1
name: ack-storm
about: One group of 500, everybody online. What does each ack policy cost?
seed: 1                           # each repeat derives its own
population: {users: 500, groups: {count: 1, members: 500}, friends: 0}
server: {group: cursor, store_for: all, remove: on-ack, ack_flush: 0s, retransmit: 15s}
clients:                          # one class, or a list of classes with a share each (a planner's client mix)
  online: 100%
  transport: websocket            # or http
  window: 256                     # deliveries in flight, unacked, per connection
  send: {timeout: 5s, retries: 3}
  ack: {policy: count-or-interval, every: 10, interval: 500ms, idle: off}
  pull: {mode: paged, page: 100, order: oldest, ack: next-page}
  dedup: watermark
traffic:                          # kinds: group, direct, login, open
  group: {rate: 20/s, arrivals: poisson, bytes: 200}
phases: {warmup: 2s, measure: 15s, drain: 5s}    # drain ends as soon as nothing is pending
repeats: 2
variants:                         # a variant may state what it expects: expect: ["lost > 0"]
  - {name: each, set: {clients.ack.policy: each}}
  - {name: every 10, set: {clients.ack.policy: count, clients.ack.every: 10}}
faults: []
thresholds: ["lost == 0", "shown_twice == 0", "live.p99 < 250ms"]
`

func TestDesignExample(t *testing.T) {
	settings := mustResolve(t, designExample)
	if len(settings) != 2 || settings[0].Name != "each" || settings[1].Name != "every 10" {
		t.Fatalf("settings %+v", settings)
	}
	ms := func(n int) Duration { return Duration(time.Duration(n) * time.Millisecond) }
	want := &Profile{
		Profile: Version, Name: "ack-storm", About: "One group of 500, everybody online. What does each ack policy cost?", Seed: 1,
		Population: Population{Users: 500, Groups: Groups{Count: 1, Members: 500}},
		Server:     Server{Group: GroupCursor, Cursor: CursorSeq, StoreFor: StoreForAll, Remove: RemoveOnAck, SenderIndex: Off, Dedup: On, AckJoin: ms(5), Retransmit: ms(15000), DedupFor: ms(600_000)},
		Redis:      Redis{Fsync: FsyncEverysec},
		Clients: Clients{Online: 100, Transport: TransportWebSocket, Poll: ms(1000), Window: 256, Resume: ResumeCursor,
			Send: Send{Timeout: ms(5000), Retries: 3}, Ack: Ack{Policy: AckCount, Every: 10, Interval: ms(500)},
			Pull:  Pull{Mode: PullPaged, Groups: GroupsPerGroup, Open: 20, Page: 100, Order: OrderOldest, Ack: PullAckNextPage},
			Dedup: DedupWatermark, DedupWindow: 1000, Away: ms(5000), Crash: Crash{Between: CrashOff, Probability: 100, Login: 1, Relogin: ms(1000)}},
		Traffic: Traffic{Group: &Flow{Rate: 20, Arrivals: ArrivalsPoisson, Burst: 10, Bytes: 200, Senders: SendersRandom}},
		Phases:  Phases{Warmup: ms(2000), Measure: ms(15000), Drain: ms(5000)}, Pacing: PacingPrecise, Repeats: 2,
		Faults: []Fault{}, Thresholds: []string{"lost == 0", "shown_twice == 0", "live.p99 < 250ms"},
	}
	if got := settings[1].Profile; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := settings[0].Profile.Clients.Ack.Policy; got != AckEach {
		t.Errorf("variant each has policy %s", got)
	}
}

func TestDefaultsAlone(t *testing.T) {
	settings := mustResolve(t, head+"traffic: {direct: {}}")
	p := settings[0].Profile
	if len(settings) != 1 || settings[0].Name != "t" {
		t.Errorf("without variants: %d settings, the first called %q; want one called as the profile", len(settings), settings[0].Name)
	}
	if p.Traffic.Group != nil || p.Traffic.Direct == nil || p.Traffic.Direct.Rate != 20 || p.Traffic.Direct.Bytes != 200 {
		t.Errorf("traffic %+v %+v: an empty section is a flow of defaults, an absent one none", p.Traffic.Group, p.Traffic.Direct)
	}
}

func TestLayers(t *testing.T) {
	yaml := head + `
clients: {ack: {policy: count-or-interval, every: 5}}
traffic: {group: {rate: 20/s}}
variants:
  - {name: a, set: {clients.ack.every: 7}, expect: ["lost>0"]}
  - {name: b, set: {traffic.direct.rate: 60/m, faults: [{kind: kill-server, at: 5s}]}}`
	settings := mustResolve(t, yaml, "clients.ack.every=9", "repeats=1", "phases.warmup=0s", "clients.ack.idle=off", "thresholds=lost==0")
	a, b := settings[0], settings[1]
	if a.Profile.Clients.Ack.Every != 9 || b.Profile.Clients.Ack.Every != 9 {
		t.Errorf("every %d and %d: a flag wins over file and variant", a.Profile.Clients.Ack.Every, b.Profile.Clients.Ack.Every)
	}
	if len(a.Warnings) != 1 || a.Warnings[0] != "--set clients.ack.every=9: variant a sets clients.ack.every to 7, the flag overrides it; leave the flag out to keep the variant" || len(b.Warnings) != 0 {
		t.Errorf("warnings %q and %q", a.Warnings, b.Warnings)
	}
	if a.Profile.Traffic.Direct != nil || b.Profile.Traffic.Direct == nil || b.Profile.Traffic.Direct.Rate != 1 || b.Profile.Traffic.Direct.Bytes != 200 {
		t.Error("a variant that sets one key of a flow adds that flow, with defaults, to itself only")
	}
	if f := b.Profile.Faults; len(f) != 1 || f[0].At.Std() != 5*time.Second || f[0].Down.Std() != time.Second || len(a.Profile.Faults) != 0 {
		t.Errorf("faults %+v and %+v", a.Profile.Faults, f)
	}
	if !reflect.DeepEqual(a.Expect, []string{"lost > 0"}) || !reflect.DeepEqual(a.Profile.Thresholds, []string{"lost == 0"}) {
		t.Errorf("expect %q, thresholds %q", a.Expect, a.Profile.Thresholds)
	}
	if a.Profile == b.Profile || a.Profile.Traffic.Group == b.Profile.Traffic.Group {
		t.Error("two settings share memory")
	}
	want := []Variant{
		{Name: "a", Set: map[string]string{"clients.ack.every": "7"}, Expect: []string{"lost > 0"}},
		{Name: "b", Set: map[string]string{"traffic.direct.rate": "1/s", "faults": "[{kind: kill-server, at: 5s, down: 1s}]"}},
	}
	if got := mustParse(t, yaml).Variants(); !reflect.DeepEqual(got, want) {
		t.Errorf("variants %+v", got)
	}
}

func TestSetErrors(t *testing.T) {
	s := mustParse(t, head+"traffic: {group: {rate: 20/s}}\nvariants: [{name: a, set: {clients.ack.every: 10}}]")
	var got strings.Builder
	for _, sets := range [][]string{
		{"clients.ack.every"}, {"clients.ack.evry=5"}, {"every=5"}, {"clients.ack=each"}, {"clients.ack.every=ten"},
		{"clients.ack.every="}, {"clients.ack.every=300"}, {"clients.window=5"}, {"traffic.open=1/s"}, {"traffic.login=1/s"}, {"faults[].at=1s"},
		{"variants=[]"}, {"profile=ackmark/v2"}, {"thresholds=lost"}, {"thresholds=[lost == 0"}, {"faults=5s"},
		{"faults=[{kind: kill-server, at: 20s}]"}, {"server.group=copys"}, {"server.group=copies", "server.cursor=time-from"}, {"=5"}, {"seed=-1"},
		{"clients.ack.policy=interval", "clients.ack.interval=15s"}, {"repeats=x", "seed=y"},
	} {
		_, err := s.Resolve(sets)
		if err == nil {
			t.Errorf("%q: no error", sets)
			continue
		}
		fmt.Fprintf(&got, "%s\n%v\n\n", strings.Join(sets, " "), err)
	}
	golden(t, "testdata/set.golden", got.String())
}

func TestWarnings(t *testing.T) {
	var got strings.Builder
	for _, yaml := range []string{
		"clients: {ack: {policy: count, every: 50}}\ntraffic: {group: {rate: 2/s}}",
		"clients: {ack: {policy: count, every: 50, idle: 1s}}\ntraffic: {group: {rate: 2/s}}", // idle acks in time: nothing to say
		"clients: {ack: {policy: count}}\ntraffic: {group: {}, direct: {rate: 20/s}}",
		"clients: {ack: {policy: interval, interval: 10s}, window: 100}\ntraffic: {group: {}}",
		"traffic: {group: {burst: 5}}",
		"faults: [{kind: kill-server, at: 1s, down: 4s}]\nclients: {send: {timeout: 1s, retries: 3}}\ntraffic: {group: {}}",
		"clients: {poll: 5s, dedup_window: 5, pull: {open: 5%}, session: 5s, away: 2s, crash: {relogin: 2s, login: 3, probability: 5%}}\ntraffic: {group: {}}",
		"clients: {transport: http, poll: 5s, dedup: window, dedup_window: 5, online: 50%, session: 5s, away: 2s}\ntraffic: {group: {}, login: {}}", // all of it counts
		"server: {dedup: off, dedup_for: 1s}\ntraffic: {group: {}}",
		"population: {groups: {count: 0}}\nclients: {online: 50%, pull: {mode: all, order: newest}}\ntraffic: {direct: {}, login: {burst: 5}}",
	} {
		fmt.Fprintf(&got, "%s\n", yaml)
		for _, w := range mustResolve(t, head+yaml)[0].Warnings {
			fmt.Fprintf(&got, "→ %s\n", w)
		}
		got.WriteString("\n")
	}
	golden(t, "testdata/warnings.golden", got.String())
}

// A uniform flow from one sender races only where the timer can meet an arrival.
func TestUniformRace(t *testing.T) {
	for _, tc := range []struct {
		name, ack, flow string
		refused         bool
	}{
		{"integer R·T", "policy: interval, interval: 500ms", "rate: 20/s, arrivals: uniform, senders: fixed", true},
		{"between", "policy: interval, interval: 525ms", "rate: 20/s, arrivals: uniform, senders: fixed", false},
		{"T below a gap", "policy: interval, interval: 10ms", "rate: 20/s, arrivals: uniform, senders: fixed", false},
		{"random senders", "policy: interval, interval: 500ms", "rate: 20/s, arrivals: uniform", false},
		{"poisson", "policy: interval, interval: 500ms", "rate: 20/s, senders: fixed", false},
		{"N comes first", "policy: count-or-interval, every: 10, interval: 500ms", "rate: 20/s, arrivals: uniform, senders: fixed", false},
		{"N meets T", "policy: count-or-interval, every: 11, interval: 500ms", "rate: 20/s, arrivals: uniform, senders: fixed", true},
		{"count", "policy: count, every: 10", "rate: 20/s, arrivals: uniform, senders: fixed", false},
	} {
		_, err := Parse("t.yaml", []byte(head+"clients: {ack: {"+tc.ack+"}}\ntraffic: {group: {"+tc.flow+"}}"))
		if (err != nil) != tc.refused {
			t.Errorf("%s: error %v, refused %v wanted", tc.name, err, tc.refused)
		}
	}
}

func TestHash(t *testing.T) {
	hash := func(yaml string, sets ...string) string { return mustResolve(t, head+yaml, sets...)[0].Profile.Hash() }
	plain := hash("traffic: {group: {}}")
	for _, same := range []string{
		"about: other\nseed: 9\nrepeats: 3\nthresholds: [lost == 0]\ntraffic: {group: {}}",
		"# comment\ntraffic: {group: {rate: 1200/m}}\nclients: {ack: {idle: 0s}}",
		"traffic: {group: {}}\nvariants: [{name: a}]",
	} {
		if hash(same) != plain {
			t.Errorf("%q measures the same, but has another hash", same)
		}
	}
	seen := map[string]string{plain: "plain"}
	for _, set := range []string{"clients.ack.every=11", "clients.ack.policy=each", "traffic.group.bytes=201", "traffic.direct.rate=1/s",
		"phases.measure=16s", "population.users=501", "server.ack_flush=1ms", "redis.fsync=off", "faults=[{kind: kill-server, at: 1s}]"} {
		h := hash("traffic: {group: {}}", set)
		if other, taken := seen[h]; taken || len(h) != 64 {
			t.Errorf("--set %s: hash %s, as %s has", set, h, other)
		}
		seen[h] = set
	}
	a, b := mustResolve(t, designExample), mustResolve(t, designExample, "clients.window=100")
	if HashSettings(a) == HashSettings(b) || HashSettings(a) == HashSettings(a[:1]) {
		t.Error("the hash over all variants misses a change")
	}
	golden(t, "testdata/canonical.golden", mustResolve(t, designExample)[0].Profile.Canonical())
}

func TestProfileSurvivesJSON(t *testing.T) {
	want := mustResolve(t, designExample)[0].Profile
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Profile
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(&got, want) || got.Hash() != want.Hash() {
		t.Errorf("%v: %s", err, b)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(designExample), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := Load(path)
	if err != nil || s.Name() != "ack-storm" || s.File() != path || string(s.YAML()) != designExample {
		t.Errorf("Load: %v", err)
	}
	for _, tc := range []struct{ name, want string }{
		{"ack-strom", `no profile is called "ack-strom"; did you mean ack-storm? shipped: ` + strings.Join(names(), ", ") + `; a file of your own is given by path, e.g. ./mine.yaml`},
		{"nowhere.yaml", "nowhere.yaml: no such file; a path to a profile, or one of the shipped: " + strings.Join(names(), ", ")},
		{filepath.Dir(path) + "/", "reading the profile: read " + filepath.Dir(path) + "/: is a directory"},
	} {
		if _, err := Load(tc.name); err == nil || err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.name, err, tc.want)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("#", maxFile+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("an oversized file: %v", err)
	}
}

// Whatever the bytes, Parse ends, and either refuses with positions or gives
// settings that satisfy what the checks promise.
func FuzzParse(f *testing.F) {
	f.Add([]byte(designExample))
	files, _ := filepath.Glob("testdata/errors/*.yaml")
	shippedFiles, _ := filepath.Glob("*.yaml")
	for _, file := range append(files, shippedFiles...) {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Parse("f.yaml", b)
		if err != nil {
			problems, ok := err.(Problems)
			if !ok || len(problems) == 0 {
				t.Fatalf("error %#v is not Problems", err)
			}
			for _, p := range problems {
				if p.Pos.Line < 1 || p.Pos.Col < 1 || p.What == "" || p.Right == "" {
					t.Fatalf("problem without position or advice: %+v", p)
				}
			}
			return
		}
		settings, err := s.Resolve(nil)
		if err != nil || len(settings) == 0 {
			t.Fatalf("what Parse accepts doesn't resolve: %v", err)
		}
		for _, set := range settings {
			holdsTogether(t, set.Profile)
		}
	})
}

// holdsTogether is what an accepted profile keeps, whatever was written.
func holdsTogether(t *testing.T, p *Profile) {
	t.Helper()
	cl, live := p.Clients, p.Traffic.Group != nil || p.Traffic.Direct != nil
	waits := p.Backlog.Direct != nil || p.Backlog.Group != nil
	last := Duration(0)
	for _, f := range p.Timeline() {
		if f.At < last || f.At+f.Down > p.Phases.Measure {
			t.Fatalf("fault %s: before one that is not over, at %s, or past the end of measure", f, last)
		}
		last = f.At + f.Down
	}
	switch {
	case len(p.Hash()) != 64 || p.Phases.Measure <= 0,
		!live && (!waits || p.Traffic.Login == nil),
		byCount(cl.Ack.Policy) && cl.Ack.Every > cl.Window,
		live && cl.Online.Of(p.Population.Users) == 0,
		p.Traffic.Login != nil && cl.Online.Of(p.Population.Users) == p.Population.Users,
		p.Server.Remove == RemoveOnPull && (p.Server.Group == GroupCursor || cl.Ack.Policy != AckNone || cl.Pull.Ack != PullAckNone),
		p.Server.Group == GroupCursor && p.Server.StoreFor == StoreForOffline,
		cl.Crash.Between != CrashOff && cl.Crash.Login == 0 && cl.Crash.Probability == 100:
		t.Fatalf("accepted: %+v", p)
	}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again Profile
	if err := json.Unmarshal(b, &again); err != nil || again.Hash() != p.Hash() {
		t.Fatalf("through JSON another profile (%v): %s", err, b)
	}
}

// The profiles that were there before the ladder, and a run with faults, hash
// as they did then: results of that time stay comparable.
func TestHashesStand(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"ack-storm", "6b19d7cb95226e355a84c8bf1b1791520292ad6cc97fa7d498655b274f767981"},
		{"ack-storm-long", "dc2a494e5085a1dc901c7e11c6fc321e1640b30b4d0b6aebdc49c7f16fcf4237"},
		{"idle-crowd", "3788729c4b5ec405e8e2b68d137a9d68c6475021ba2107c7557854766f591dab"},
		{"smoke", "7687f7bf06954dd369905ae99c98417509243b016fd8e2b69db0aaa2460d5d68"},
	} {
		s, err := Load(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		settings, err := s.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := HashSettings(settings); got != tc.want {
			t.Errorf("%s: hash %s, was %s", tc.name, got, tc.want)
		}
	}
	p := mustResolve(t, head+"traffic: {group: {}}\nfaults: [{kind: kill-server, at: 5s}, {kind: kill-server, at: 8s, down: 2s}]")[0].Profile
	if got, want := p.Hash(), "752dc3d22b573b93b8bb3fdb06567cc0139e815483b787e855f5dcbd3d6bf7b5"; got != want {
		t.Errorf("with faults: hash %s, was %s", got, want)
	}
	p.Server.Cursor, p.Server.Dedup, p.Clients.Pull.Groups = "", "", "" // read from a file of that time
	if p.Hash() != "752dc3d22b573b93b8bb3fdb06567cc0139e815483b787e855f5dcbd3d6bf7b5" {
		t.Error("a profile that was resolved before the key came has another hash")
	}
}

func TestMaxOnline(t *testing.T) {
	for _, tc := range []struct {
		name, yaml string
		want       int
	}{
		{"nobody logs in", "population: {users: 1000}\nclients: {online: 50%}\ntraffic: {group: {}}", 500},
		{"all others may", "population: {users: 1000}\nclients: {online: 50%}\ntraffic: {group: {}, login: {}}", 1000},
		{"who has friends may", "population: {users: 1000, groups: {count: 0}, friends: 100, friends_of: 3}\nclients: {online: 10%}\ntraffic: {direct: {}, login: {}}", 103},
	} {
		if got := mustResolve(t, head+tc.yaml)[0].Profile.MaxOnline(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
