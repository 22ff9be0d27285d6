package results

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func conditions(t *testing.T, source CheckSource, texts ...string) []Condition {
	t.Helper()
	out, err := Conditions(texts, source)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestJudge(t *testing.T) {
	const each1 = 0 // the run of variant each, repeat 1; its repeat 2 is 4
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, r *Result, rules *Rules)
		status Status
		code   ExitCode
		reason string // part of one reason
	}{
		{"all well", func(*testing.T, *Result, *Rules) {}, Pass, 0, ""},
		{"one message lost in one repeat", func(_ *testing.T, r *Result, _ *Rules) { loseThree(&r.Runs[each1]) }, Fail, 1, "each, repeat 1: lost is 3, must be 0"},
		{"shown twice", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.ShownTwice = 1
			r.Runs[each1].SetAuditMetrics()
		}, Fail, 1, "shown_twice is 1, must be 0"},
		{"out of order", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.OutOfOrder = 2
			r.Runs[each1].SetAuditMetrics()
		}, Fail, 1, "out_of_order is 2"},
		{"another seq than told", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.SeqMismatch = 2
			r.Runs[each1].SetAuditMetrics()
		}, Fail, 1, "seq_mismatch is 2, must be 0: they came under another seq"},
		{"arrived and never shown", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.NotShown = 1
			r.Runs[each1].SetAuditMetrics()
		}, Fail, 1, "its user never saw them"},
		{"refused, and there all the same", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.RefusedArrived = 1
			r.Runs[each1].SetAuditMetrics()
		}, Fail, 1, "refused_arrived is 1, must be 0: they reached somebody"},
		{"late sends don't excuse a lost message", func(_ *testing.T, r *Result, _ *Rules) {
			loseThree(&r.Runs[each1])
			r.Runs[each1].Histograms["schedule_lag"] = figures(70, 410_000, 500_000)
		}, Fail, 1, "lost is 3"},
		{"wrong counts do", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Metrics.Set("lost", 3) // the audit knows of none
		}, Invalid, 3, "the metric says 3, the audit 0"},
		{"both repeats over a threshold", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[0].Histograms["live"], r.Runs[4].Histograms["live"] = figures(5000, 300_000, 400_000), figures(5000, 320_000, 400_000)
		}, Fail, 1, "each: live.p99 is 310 ms (300 ms to 320 ms), must be below 250 ms"},
		{"one of two over a threshold", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[4].Histograms["live"] = figures(5000, 320_000, 400_000)
		}, Inconclusive, 4, "1 of 2 repeats meet it"},
		{"threshold on the limit itself", func(t *testing.T, r *Result, rules *Rules) {
			rules.Thresholds = conditions(t, FromThreshold, "live.p99 <= 250ms")
			r.Runs[0].Histograms["live"], r.Runs[4].Histograms["live"] = figures(5000, 250_000, 400_000), figures(5000, 250_000, 400_000)
		}, Pass, 0, ""},
		{"empty histogram", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Histograms["live"] = Histogram{Unit: Microseconds}
		}, Invalid, 3, "live.p99 has no value: nothing was recorded"},
		{"percentile among the overflow", func(_ *testing.T, r *Result, _ *Rules) {
			h := figures(5000, 6000, 7000)
			h.P99, h.P999, h.Max, h.Overflow = nil, nil, nil, 20
			r.Runs[each1].Histograms["live"] = h
		}, Invalid, 3, "among the 20 values above the histogram's range"},
		{"missing histogram", func(_ *testing.T, r *Result, _ *Rules) { delete(r.Runs[each1].Histograms, "live") }, Invalid, 3, "live.p99 is missing"},
		{"missing metric of a threshold", func(t *testing.T, r *Result, rules *Rules) {
			rules.Thresholds = conditions(t, FromThreshold, "server_rss_bytes < 1000000000")
		}, Invalid, 3, "server_rss_bytes is missing"},
		{"null invariant", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Metrics.SetNull("lost") }, Invalid, 3, "lost has no value"},
		{"missing repeat", func(_ *testing.T, r *Result, _ *Rules) { r.Runs = r.Runs[:7] }, Invalid, 3, "10 or 500ms: 1 of 2 repeats were measured"},
		{"missing variant", func(_ *testing.T, _ *Result, rules *Rules) {
			rules.Variants = append(rules.Variants, VariantRule{Name: "every 20"})
		}, Invalid, 3, "every 20: 0 of 2 repeats"},
		{"foreign run", func(_ *testing.T, _ *Result, rules *Rules) { rules.Variants = rules.Variants[:3] }, Invalid, 3, "which the profile doesn't have"},
		{"nothing at all", func(_ *testing.T, r *Result, rules *Rules) { r.Runs, rules.Variants = nil, nil }, Invalid, 3, "nothing was measured"},
		{"interrupted", func(_ *testing.T, r *Result, _ *Rules) { r.Interrupted, r.Runs = true, r.Runs[:5] }, Invalid, 130, "interrupted after 5 of 8 runs"},
		{"lag against p99.9", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Histograms["schedule_lag"] = figures(70, 410, 80_000)
		}, Invalid, 3, "schedule lag p99.9 is 80 ms against"},
		{"one late wake-up of a thousand sends", func(_ *testing.T, r *Result, _ *Rules) {
			fast(r, each1)
			r.Runs[each1].Histograms["schedule_lag"] = figures(70, 410, 15_000) // 1 of 1,000 lies beyond p99.9
		}, Pass, 0, ""},
		{"ten late wake-ups of a thousand sends", func(_ *testing.T, r *Result, _ *Rules) {
			fast(r, each1)
			r.Runs[each1].Histograms["schedule_lag"] = figures(70, 15_000, 15_000)
		}, Invalid, 3, "schedule lag p99 is 15 ms against 16 ms"},
		{"hiccups against p99.9", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Histograms["hiccup"] = figures(570, 4400, 80_000)
		}, Invalid, 3, "the generator's hiccup p99.9 is 80 ms against"},
		{"one hiccup of a thousand", func(_ *testing.T, r *Result, _ *Rules) {
			fast(r, each1)
			r.Runs[each1].Histograms["hiccup"] = figures(570, 4400, 15_000)
		}, Pass, 0, ""},
		{"hiccups weren't measured", func(_ *testing.T, r *Result, _ *Rules) {
			delete(r.Runs[each1].Histograms, "hiccup")
		}, Invalid, 3, "hiccup.p99 is missing"},
		{"lag at the maximum counts where the maximum is asked for", func(t *testing.T, r *Result, rules *Rules) {
			rules.Thresholds = conditions(t, FromThreshold, "live.max < 5s")
			lag := figures(70, 410, 1300)
			lag.Max = Count(900_000)
			r.Runs[each1].Histograms["schedule_lag"] = lag
		}, Invalid, 3, "schedule lag max is 900 ms"},
		{"and not where it isn't printed", func(_ *testing.T, r *Result, _ *Rules) {
			lag := figures(70, 410, 1300)
			lag.Max = Count(900_000)
			r.Runs[each1].Histograms["schedule_lag"] = lag
		}, Pass, 0, ""},
		{"generator starved", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.RunQueuePercent = Number(85) }, Invalid, 3, "waited for a core 85 % of the time"},
		{"load not offered", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Metrics.Set("achieved_percent", 98.5) }, Invalid, 3, "98.5 % of the offered load left, must be at least 99 %"},
		{"load not accepted", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Metrics.Set("achieved_percent", 96)
			r.Runs[each1].Audit.Refused = 12 // of 300: 4 %
			r.Runs[each1].SetAuditMetrics()
		}, Pass, 0, ""},
		{"generator out of CPU", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.GeneratorCPUCores = Number(1.96) }, Invalid, 3, "the generator used 1.96 of its 2 cores, limit 95 %"},
		{"generator stopped by GC", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.GCPauseMaxUs = Number(70_000) }, Invalid, 3, "longest GC pause is 70 ms"},
		{"generator waiting for a core", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.RunQueueMeanUs = Number(1250) }, Invalid, 3, "the generator was starved: its mean wait for a core is 1.25 ms, limit 350 µs"},
		{"generator next to a busy server", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.RunQueueMeanUs = Number(213) }, Pass, 0, ""},
		{"server counted otherwise", func(_ *testing.T, r *Result, _ *Rules) { r.Runs[each1].Health.Reconciliations[0].Theirs = 149_699 }, Invalid, 3, "deliveries: the generator counted 149,700, server 149,699"},
		{"within the tolerance", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Health.Reconciliations[0] = Reconciliation{"cursors", 100, "server", 101, 0.01}
		}, Pass, 0, ""},
		{"sum of the audit", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.Deliveries--
			r.Runs[each1].SetAuditMetrics()
		}, Invalid, 3, "add up to 149699, expected are 149700"},
		{"an unknown send may arrive", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[each1].Audit.Unknown, r.Runs[each1].Audit.Deliveries = 1, 149_700+499
			r.Runs[each1].SetAuditMetrics()
		}, Pass, 0, ""},
		{"ack requests are not those of the policy", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[1].Acks.Replayed, r.Runs[1].Acks.ReplayedError = Count(14_600), Number(14_970.0/14_600-1)
		}, Invalid, 3, "ack requests: 14970 measured, 14600 replayed over the recorded arrivals, off by 2.5 % (limit 1 %)"},
		{"the closed form is no rule", func(_ *testing.T, r *Result, _ *Rules) {
			r.Runs[1].Acks.PredictedError = Number(0.4)
		}, Pass, 0, ""},
		{"expected loss", func(t *testing.T, r *Result, rules *Rules) {
			rules.Variants[0].Expect = conditions(t, FromExpect, "lost > 0")
			loseThree(&r.Runs[0])
			loseThree(&r.Runs[4])
		}, Pass, 0, ""},
		{"expected loss that didn't come", func(t *testing.T, r *Result, rules *Rules) {
			rules.Variants[0].Expect = conditions(t, FromExpect, "lost > 0")
		}, Fail, 1, "each: lost is 0, must be above 0 (what this variant is there to show)"},
		{"expected loss in one variant excuses no other", func(t *testing.T, r *Result, rules *Rules) {
			rules.Variants[1].Expect = conditions(t, FromExpect, "lost > 0")
			loseThree(&r.Runs[0])
			loseThree(&r.Runs[1])
			loseThree(&r.Runs[5])
		}, Fail, 1, "each, repeat 1: lost is 3"},
		{"what may be lost need not be", func(t *testing.T, _ *Result, rules *Rules) {
			rules.Variants[0].Expect = conditions(t, FromExpect, "lost >= 0")
		}, Pass, 0, ""},
		{"what may be lost may be", func(t *testing.T, r *Result, rules *Rules) {
			rules.Variants[0].Expect = conditions(t, FromExpect, "lost >= 0")
			loseThree(&r.Runs[0])
		}, Pass, 0, ""},
		{"what doesn't contradict excuses nothing", func(t *testing.T, r *Result, rules *Rules) {
			rules.Variants[0].Expect = conditions(t, FromExpect, "lost < 5")
			loseThree(&r.Runs[0])
		}, Fail, 1, "lost is 3, must be 0"},
		{"reduced audit", func(_ *testing.T, r *Result, _ *Rules) {
			for i := range r.Runs {
				r.Runs[i].Audit.Reduced = true
				r.Runs[i].Metrics.SetNull("acked_not_received")
				r.Runs[i].Metrics.SetNull("not_shown")
			}
		}, Pass, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, rules := storm(t)
			tc.change(t, r, &rules)
			Judge(r, rules)
			var texts []string
			for _, reason := range r.Verdict.Reasons {
				texts = append(texts, reason.String())
			}
			all := strings.Join(texts, "\n")
			if r.Verdict.Status != tc.status || r.ExitCode != tc.code {
				t.Errorf("%s with code %d, want %s with %d; reasons:\n%s", r.Verdict.Status, r.ExitCode, tc.status, tc.code, all)
			}
			if !strings.Contains(all, tc.reason) || (tc.status == Pass) != (len(texts) == 0) {
				t.Errorf("want %q in the reasons:\n%s", tc.reason, all)
			}
			first, _ := json.Marshal(r)
			Judge(r, rules)
			if second, _ := json.Marshal(r); string(first) != string(second) {
				t.Error("judging again gives another result")
			}
			if _, err := Encode(r); err != nil {
				t.Errorf("can't be written: %v", err)
			}
		})
	}
}

// fast gives a run latencies of a few milliseconds.
func fast(r *Result, run int) {
	for _, name := range []string{"live", "send"} {
		r.Runs[run].Histograms[name] = figures(5000, 16_000, 20_000)
	}
}

func TestWarnings(t *testing.T) {
	r, rules := oneRepeat(t)
	r.Runs[0].Histograms["schedule_lag"] = figures(1900, 1950, 1990)
	Judge(r, rules)
	if w := r.Runs[1].Warnings; len(w) != 1 || !strings.Contains(w[0], "off by −7.2 % from the closed form") {
		t.Errorf("closed form: %q", w)
	}
	if w := r.Runs[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "schedule lag p50 is 1.9 ms") {
		t.Errorf("lag below the floor: %q", w)
	}
}

func TestChecksAreListedOnce(t *testing.T) {
	r, rules := storm(t) // its profile repeats the invariant lost == 0
	rules.Variants[2].Expect = conditions(t, FromExpect, "shown_twice > 0")
	Judge(r, rules)
	got := func(v int) (out []string) {
		for _, c := range r.Variants[v].Checks {
			out = append(out, string(c.Source)+" "+c.Expression+" "+string(c.Status))
		}
		return out
	}
	if want := []string{"invariant lost == 0 pass", "invariant shown_twice == 0 pass", "invariant out_of_order == 0 pass",
		"invariant acked_not_received == 0 pass", "invariant seq_mismatch == 0 pass",
		"invariant not_shown == 0 pass", "invariant refused_arrived == 0 pass", "threshold live.p99 < 250ms pass"}; !slices.Equal(got(0), want) {
		t.Errorf("got %q, want %q", got(0), want)
	}
	if want := []string{"invariant lost == 0 pass", "invariant out_of_order == 0 pass", "invariant acked_not_received == 0 pass",
		"invariant seq_mismatch == 0 pass", "invariant not_shown == 0 pass", "invariant refused_arrived == 0 pass",
		"threshold live.p99 < 250ms pass", "expect shown_twice > 0 fail"}; !slices.Equal(got(2), want) {
		t.Errorf("got %q, want %q", got(2), want)
	}
}

func TestExitCodes(t *testing.T) {
	for status, want := range map[Status]ExitCode{Pass: 0, Fail: 1, Invalid: 3, Inconclusive: 4, "": 3, "fine": 3} {
		if got := status.Exit(); got != want {
			t.Errorf("%q: %d, want %d", status, got, want)
		}
	}
	for _, c := range ExitCodes() {
		if c.Meaning() == "unknown" {
			t.Errorf("%d has no meaning", c)
		}
	}
}
