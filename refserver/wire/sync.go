package wire

import "google.golang.org/protobuf/encoding/protowire"

const syncPages = 3

// SyncView is a Sync decoded in place; its pages are decoded one by one by
// Pages.
type SyncView struct {
	Ref, Epoch uint64
	More       bool
	Count      int // pages in the answer

	raw  []byte
	sync *Sync // instead of raw, when it came by View.SetFrame
}

// Decode reads a Sync. A malformed page inside it is reported by Pages. Errors
// are *Fault, bad_request.
func (s *SyncView) Decode(b []byte) error {
	*s = SyncView{raw: b}
	f := fields{in: "sync", b: b}
	for f.next() {
		switch f.num {
		case 1:
			s.Ref = f.uint("ref")
		case 2:
			s.Epoch = f.uint("epoch")
		case syncPages:
			f.bytes("pages")
			s.Count++
		case 4:
			s.More = f.bool("more")
		default:
			f.skip()
		}
	}
	return f.err
}

func (s *SyncView) set(m *Sync) {
	*s = SyncView{Ref: m.Ref, Epoch: m.Epoch, More: m.More, Count: len(m.Pages), sync: m}
}

// Pages calls yield with each page in the answer's order. The view given to
// yield is reused. An error of yield, or a malformed page, ends it.
func (s *SyncView) Pages(yield func(*PageView) error) error {
	var p PageView
	if s.sync != nil {
		for _, m := range s.sync.Pages {
			p.set(m)
			if err := yield(&p); err != nil {
				return err
			}
		}
		return nil
	}
	f := fields{in: "sync", b: s.raw}
	for f.next() {
		if f.num != syncPages {
			f.skip()
			continue
		}
		b := f.bytes("pages")
		if f.err != nil {
			break
		}
		if err := p.Decode(b); err != nil {
			return err
		}
		if err := yield(&p); err != nil {
			return err
		}
	}
	return f.err
}

// AppendSync appends Frame{sync: s} with the given pages instead of s.Pages,
// each as AppendPage encodes it. It panics where a page hasn't one seq for each
// record.
func AppendSync(dst []byte, s *Sync, pages []PageRecords) []byte {
	size := sizeUint(s.Ref) + sizeUint(s.Epoch) + sizeBool(s.More)
	for i := range pages {
		size += 1 + protowire.SizeBytes(pages[i].size())
	}
	dst = protowire.AppendTag(dst, protowire.Number(FrameSync), protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	dst = appendUint(dst, 1, s.Ref)
	dst = appendUint(dst, 2, s.Epoch)
	for i := range pages {
		dst = append(dst, syncPages<<3|byte(protowire.BytesType))
		dst = protowire.AppendVarint(dst, uint64(pages[i].size()))
		dst = pages[i].append(dst)
	}
	return appendBool(dst, 4, s.More)
}
