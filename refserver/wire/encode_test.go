package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"google.golang.org/protobuf/proto"
)

// sameEncoding holds an encoder against the generated one: the same frame, in
// as many bytes, after what dst held.
func sameEncoding(t *testing.T, name string, got []byte, want *Frame) {
	t.Helper()
	back := new(Frame)
	if err := proto.Unmarshal(got, back); err != nil {
		t.Fatalf("%s: %x: %v", name, got, err)
	}
	if !proto.Equal(back, want) {
		t.Fatalf("%s: got  %v\nwant %v", name, back, want)
	}
	if len(got) != proto.Size(want) {
		t.Fatalf("%s: %d bytes, the generated code has %d", name, len(got), proto.Size(want))
	}
}

func FuzzEncode(f *testing.F) {
	f.Add(uint64(0), uint64(0), uint64(0), int64(0), "", "", "", uint8(0))
	f.Add(uint64(1), uint64(2), uint64(300), int64(1765000000000), "g:7", "r3.0.152", "grüß dich", uint8(3))
	f.Add(uint64(1<<63), uint64(1<<53), ^uint64(0), int64(-1), "u:alice", "x", string(make([]byte, 300)), uint8(2))
	for _, n := range []int{127, 128, 129, 256, 16383, 16384} { // where a length grows by a byte
		f.Add(uint64(n), uint64(1), uint64(n), int64(n), "g:7", "x", strings.Repeat("x", n), uint8(1))
	}
	f.Fuzz(func(t *testing.T, ref, epoch, seq uint64, timeMS int64, conv, id, body string, flags uint8) {
		// Invalid UTF-8 is kept away from encoders by the decoders.
		conv, id, body = strings.ToValidUTF8(conv, "?"), strings.ToValidUTF8(id, "?"), strings.ToValidUTF8(body, "?")
		a, b := flags&1 != 0, flags&2 != 0

		record := AppendRecord(nil, id, conv, body, timeMS)
		if len(record) != RecordSize(id, conv, body, timeMS) {
			t.Fatalf("record of %d bytes, RecordSize says %d", len(record), RecordSize(id, conv, body, timeMS))
		}
		deliver := &Deliver{Conversation: conv, Epoch: epoch, Seq: seq, Sender: id, ClientMsgId: conv, Body: body, TimeMs: timeMS}
		enc := AppendDeliver(nil, conv, epoch, seq, record)
		sameEncoding(t, "deliver", enc, &Frame{Deliver: deliver})
		if fromRecord, err := NewDeliver(conv, epoch, seq, record); err != nil || !proto.Equal(fromRecord, deliver) {
			t.Fatalf("NewDeliver: %v, %v", fromRecord, err)
		}
		if got, want := AppendDeliverMessage([]byte("x"), conv, epoch, seq, record), AppendMessage([]byte("x"), ws.OpBinary, enc); !bytes.Equal(got, want) {
			t.Fatalf("deliver message %x, want %x", got, want)
		}
		sameEncoding(t, "send", AppendSend(nil, ref, conv, id, []byte(body)),
			&Frame{Send: &Send{Ref: ref, To: conv, ClientMsgId: id, Body: body}})
		sameEncoding(t, "ack", AppendAck(nil, ref, conv, epoch, seq),
			&Frame{Ack: &Ack{Ref: ref, Conversation: conv, Epoch: epoch, UpTo: seq}})
		sameEncoding(t, "send_result", AppendSendResult(nil, &SendResultView{
			Ref: ref, ClientMsgID: []byte(id), Conversation: []byte(conv), Epoch: epoch, Seq: seq, Duplicate: a, Offline: b,
		}), &Frame{SendResult: &SendResult{Ref: ref, ClientMsgId: id, Conversation: conv, Epoch: epoch, Seq: seq, Duplicate: a, Offline: b}})

		page := &Page{Ref: ref, Conversation: conv, Epoch: epoch, After: seq, UpTo: ref, More: a, Truncated: b, Head: epoch, Sender: id}
		seqs, records := make([]uint64, flags%5), make([][]byte, flags%5)
		for i := range seqs {
			seqs[i], records[i] = seq+uint64(i), record
		}
		enc = AppendPage(nil, page, seqs, records)
		for _, s := range seqs {
			page.Messages = append(page.Messages, &Deliver{Seq: s, Sender: id, ClientMsgId: conv, Body: body, TimeMs: timeMS})
		}
		sameEncoding(t, "page", enc, &Frame{Page: page})

		bare := proto.CloneOf(page)
		bare.Messages = nil
		sync := &Sync{Ref: ref, Epoch: epoch, More: a}
		enc = AppendSync(nil, sync, []PageRecords{{Page: bare, Seqs: seqs, Records: records}, {Page: &Page{}}})
		sync.Pages = []*Page{page, {}}
		sameEncoding(t, "sync", enc, &Frame{Sync: sync})
	})
}

func TestAppendersKeepWhatIsBefore(t *testing.T) {
	record := AppendRecord(nil, "bob", "x", "hello", 1)
	for name, got := range map[string][]byte{
		"record":      AppendRecord([]byte("before"), "bob", "x", "hello", 1),
		"deliver":     AppendDeliver([]byte("before"), "g:7", 1, 2, record),
		"send":        AppendSend([]byte("before"), 1, "g:7", "x", []byte("hello")),
		"ack":         AppendAck([]byte("before"), 1, "g:7", 1, 2),
		"send_result": AppendSendResult([]byte("before"), &SendResultView{Ref: 1}),
		"page":        AppendPage([]byte("before"), &Page{Ref: 1}, []uint64{1}, [][]byte{record}),
		"sync":        AppendSync([]byte("before"), &Sync{Ref: 1}, []PageRecords{{Page: &Page{}}}),
		"message":     AppendMessage([]byte("before"), ws.OpText, record),
		"masked":      AppendMasked([]byte("before"), ws.OpText, record, 7),
		"close":       AppendClose([]byte("before"), 1000, "bye", false),
	} {
		if !bytes.HasPrefix(got, []byte("before")) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestAppendPageWantsASeqForEachRecord(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("one seq for two records was accepted")
		}
	}()
	AppendPage(nil, &Page{}, []uint64{1}, make([][]byte, 2))
}

func TestNewDeliverRefusesACorruptRecord(t *testing.T) {
	if d, err := NewDeliver("g:7", 1, 2, []byte{0x22, 9, 'x'}); err == nil {
		t.Errorf("got %v", d)
	}
}
