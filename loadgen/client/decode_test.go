package client

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"ackmark/refserver/wire"
)

// delivered is a deliver frame's payload as the reference server writes it.
func delivered(conversation string, epoch, seq uint64, sender, id, body string, timeMS int64) []byte {
	b := wire.AppendDeliverMessage(nil, conversation, epoch, seq, wire.AppendRecord(nil, sender, id, body, timeMS))
	switch { // without the WebSocket header
	case b[1] < 126:
		return b[2:]
	case b[1] == 126:
		return b[4:]
	}
	return b[10:]
}

func TestDecodeDelivery(t *testing.T) {
	usual := delivered("g:storm", 1, 20_000, "u500", "r1.0.152", "hello", 1<<40)
	long := delivered("g:storm", 1<<40, 1<<50, "u500", "r1.0.152", string(bytes.Repeat([]byte("x"), 70_000)), 1<<40)
	spoiled := bytes.Replace(usual, []byte("hello"), []byte("hel\xff\xfe"), 1)
	for _, c := range []struct {
		name string
		in   []byte
		want bool
	}{
		{"usual", usual, true},
		{"large body and numbers", long, true},
		{"not UTF-8", spoiled, false},
		{"cut short", usual[:len(usual)-1], false},
		{"a second frame field", append(slices.Clone(usual), usual...), false},
		{"an empty sender isn't written", delivered("g:storm", 1, 2, "", "r1.0.152", "hello", 1), false},
		{"a name of 128 bytes", delivered("g:"+string(bytes.Repeat([]byte("n"), 126)), 1, 2, "u", "i", "b", 1), false},
		{"empty", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var m Delivery
			if got := decodeDelivery(c.in, &m, "g:storm"); got != c.want {
				t.Fatalf("decodeDelivery = %v, want %v", got, c.want)
			}
			if c.want {
				sameAsView(t, c.in, &m)
			}
		})
	}
}

// sameAsView compares with the decoder for everything.
func sameAsView(t *testing.T, payload []byte, m *Delivery) {
	t.Helper()
	var v wire.View
	if err := v.Decode(payload); err != nil || v.Kind != wire.FrameDeliver {
		t.Fatalf("taken, but the frame decodes to %v, %v", v.Kind, err)
	}
	if want := (*Delivery)(&v.Deliver); !reflect.DeepEqual(want, m) {
		t.Fatalf("decoded %+v, want %+v", m, want)
	}
}

// FuzzDecodeDelivery holds the short cut to what the decoder for everything
// makes of the same bytes.
func FuzzDecodeDelivery(f *testing.F) {
	f.Add(delivered("g:storm", 1, 20_000, "u500", "r1.0.152", "hello", 1<<40))
	f.Add(delivered("g:other", 1<<62, 1<<63, "u", "é", "", 0))
	f.Add(delivered("g:\xff", 1, 1, "u", "i", "b", 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Delivery
		if decodeDelivery(b, &m, "g:storm") {
			sameAsView(t, b, &m)
		}
	})
}
