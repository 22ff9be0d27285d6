package engine

import (
	"ackmark/loadgen/client"
	"ackmark/loadgen/ledger"
)

// dropped hands what a crash on purpose took to the ledger: the crash
// injector's own log.
func (o *observer) dropped(dev int, at *client.CrashedAt) {
	for i := range at.Dropped {
		m := &at.Dropped[i]
		if c, k, ok := o.msgs.parse([]byte(m.ClientMsgID)); ok {
			o.ledger.OnDropped(ledger.Delivery{Conversation: c, Ordinal: k, Recipient: dev, Epoch: m.Epoch, Seq: m.Seq, At: at.At})
		}
	}
}
