package index

import (
	"encoding/binary"
	"errors"
)

// appendTerm writes a term as what it shares with the one before, and the rest.
func appendTerm(out []byte, before, term string) []byte {
	shared := 0
	for shared < len(before) && shared < len(term) && before[shared] == term[shared] {
		shared++
	}
	out = binary.AppendUvarint(out, uint64(shared))
	return appendString(out, term[shared:])
}

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// errCut tells that bytes end early or hold a number that cannot be.
var errCut = errors.New("data is cut short or damaged")

// reader reads what the functions above wrote. After the first error it gives
// zeros; look at err when done.
type reader struct {
	b   []byte
	err error
}

func (r *reader) uint() uint64 {
	if b := r.b; len(b) > 0 && b[0] < 0x80 { // most are small
		r.b = b[1:]
		return uint64(b[0])
	} else if len(b) > 1 && b[1] < 0x80 {
		r.b = b[2:]
		return uint64(b[0]&0x7f) | uint64(b[1])<<7
	}
	return r.large()
}

// large reads a number of any size.
func (r *reader) large() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

// count reads a number of things, or of bytes, that take at least one byte
// each; so damage cannot ask for much memory.
func (r *reader) count() int {
	v := r.uint()
	if v > uint64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(v) //nolint:gosec // bounded by the length of the data
}

// u32 reads a number that must fit 32 bits.
func (r *reader) u32() uint32 {
	if b := r.b; len(b) > 0 && b[0] < 0x80 {
		r.b = b[1:]
		return uint32(b[0])
	}
	return r.long()
}

// long is u32 for a number of several bytes.
func (r *reader) long() uint32 {
	v := r.uint()
	if v > 1<<32-1 {
		r.fail()
		return 0
	}
	return uint32(v)
}

func (r *reader) bytes() []byte {
	n := r.count()
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

// term reads a term into dst, which holds the one before.
func (r *reader) term(dst []byte) []byte {
	if b := r.b; len(b) >= 2 && int(b[0]) <= min(len(dst), 0x7f) && int(b[1]) <= min(len(b)-2, 0x7f) { // as most are
		end := 2 + int(b[1])
		r.b = b[end:]
		return append(dst[:b[0]], b[2:end]...)
	}
	shared := r.uint()
	if shared > uint64(len(dst)) {
		r.fail()
		return dst[:0]
	}
	return append(dst[:shared], r.bytes()...)
}

func (r *reader) fail() {
	r.b = nil
	if r.err == nil {
		r.err = errCut
	}
}
