package results

// ofStore tells invariants that can't be judged where the store behind a
// foreign server can't be asked (measuring.md, 18).
func ofStore(metric string) bool { return metric == "acked_not_received" || metric == "not_shown" }

// explained says what a broken invariant means, where its name doesn't.
func explained(metric string) string {
	switch metric {
	case "seq_mismatch":
		return ": they came under another seq than their senders were told, so not everybody sees the same conversation"
	case "not_shown":
		return ": they arrived at a device and were acked or are gone, and its user never saw them"
	case "refused_arrived":
		return ": they reached somebody though their senders were told that they weren't stored"
	}
	return ""
}
