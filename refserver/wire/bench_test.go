package wire

import (
	"strings"
	"testing"

	"github.com/gobwas/ws"
	"google.golang.org/protobuf/proto"
)

// The shape of facts.md: 200-byte bodies in a group.
func benchRecord() []byte {
	return AppendRecord(nil, "user-17", "r3.0.152", strings.Repeat("x", 200), 1765000000000)
}

func BenchmarkAppendDeliverMessage(b *testing.B) {
	record := benchRecord()
	buf := make([]byte, 0, 512)
	b.ReportAllocs()
	for b.Loop() {
		buf = AppendDeliverMessage(buf[:0], "g:7", 2, 300, record)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkViewDecode(b *testing.B) {
	record := benchRecord()
	records, seqs := make([][]byte, 100), make([]uint64, 100)
	for i := range records {
		records[i], seqs[i] = record, uint64(i+1)
	}
	for _, bc := range []struct {
		name    string
		payload []byte
	}{
		{"deliver", AppendDeliver(nil, "g:7", 2, 300, record)},
		{"ack", AppendAck(nil, 0, "g:7", 2, 300)},
		{"send", AppendSend(nil, 1, "g:7", "r3.0.152", []byte(strings.Repeat("x", 200)))},
		{"page of 100", AppendPage(nil, &Page{Conversation: "g:7"}, seqs, records)},
	} {
		b.Run(bc.name, func(b *testing.B) {
			var v View
			b.SetBytes(int64(len(bc.payload)))
			b.ReportAllocs()
			for b.Loop() {
				if err := v.Decode(bc.payload); err != nil {
					b.Fatal(err)
				}
				if v.Kind == FramePage {
					if err := v.Page.Messages(func(*DeliverView) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkGeneratedDeliver is what View.Decode is measured against.
func BenchmarkGeneratedDeliver(b *testing.B) {
	payload := AppendDeliver(nil, "g:7", 2, 300, benchRecord())
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	for b.Loop() {
		var f Frame
		if err := proto.Unmarshal(payload, &f); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReaderNext(b *testing.B) {
	ack := AppendAck(nil, 0, "g:7", 2, 300)
	for _, bc := range []struct {
		name   string
		in     []byte
		buf    int
		masked bool
	}{
		{"server, acks, 512 B", AppendMasked(nil, ws.OpBinary, ack, 0x12345678), 512, true},
		{"server, sends of 64 KiB, 512 B", AppendMasked(nil, ws.OpBinary, make([]byte, 64<<10), 0x12345678), 512, true},
		{"client, deliveries, 4 KiB", AppendDeliverMessage(nil, "g:7", 2, 300, benchRecord()), 4096, false},
	} {
		b.Run(bc.name, func(b *testing.B) {
			r := NewReader(&endless{b: bc.in}, bc.buf, 1<<20, bc.masked)
			b.SetBytes(int64(len(bc.in)))
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := r.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
