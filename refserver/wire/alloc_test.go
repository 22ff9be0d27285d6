package wire

import (
	"slices"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"google.golang.org/protobuf/proto"
)

// endless repeats b forever, as much as fits in each read.
type endless struct {
	b   []byte
	pos int
}

func (e *endless) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		c := copy(p[n:], e.b[e.pos:])
		n += c
		e.pos = (e.pos + c) % len(e.b)
	}
	return n, nil
}

// The hot paths don't allocate: each runs once per delivery, ack or send.
func TestNoAllocations(t *testing.T) {
	body := strings.Repeat("x", 200)
	record := AppendRecord(nil, "user-17", "r3.0.152", body, 1765000000000)
	buf := make([]byte, 0, 4096)
	seqs, records := []uint64{1, 2, 3}, [][]byte{record, record, record}
	page := &Page{Ref: 1, Conversation: "g:7", Epoch: 2, UpTo: 3, Head: 9}
	deliver := AppendDeliver(nil, "g:7", 2, 300, record)
	ack := AppendAck(nil, 1, "g:7", 2, 300)
	ackIDs, _ := proto.Marshal(&Frame{Ack: &Ack{Conversation: "u:a", Ids: []uint64{1, 2, 3}}})
	send := AppendSend(nil, 1, "g:7", "r3.0.152", []byte(body))
	result := AppendSendResult(nil, &SendResultView{Ref: 1, ClientMsgID: []byte("r3.0.152"), Conversation: []byte("g:7"), Epoch: 2, Seq: 300})
	pageFrame := AppendPage(nil, page, seqs, records)
	sync, syncPages := &Sync{Ref: 1, Epoch: 2}, []PageRecords{{page, seqs, records}, {Page: page}}
	syncFrame := AppendSync(nil, sync, syncPages)
	view, view2 := new(View), new(DeliverView)
	resultView := &SendResultView{Ref: 1, ClientMsgID: []byte("r3.0.152"), Conversation: []byte("g:7"), Epoch: 2, Seq: 300}

	decode := func(b []byte) func() {
		return func() {
			if err := view.Decode(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	next := func(r *Reader) func() {
		return func() {
			if _, _, err := r.Next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, f := range map[string]func(){
		"AppendRecord":         func() { buf = AppendRecord(buf[:0], "user-17", "r3.0.152", body, 1765000000000) },
		"AppendDeliver":        func() { buf = AppendDeliver(buf[:0], "g:7", 2, 300, record) },
		"AppendDeliverMessage": func() { buf = AppendDeliverMessage(buf[:0], "g:7", 2, 300, record) },
		"AppendSend":           func() { buf = AppendSend(buf[:0], 1, "g:7", "r3.0.152", record) },
		"AppendAck":            func() { buf = AppendAck(buf[:0], 1, "g:7", 2, 300) },
		"AppendSendResult":     func() { buf = AppendSendResult(buf[:0], resultView) },
		"AppendPage":           func() { buf = AppendPage(buf[:0], page, seqs, records) },
		"AppendSync":           func() { buf = AppendSync(buf[:0], sync, syncPages) },
		"AppendMessage":        func() { buf = AppendMessage(buf[:0], ws.OpBinary, record) },
		"AppendMasked":         func() { buf = AppendMasked(buf[:0], ws.OpBinary, record, 0x12345678) },
		"AppendClose":          func() { buf = AppendClose(buf[:0], 1000, "bye", true) },
		"decode deliver":       decode(deliver),
		"decode ack":           decode(ack),
		"decode ack by ids":    decode(ackIDs),
		"decode send":          decode(send),
		"decode send_result":   decode(result),
		"decode page":          decode(pageFrame),
		"decode sync":          decode(syncFrame),
		"decode record": func() {
			if err := view2.Decode(record); err != nil {
				t.Fatal(err)
			}
		},
		"ParseConversation": func() {
			if _, _, err := ParseConversation("g:7"); err != nil {
				t.Fatal(err)
			}
		},
		"Reader.Next, masked":   next(NewReader(&endless{b: AppendMasked(nil, ws.OpBinary, ack, 7)}, 512, 1<<16, true)),
		"Reader.Next, unmasked": next(NewReader(&endless{b: AppendMessage(nil, ws.OpBinary, deliver)}, 4096, 1<<16, false)),
	} {
		if n := testing.AllocsPerRun(200, f); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Messages allocates once for a page, however many messages it has: a view
// inside PageView would be kept by every idle connection instead.
func TestPageAllocatesOnce(t *testing.T) {
	record := AppendRecord(nil, "user-17", "r3.0.152", "hello", 1765000000000)
	var v View
	if err := v.Decode(AppendPage(nil, &Page{}, make([]uint64, 100), slices.Repeat([][]byte{record}, 100))); err != nil {
		t.Fatal(err)
	}
	n := testing.AllocsPerRun(100, func() {
		if err := v.Page.Messages(func(*DeliverView) error { return nil }); err != nil {
			t.Fatal(err)
		}
	})
	if n > 1 {
		t.Errorf("%v allocations for 100 messages", n)
	}
}

func TestClearedPageViewKeepsNothing(t *testing.T) {
	var v View
	if err := v.SetFrame(&Frame{Page: &Page{Messages: []*Deliver{{Seq: 1}}}}); err != nil {
		t.Fatal(err)
	}
	if err := v.Decode(AppendPage(nil, &Page{Head: 1}, nil, nil)); err != nil {
		t.Fatal(err)
	}
	if err := v.Page.Messages(func(*DeliverView) error { t.Error("a message of the page before"); return nil }); err != nil {
		t.Fatal(err)
	}
}
