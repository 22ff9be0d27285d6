package push

import (
	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

const binaryOp = ws.OpBinary

// Form is how frames are encoded on a connection.
type Form uint8

// The forms: protobuf in binary messages, or JSON in text messages for people
// at a command line.
const (
	Binary Form = iota
	JSON
)

// encode returns a complete WebSocket message.
func (f Form) encode(frame *wire.Frame) ([]byte, error) {
	if f == JSON {
		payload, err := wire.EncodeJSON(frame)
		if err != nil {
			return nil, err
		}
		return wire.AppendMessage(nil, ws.OpText, payload), nil
	}
	payload, err := wire.AppendFrame(nil, frame)
	if err != nil {
		return nil, err
	}
	return wire.AppendMessage(nil, binaryOp, payload), nil
}

// encoded is one message of a conversation, ready to be queued: encoded once
// per form, however many members get it.
type encoded struct {
	binary, json []byte
}

func encodeDeliver(conversation string, epoch uint64, m *Message) encoded {
	return encoded{binary: wire.AppendDeliverMessage(nil, conversation, epoch, m.Seq, m.Record)}
}

func (e *encoded) bytes(form Form, conversation string, epoch uint64, m *Message) []byte {
	if form == Binary {
		return e.binary
	}
	if e.json == nil {
		d, err := wire.NewDeliver(conversation, epoch, m.Seq, m.Record)
		if err != nil {
			return nil
		}
		e.json, _ = JSON.encode(&wire.Frame{Deliver: d})
	}
	return e.json
}

// EncodePage encodes a page in the form of the connection. Its messages are
// given as they are stored.
func (c *Conn) EncodePage(p *wire.Page, seqs []uint64, records [][]byte) ([]byte, error) {
	if c.form == Binary {
		return wire.AppendMessage(nil, binaryOp, wire.AppendPage(nil, p, seqs, records)), nil
	}
	full, err := DecodedPage(p, seqs, records)
	if err != nil {
		return nil, err
	}
	return JSON.encode(&wire.Frame{Page: full})
}

// EncodeSync encodes an answer of several pages in the form of the connection.
func (c *Conn) EncodeSync(s *wire.Sync, pages []wire.PageRecords) ([]byte, error) {
	if c.form == Binary {
		return wire.AppendMessage(nil, binaryOp, wire.AppendSync(nil, s, pages)), nil
	}
	full, err := DecodedSync(s, pages)
	if err != nil {
		return nil, err
	}
	return JSON.encode(&wire.Frame{Sync: full})
}

// DecodedSync fills in the pages of a sync from their stored form.
func DecodedSync(s *wire.Sync, pages []wire.PageRecords) (*wire.Sync, error) {
	for i := range pages {
		p, err := DecodedPage(pages[i].Page, pages[i].Seqs, pages[i].Records)
		if err != nil {
			return nil, err
		}
		s.Pages = append(s.Pages, p)
	}
	return s, nil
}

// DecodedPage fills a page's messages in from their stored form.
func DecodedPage(p *wire.Page, seqs []uint64, records [][]byte) (*wire.Page, error) {
	for i, seq := range seqs {
		d, err := wire.NewDeliver("", 0, seq, records[i])
		if err != nil {
			return nil, err
		}
		p.Messages = append(p.Messages, d)
	}
	return p, nil
}
