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
	Sender          []byte // the only one whose messages the page is about; empty: all
	Count           int    // messages in the page

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
		case 10:
			p.Sender = f.str("sender")
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
	if p.raw == nil {
		for _, m := range p.page.GetMessages() {
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

// PageRecords is a page about to be encoded: Records instead of Page.Messages,
// each as the log stores it, under its seq.
type PageRecords struct {
	Page    *Page
	Seqs    []uint64
	Records [][]byte
}

// AppendPage appends Frame{page: p} with the given messages instead of
// p.Messages: records[i] as the log stores it, under seqs[i], copied instead
// of encoded again. It panics when the two differ in length.
func AppendPage(dst []byte, p *Page, seqs []uint64, records [][]byte) []byte {
	r := PageRecords{p, seqs, records}
	return r.append(appendFrameHead(dst, FramePage, r.size()))
}

func (r *PageRecords) size() int {
	if len(r.Seqs) != len(r.Records) {
		panic("wire: a page has one seq for each record")
	}
	p := r.Page
	size := sizeUint(p.Ref) + sizeString(len(p.Conversation)) + sizeUint(p.Epoch) + sizeUint(p.After) + sizeUint(p.UpTo) +
		sizeBool(p.More) + sizeBool(p.Truncated) + sizeUint(p.Head) + sizeString(len(p.Sender))
	for i, record := range r.Records {
		size += 1 + protowire.SizeBytes(sizeUint(r.Seqs[i])+len(record))
	}
	return size
}

func (r *PageRecords) append(dst []byte) []byte {
	p := r.Page
	dst = appendUint(dst, 1, p.Ref)
	dst = appendString(dst, 2, p.Conversation)
	dst = appendUint(dst, 3, p.Epoch)
	dst = appendUint(dst, 4, p.After)
	dst = appendUint(dst, 5, p.UpTo)
	for i, record := range r.Records {
		dst = append(dst, pageMessages<<3|byte(protowire.BytesType))
		dst = protowire.AppendVarint(dst, uint64(sizeUint(r.Seqs[i])+len(record)))
		dst = appendUint(dst, deliverSeq, r.Seqs[i])
		dst = append(dst, record...)
	}
	dst = appendBool(dst, 7, p.More)
	dst = appendBool(dst, 8, p.Truncated)
	dst = appendUint(dst, 9, p.Head)
	return appendString(dst, 10, p.Sender)
}
