package results

import "math"

// Run is one measurement of one variant.
type Run struct {
	Variant    string               `json:"variant"`
	Repeat     int                  `json:"repeat"` // 1, 2, …
	Seed       uint64               `json:"seed"`
	Number     int                  `json:"number"`     // 1, 2, … in the order of measuring; 0 in files of v1
	StartedMs  int64                `json:"started_ms"` // since the result's start
	Phases     []Phase              `json:"phases"`
	Metrics    Values               `json:"metrics"`
	Histograms map[string]Histogram `json:"histograms"`
	Series     Series               `json:"series"`
	Audit      Audit                `json:"audit"`
	Redis      RedisCommands        `json:"redis"`
	Acks       Acks                 `json:"acks"`
	Health     Health               `json:"health"`
	Warnings   []string             `json:"warnings"`
	Verdict    Verdict              `json:"verdict"` // written by Judge
}

// Phase is a labelled stretch of a run: start, seed, warmup, measure, drain,
// audit. Times are milliseconds since the run's start.
type Phase struct {
	Name    string  `json:"name"`
	StartMs float64 `json:"start_ms"`
	EndMs   float64 `json:"end_ms"`
}

// MeasuredSeconds returns the length of the phase "measure", 0 without one.
func (r *Run) MeasuredSeconds() float64 {
	for _, p := range r.Phases {
		if p.Name == "measure" {
			return (p.EndMs - p.StartMs) / 1000
		}
	}
	return 0
}

// Values maps metric names to numbers, null (nil) where a metric was not
// measured. Units are those of the registry, see Lookup.
type Values map[string]*float64

// Set stores a number. NaN and infinities, which are what dividing by no
// deliveries gives, are stored as null.
func (v Values) Set(name string, x float64) { v[name] = Number(x) }

// SetNull says that the metric applies but could not be measured.
func (v Values) SetNull(name string) { v[name] = nil }

// Get returns the number, and whether there is one.
func (v Values) Get(name string) (float64, bool) {
	if p := v[name]; p != nil {
		return *p, true
	}
	return 0, false
}

// Number returns a pointer to x for the nullable fields of this package; nil
// for NaN and infinities.
func Number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Count returns a pointer to n for the nullable counts of this package.
func Count(n int64) *int64 { return &n }

// Series holds one number per step of the run for each of its metrics; every
// list has the same length. Latencies are put at their intended second,
// throughput at its completion (measuring.md, 4).
type Series struct {
	StartMs int64                 `json:"start_ms"` // of the first step, since the run's start
	StepMs  int64                 `json:"step_ms"`  // 1000
	Points  map[string][]*float64 `json:"points"`   // null: no data in that step
}

// Audit is the ledger's account of the run, message by message. All are exact
// numbers of the whole run, warm-up and drain included.
type Audit struct {
	Sends            int64         `json:"sends"`
	Accepted         int64         `json:"accepted"`
	Unknown          int64         `json:"unknown"` // the answer never came, retries included
	Refused          int64         `json:"refused"`
	Expected         int64         `json:"expected"`   // accepted messages × their recipients
	Deliveries       int64         `json:"deliveries"` // of these, arrived at least once
	Pending          int64         `json:"pending"`    // not arrived, still in the store for the recipient
	Lost             int64         `json:"lost"`       // neither
	Redelivered      int64         `json:"redelivered"`
	ShownTwice       int64         `json:"shown_twice"`
	OutOfOrder       int64         `json:"out_of_order"`
	AckedNotReceived int64         `json:"acked_not_received"`
	SeqMismatch      int64         `json:"seq_mismatch"`    // arrived under another seq than the sender was told
	NotShown         int64         `json:"not_shown"`       // arrived, and the device never showed it
	RefusedArrived   int64         `json:"refused_arrived"` // the sender was told that it wasn't stored
	Foreign          int64         `json:"foreign"`         // arrivals that belong to no message of this run
	Reduced          bool          `json:"reduced"`         // only what clients saw: the target gives no counters (measuring.md, 18)
	Examples         []AuditSample `json:"examples"`
}

// AuditSample is one of the first few deliveries that went wrong.
type AuditSample struct {
	Kind   string `json:"kind"`   // a metric of class invariant, or foreign
	Detail string `json:"detail"` // names message and recipient
}

// RedisCommands counts commands by lower-case name. Both counts are kept
// because commandstats also counts the inner calls of a script.
type RedisCommands struct {
	Issued       map[string]int64 `json:"issued"`       // by the server
	Commandstats map[string]int64 `json:"commandstats"` // by Redis; empty where it gives none
	RoundTrips   *int64           `json:"round_trips"`
}

// Acks compares the ack requests of the measured phase with the two checks of
// measuring.md (14).
type Acks struct {
	Requests        int64            `json:"requests"`
	Replayed        *int64           `json:"replayed"`       // the policy replayed over the recorded arrivals
	ReplayedError   *float64         `json:"replayed_error"` // requests ÷ replayed − 1
	Predicted       *float64         `json:"predicted"`      // closed form, requests in the measured phase
	PredictedError  *float64         `json:"predicted_error"`
	PredictedChance *float64         `json:"predicted_chance"` // relative standard error: what chance alone moves a run this long by
	FlushCauses     map[string]int64 `json:"flush_causes"`     // count, interval, page, idle, close
}

// Health tells whether the generator itself is to blame (measuring.md, 19).
// Schedule lag is the histogram "schedule_lag", late sends and the achieved
// share of the offered load are metrics.
type Health struct {
	GeneratorCPUCores *float64         `json:"generator_cpu_cores"` // CPU seconds per second of the measured phase
	GeneratorCores    *float64         `json:"generator_cores"`     // cores that it may use
	GCPauseMaxUs      *float64         `json:"gc_pause_max_us"`
	GCPauseTotalUs    *float64         `json:"gc_pause_total_us"`
	RunQueueMeanUs    *float64         `json:"run_queue_mean_us"` // mean wait for a core per time slice
	RunQueuePercent   *float64         `json:"run_queue_percent"` // waiting ÷ (waiting + running)
	Reconciliations   []Reconciliation `json:"reconciliations"`
}

// Reconciliation compares a count of the generator with the same thing counted
// elsewhere. Outside the tolerance the run is invalid.
type Reconciliation struct {
	What      string  `json:"what"`  // "deliveries"
	Ours      float64 `json:"ours"`  // counted by the generator
	Other     string  `json:"other"` // who counted the other: "server", "Redis XLEN"
	Theirs    float64 `json:"theirs"`
	Tolerance float64 `json:"tolerance"` // relative; 0: must be equal
}

// OK tells whether both counts agree within the tolerance.
func (r Reconciliation) OK() bool {
	return math.Abs(r.Ours-r.Theirs) <= r.Tolerance*math.Max(math.Abs(r.Ours), math.Abs(r.Theirs))
}

// SetAuditMetrics copies the audit's counts to the metrics of the same names,
// and refused and unknown sends with them.
func (r *Run) SetAuditMetrics() {
	if r.Metrics == nil {
		r.Metrics = Values{}
	}
	for name, n := range r.Audit.counts() {
		r.Metrics.Set(name, float64(n))
	}
}

func (a *Audit) counts() map[string]int64 {
	return map[string]int64{
		"sends": a.Sends, "deliveries": a.Deliveries, "expected_deliveries": a.Expected,
		"pending": a.Pending, "lost": a.Lost, "redelivered": a.Redelivered,
		"shown_twice": a.ShownTwice, "out_of_order": a.OutOfOrder,
		"acked_not_received": a.AckedNotReceived, "seq_mismatch": a.SeqMismatch, "not_shown": a.NotShown, "refused_arrived": a.RefusedArrived, "unknown": a.Unknown, "refused": a.Refused,
	}
}
