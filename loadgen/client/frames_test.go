package client

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"

	"ackmark/refserver/wire"
)

// pieces is a connection that hands bytes over in pieces of any size.
type pieces struct {
	stream
	rng   *rand.Rand
	in    []byte
	wrote []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.in) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.in[:min(len(p.in), 1+p.rng.IntN(3000))])
	p.in = p.in[n:]
	return n, nil
}

func (p *pieces) Write(b []byte) (int, error) { p.wrote = append(p.wrote, b...); return len(b), nil }

// bodies notes the seq and the length of what is delivered.
type bodies struct {
	link
	got []int
}

func (b *bodies) OnDelivery(_ time.Duration, m *Delivery) {
	b.got = append(b.got, int(m.Seq), len(m.Body))
}

// serveBytes has a session read a stream to its end.
func serveBytes(seed uint64, in []byte, limit int) (got []int, pongs int, err error) {
	conn := &pieces{rng: rand.New(rand.NewPCG(seed, 2)), in: in}
	h := &bodies{}
	w := &WebSocket{Clock: func() time.Duration { return time.Second }, MaxMessage: limit}
	s := w.session(conn, new(counter), h)
	err = s.Serve()
	out := wire.NewReader(bytes.NewReader(conn.wrote), 512, 1<<20, true)
	for {
		op, _, err := out.Next()
		if err != nil {
			break
		}
		if op == ws.OpPong {
			pongs++
		}
	}
	return h.got, pongs, err
}

// fragmented cuts a message in two, with a ping between the parts.
func fragmented(b, payload []byte) []byte {
	half := len(payload) / 2
	for i, part := range [][]byte{payload[:half], payload[half:]} {
		f := ws.NewFrame(ws.OpBinary, i == 1, part)
		if i == 1 {
			f.Header.OpCode = ws.OpContinuation
			b = append(b, ws.CompiledPing...)
		}
		var w bytes.Buffer
		_ = ws.WriteFrame(&w, f) // a buffer takes everything
		b = append(b, w.Bytes()...)
	}
	return b
}

// TestFramesOfAnyForm: deliveries of all sizes, whole and fragmented, with pings
// before, between and inside of them, arrive complete and in order however the
// bytes come.
func TestFramesOfAnyForm(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var in []byte
		var want []int
		pings := 0
		for seq := 1; seq <= 60; seq++ {
			size := []int{1, 100, 200, 600, 5_000, 70_000}[min(rng.IntN(12), 5)*rng.IntN(2)]
			payload := delivered("g:storm", 1, uint64(seq), "u500", "r1.0.1", strings.Repeat("x", size), 1)
			switch rng.IntN(6) {
			case 0:
				in = append(in, ws.CompiledPing...)
				pings++
				fallthrough
			default:
				in = wire.AppendMessage(in, ws.OpBinary, payload)
			case 1:
				in = fragmented(in, payload)
				pings++
			}
			want = append(want, seq, size)
		}
		got, pongs, err := serveBytes(seed, in, 0)
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) || pongs != pings {
			t.Fatalf("seed %d: %d of %d deliveries, %d pongs for %d pings, %v", seed, len(got)/2, len(want)/2, pongs, pings, err)
		}
		if _, _, err := serveBytes(seed, in[:len(in)-1], 0); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("seed %d: cut short, it ends with %v", seed, err)
		}
	}
}

// TestFramesThatAreRefused holds the reader of usual frames to what the general
// one refuses.
func TestFramesThatAreRefused(t *testing.T) {
	one := wire.AppendMessage(nil, ws.OpBinary, delivered("g:storm", 1, 1, "u", "i", strings.Repeat("x", 300), 1))
	for name, in := range map[string][]byte{
		"masked":           {0x82, 0x81, 1, 2, 3, 4, 5},
		"text":             {0x81, 1, 'a'},
		"reserved bits":    {0xc2, 1, 0},
		"reserved opcode":  {0x83, 0},
		"stray continued":  {0x80, 0},
		"too large":        {0x82, 126, 0xff, 0xff},
		"huge":             {0x82, 127, 0x7f, 0, 0, 0, 0, 0, 0, 0},
		"length below 0":   {0x82, 127, 0xff, 0, 0, 0, 0, 0, 0, 0},
		"not a frame":      {0x82, 1, 0xff},
		"server closes":    {0x88, 2, 0x03, 0xe8},
		"close cut off":    {0x88, 1, 0x03},
		"fragmented ping":  {0x09, 0},
		"new in fragments": {0x02, 1, 0, 0x82, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, _, err := serveBytes(1, append(slices.Clone(one), in...), 1000)
			if len(got) != 2 || err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d deliveries, then %v", len(got)/2, err)
			}
		})
	}
}
