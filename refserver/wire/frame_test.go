package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

func TestFrameKindsFollowTheSchema(t *testing.T) {
	fields := (&Frame{}).ProtoReflect().Descriptor().Fields()
	if fields.Len() != int(FrameSync) || len(frameNames) != fields.Len()+1 {
		t.Fatalf("the schema has %d kinds, the constants %d, the names %d", fields.Len(), FrameSync, len(frameNames)-1)
	}
	all := samples()
	for i := range fields.Len() {
		d := fields.Get(i)
		kind := FrameKind(d.Number())
		if kind.String() != string(d.Name()) {
			t.Errorf("%d is %q, the schema says %q", kind, kind, d.Name())
		}
		if got, err := all[i].Kind(); err != nil || got != kind {
			t.Errorf("a frame with %s set is of kind %s (%v)", d.Name(), got, err)
		}
	}
	for k, want := range map[FrameKind]string{0: "kind 0", 21: "kind 21", 255: "kind 255"} {
		if k.String() != want {
			t.Errorf("%d is %q", k, k)
		}
	}
}

func TestEveryKindRoundTrips(t *testing.T) {
	var v View // reused: nothing of one frame may show in the next
	for _, want := range samples() {
		kind, _ := want.Kind()
		t.Run(kind.String(), func(t *testing.T) {
			b, err := AppendFrame([]byte("before"), want)
			if err != nil || !bytes.HasPrefix(b, []byte("before")) {
				t.Fatalf("%q, %v", b, err)
			}
			b = b[len("before"):]
			differ(t, &v, b)
			if v.Kind != kind {
				t.Errorf("kind %s", v.Kind)
			}

			// The same through JSON and SetFrame.
			j, err := EncodeJSON(want)
			if err != nil {
				t.Fatal(err)
			}
			var back Frame
			if err := DecodeJSON(j, &back); err != nil {
				t.Fatalf("%s: %v", j, err)
			}
			equalFrames(t, &back, want)
			if err := v.SetFrame(&back); err != nil || v.Kind != kind {
				t.Fatalf("SetFrame: %s, %v", v.Kind, err)
			}
			got, err := viewed(&v)
			if err != nil {
				t.Fatal(err)
			}
			equalFrames(t, got, want)
			if got, err := v.Frame(); err != nil || got != &back {
				t.Fatalf("Frame(): %v, %v", got, err)
			}
		})
	}
}

func TestNotExactlyOneField(t *testing.T) {
	ack, _ := proto.Marshal(&Frame{Ack: &Ack{UpTo: 1}})
	open, _ := proto.Marshal(&Frame{Open: &Open{Ref: 1}})
	unknown := framed(200, []byte("later"))
	for _, tc := range []struct {
		name    string
		payload []byte
		want    string // part of the error, "" for none
	}{
		{"nothing", nil, "no known field"},
		{"only unknown", unknown, "no known field"},
		{"two kinds", append(append([]byte{}, ack...), open...), "2 fields"},
		{"one kind twice", append(append([]byte{}, ack...), ack...), "2 fields"},
		{"one and unknown", append(append([]byte{}, unknown...), ack...), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v View
			err := v.Decode(tc.payload)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			wantCode(t, err, CodeBadRequest)
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	for _, f := range []*Frame{nil, {}, {Ack: &Ack{}, Open: &Open{}}} {
		var v View
		wantCode(t, v.SetFrame(f), CodeBadRequest)
		if _, err := AppendFrame(nil, f); err == nil {
			t.Errorf("%v was encoded", f)
		}
	}
}

func TestAppendFrameRefusesBadUTF8(t *testing.T) {
	if b, err := AppendFrame([]byte("x"), &Frame{Send: &Send{Body: "\xff"}}); err == nil || string(b) != "x" {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestMalformed(t *testing.T) {
	body := func(b ...byte) []byte { return b }
	for _, tc := range []struct {
		name    string
		payload []byte
		want    string
	}{
		{"truncated tag", body(0x80), "frame.tag: it ends too early"},
		{"field number 0", body(0x02, 0), "frame.tag: invalid field number"},
		{"field number too large", protowire.AppendVarint(nil, (1<<29)<<3|2), "out of range"},
		{"length beyond the end", body(0x2a, 5, 1), "frame.deliver: it ends too early"},
		{"length of 11 bytes", append(body(0x2a), bytes.Repeat([]byte{0xff}, 11)...), "frame.deliver: variable length integer overflow"},
		{"wrong wire type at the top", body(0x28, 1), "frame.deliver: wire type is varint, want length-delimited"},
		{"wrong wire type of a cold kind", body(0x38, 1), "frame.ack_result: wire type is varint"},
		{"end group", body(0x2c), "frame.deliver: wire type is group"},
		{"unknown group without an end", body(0xab, 0x01), "frame: unknown field 21: it ends too early"},
		{"reserved wire type", body(0xae, 0x01), "unknown field 21: cannot parse reserved wire type"},
		{"truncated seq", framed(5, body(0x18, 0x80)), "deliver.seq: it ends too early"},
		{"overlong seq", framed(5, append(body(0x18), bytes.Repeat([]byte{0x80}, 10)...)), "deliver.seq: variable length integer overflow"},
		{"seq as fixed64", framed(5, body(0x19, 1, 2, 3, 4, 5, 6, 7, 8)), "deliver.seq: wire type is fixed64, want varint"},
		{"body as varint", framed(5, body(0x30, 1)), "deliver.body: wire type is varint, want length-delimited"},
		{"body not UTF-8", framed(5, body(0x32, 1, 0xff)), "deliver.body: not valid UTF-8"},
		{"ids as fixed32", framed(6, body(0x2d, 1, 2, 3, 4)), "ack.ids: wire type is fixed32"},
		{"ids packed, truncated", framed(6, body(0x2a, 1, 0x80)), "ack.ids: it ends too early"},
		{"to not UTF-8", framed(3, body(0x12, 1, 0xc0)), "send.to: not valid UTF-8"},
		{"offline as bytes", framed(4, body(0x3a, 0)), "send_result.offline: wire type is length-delimited, want varint"},
		{"wrong wire type inside a cold kind", framed(8, body(0x20, 1, 0x22, 0)), "PageRequest.after: wire type is length-delimited"},
		{"wrong wire type in a list of a cold kind", framed(1, framed(1, body(0x12, 0))), "Resume.epoch: wire type is length-delimited"},
		{"truncated cold kind", framed(8, body(0x20)), "frame: "},
		{"page.head as bytes", framed(9, body(0x4a, 0)), "page.head: wire type"},
		{"page.messages as varint", framed(9, body(0x30, 0)), "page.messages: wire type"},
		{"page.sender as varint", framed(9, body(0x50, 0)), "page.sender: wire type"},
		{"sync.pages as varint", framed(20, body(0x18, 0)), "sync.pages: wire type"},
		{"sync as varint", body(0xa0, 0x01, 0), "frame.sync: wire type is varint"},
		{"sync_request.after as varint", framed(19, body(0x10, 0)), "SyncRequest.after: wire type"},
		{"page_request.ids as fixed32", framed(8, body(0x5d, 1, 2, 3, 4)), "PageRequest.ids: wire type"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var v View
			err := v.Decode(tc.payload)
			wantCode(t, err, CodeBadRequest)
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%q has no %q", err, tc.want)
			}
			differ(t, &v, tc.payload)
		})
	}
}

func TestPageMessages(t *testing.T) {
	b, _ := proto.Marshal(&Page{Messages: []*Deliver{{Seq: 1}, {Seq: 2}}})
	bad := append(append([]byte{}, b...), 0x32, 2, 0x18, 0x80) // a third message, its seq truncated
	var p PageView
	if err := p.Decode(bad); err != nil || p.Count != 3 {
		t.Fatalf("count %d, %v", p.Count, err)
	}
	var seqs []uint64
	collect := func(d *DeliverView) error { seqs = append(seqs, d.Seq); return nil }
	wantCode(t, p.Messages(collect), CodeBadRequest)
	if len(seqs) != 2 || seqs[0] != 1 || seqs[1] != 2 {
		t.Errorf("seqs %v", seqs)
	}

	stop := Faultf(CodeInternal, "enough")
	calls := 0
	if err := p.Messages(func(*DeliverView) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	p.set(&Page{Messages: []*Deliver{{Seq: 1}, nil}})
	calls = 0
	if err := p.Messages(func(*DeliverView) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("by SetFrame: %d calls, %v", calls, err)
	}
	if err := p.Messages(func(*DeliverView) error { calls++; return nil }); err != nil || calls != 3 {
		t.Errorf("by SetFrame: %d calls, %v", calls, err)
	}
}

func TestSyncPages(t *testing.T) {
	b, _ := proto.Marshal(&Sync{Pages: []*Page{{UpTo: 1, Messages: []*Deliver{{Seq: 1}}}, {UpTo: 2}}})
	bad := append(append([]byte{}, b...), 0x1a, 2, 0x28, 0x80) // a third page, its up_to truncated
	var s SyncView
	if err := s.Decode(bad); err != nil || s.Count != 3 {
		t.Fatalf("count %d, %v", s.Count, err)
	}
	var got []string
	collect := func(p *PageView) error { got = append(got, fmt.Sprint(p.UpTo, p.Count)); return nil }
	wantCode(t, s.Pages(collect), CodeBadRequest)
	if want := []string{"1 1", "2 0"}; !slices.Equal(got, want) {
		t.Errorf("pages %v, want %v", got, want)
	}
	stop := Faultf(CodeInternal, "enough")
	calls := 0
	if err := s.Pages(func(*PageView) error { calls++; return stop }); err != stop || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	s.set(&Sync{Pages: []*Page{{UpTo: 1}, nil}})
	calls = 0
	if err := s.Pages(func(*PageView) error { calls++; return nil }); err != nil || calls != 2 || s.Count != 2 {
		t.Errorf("by SetFrame: %d calls of %d, %v", calls, s.Count, err)
	}
	if err := s.Pages(func(*PageView) error { return stop }); err != stop {
		t.Errorf("by SetFrame: %v", err)
	}
}

func TestAckLetsGoOfManyIDs(t *testing.T) {
	many, _ := proto.Marshal(&Ack{Ids: make([]uint64, 10_000)})
	few, _ := proto.Marshal(&Ack{Ids: []uint64{1}})
	var a AckView
	for _, b := range [][]byte{many, few} {
		if err := a.Decode(b); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.IDs) != 1 || cap(a.IDs) > keepIDs {
		t.Errorf("%d ids in room for %d", len(a.IDs), cap(a.IDs))
	}
}

func FuzzViewDecode(f *testing.F) {
	for _, s := range samples() {
		b, _ := proto.Marshal(s)
		f.Add(b)
	}
	f.Add([]byte{})
	f.Add(framed(21, []byte("unknown")))
	f.Add([]byte{0xab, 0x01, 0xac, 0x01})
	f.Add([]byte{0x32, 0, 0x4a, 0}) // an ack and a page
	f.Fuzz(func(t *testing.T, payload []byte) {
		var v View
		differ(t, &v, payload)
	})
}

// FuzzBodies puts arbitrary bytes where a message of a known kind is expected.
func FuzzBodies(f *testing.F) {
	for _, s := range samples() {
		kind, _ := s.Kind()
		b, _ := proto.Marshal(s)
		_, _, n := protowire.ConsumeTag(b)
		body, _ := protowire.ConsumeBytes(b[n:])
		f.Add(uint8(kind), body)
	}
	f.Add(uint8(FrameDeliver), []byte{0x0b, 0x0c, 0x30, 0x01})
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		var v View
		differ(t, &v, framed(protowire.Number(kind%uint8(FrameSync)+1), body))
	})
}
