package wire

import "google.golang.org/protobuf/encoding/protowire"

const pageMessages = 6

// PageView is a Page decoded in place; its messages are decoded one by one by
// Messages.
type PageView struct {
	Ref             uint64
	Conversation    []byte
	Epoch           uint64
	After, UpTo     uint64
	More, Truncated bool
	Head            uint64
	Count           int // messages in the page

	raw  []byte
	page *Page // instead of raw, when it came by View.SetFrame
}

// Decode reads a Page. A malformed message inside it is reported by Messages.
// Errors are *Fault, bad_request.
func (p *PageView) Decode(b []byte) error {
	*p = PageView{raw: b}
	f := fields{in: "page", b: b}
	for f.next() {
		switch f.num {
		case 1:
			p.Ref = f.uint("ref")
		case 2:
			p.Conversation = f.str("conversation")
		case 3:
			p.Epoch = f.uint("epoch")
		case 4:
			p.After = f.uint("after")
		case 5:
			p.UpTo = f.uint("up_to")
		case pageMessages:
			f.bytes("messages")
			p.Count++
		case 7:
			p.More = f.bool("more")
		case 8:
			p.Truncated = f.bool("truncated")
		case 9:
			p.Head = f.uint("head")
		default:
			f.skip()
		}
	}
	return f.err
}

// Messages calls yield with each message in the page's order. The view given
// to yield is reused. An error of yield, or a malformed message, ends it.
func (p *PageView) Messages(yield func(*DeliverView) error) error {
	var d DeliverView
	if p.page != nil {
		for _, m := range p.page.Messages {
			d.set(m)
			if err := yield(&d); err != nil {
				return err
			}
		}
		return nil
	}
	f := fields{in: "page", b: p.raw}
	for f.next() {
		if f.num != pageMessages {
			f.skip()
			continue
		}
		b := f.bytes("messages")
		if f.err != nil {
			break
		}
		if err := d.Decode(b); err != nil {
			return err
		}
		if err := yield(&d); err != nil {
			return err
		}
	}
	return f.err
}

// AppendPage appends Frame{page: p} with the given messages instead of
// p.Messages: records[i] as the log stores it, under seqs[i], copied instead
// of encoded again. It panics when the two differ in length.
func AppendPage(dst []byte, p *Page, seqs []uint64, records [][]byte) []byte {
	if len(seqs) != len(records) {
		panic("wire: AppendPage: one seq for each record")
	}
	head := sizeUint(p.Ref) + sizeString(len(p.Conversation)) + sizeUint(p.Epoch) + sizeUint(p.After) + sizeUint(p.UpTo)
	tail := sizeBool(p.More) + sizeBool(p.Truncated) + sizeUint(p.Head)
	size := head + tail
	for i, r := range records {
		size += 1 + protowire.SizeBytes(sizeUint(seqs[i])+len(r))
	}
	dst = appendFrameHead(dst, FramePage, size)
	dst = appendUint(dst, 1, p.Ref)
	dst = appendString(dst, 2, p.Conversation)
	dst = appendUint(dst, 3, p.Epoch)
	dst = appendUint(dst, 4, p.After)
	dst = appendUint(dst, 5, p.UpTo)
	for i, r := range records {
		dst = append(dst, pageMessages<<3|byte(protowire.BytesType))
		dst = protowire.AppendVarint(dst, uint64(sizeUint(seqs[i])+len(r)))
		dst = appendUint(dst, deliverSeq, seqs[i])
		dst = append(dst, r...)
	}
	dst = appendBool(dst, 7, p.More)
	dst = appendBool(dst, 8, p.Truncated)
	return appendUint(dst, 9, p.Head)
}
