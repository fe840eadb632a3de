package text

import (
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// words adds the terms of s[from:to], where words are parted by spaces. No word
// of UAX #29 crosses a space of ASCII, so that each field between two of them is
// looked at by itself: most are plain and need no tables. Bytes that are no UTF-8
// do not keep to that.
func (r *run) words(from, to int) {
	if !utf8.ValidString(r.s[from:to]) {
		r.segments(from, to)
		return
	}
	r.fields(from, to)
}

// fields adds the terms of the fields of s[from:to], which is UTF-8.
func (r *run) fields(from, to int) {
	for at := from; at < to; {
		if classes[r.s[at]] == spaceByte {
			at++
			continue
		}
		end := r.plain(at, to)
		if end == at {
			for end < to && classes[r.s[end]] != spaceByte {
				end++
			}
			r.segments(at, end)
		}
		at = end
	}
}

// segments adds the terms of s[from:to] as UAX #29 divides it.
func (r *run) segments(from, to int) {
	s := r.s[:to]
	it := words.FromString(s[from:])
	start, end := 0, 0 // of the compound under way
	codeEnds := 0      // end of the last code of law
	for it.Next() {
		b, e := from+it.Start(), from+it.End()
		switch {
		case isWord(s[b:e]):
			if start == end {
				start = b
				if code := legalCode(s, b); code > b && b >= codeEnds {
					r.emit(lower(s[b:code]), b, code)
					codeEnds = code
				}
			}
			end = e
			if e < len(s) && s[e] == '-' && startsWord(s[e+1:]) {
				continue // a hyphen between words joins them
			}
			r.compound(start, end)
			start, end = 0, 0
		case start < end && b == end: // the joining hyphen
			end = e
		}
	}
}

// What a byte of ASCII is to a plain field.
const (
	otherByte = iota
	lowerByte
	upperByte
	digitByte
	jointByte  // joins letters and digits: - and _
	numberByte // joins digits, and stands behind a word: . and ,
	quoteByte  // the apostrophe: joins letters, and stands around words
	openByte   // stands before a word
	closeByte  // stands behind a word
	spaceByte
)

//nolint:gochecknoglobals // a constant table
var classes = func() (of [256]byte) {
	set := func(class byte, bytes string) {
		for i := range len(bytes) {
			of[bytes[i]] = class
		}
	}
	set(lowerByte, "abcdefghijklmnopqrstuvwxyz")
	set(upperByte, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	set(digitByte, "0123456789")
	set(jointByte, "-_")
	set(numberByte, ".,")
	set(quoteByte, "'")
	set(openByte, "([{")
	set(closeByte, ")]};:!?%")
	set(spaceByte, " \t\n\r")
	of['"'] = openByte // and behind: see plain
	return of
}()

// endsWord tells which bytes may stand behind the last letter of a field.
//
//nolint:gochecknoglobals // a constant table
var endsWord = [spaceByte + 1]bool{closeByte: true, numberByte: true, quoteByte: true}

// plain adds the terms of the field of ASCII that begins at s[at], where it is
// one word, or words that hyphens join, with punctuation around, and returns its
// end. It returns at for any other field. The terms are those that segments
// adds.
func (r *run) plain(at, to int) (end int) {
	s := r.s[:to]
	first := at
	if isUpper(s[at]) {
		first++
	}
	switch end := lowerEnd(s, first); { // as most are: The, cell, cells, and cells;
	case end == at:
	case end == to || classes[s[end]] == spaceByte:
		r.part(Span{at, end})
		return end
	case endsWord[classes[s[end]]] && (end+1 == to || classes[s[end+1]] == spaceByte):
		r.part(Span{at, end})
		return end + 1
	}
	start := at
	for start < to && (classes[s[start]] == openByte || s[start] == '\'') {
		start++
	}
	i := start
	joints := false
	var uppers, lowers int // letters behind the first
scan:
	for ; i < to; i++ {
		switch class := classes[s[i]]; class {
		case lowerByte:
			if i > start {
				lowers++
			}
		case upperByte:
			if i > start {
				uppers++
			}
		case digitByte:
		case jointByte, numberByte, quoteByte:
			if i == start || i+1 == to || !joinsBytes(class, classes[s[i-1]], classes[s[i+1]]) {
				break scan
			}
			joints = true
		default:
			break scan
		}
	}
	core := i
	if core == start {
		return at
	}
	for ; i < to; i++ {
		switch classes[s[i]] {
		case closeByte, numberByte, quoteByte:
			continue
		case openByte:
			if s[i] == '"' {
				continue
			}
			return at
		case spaceByte:
		default:
			return at
		}
		break
	}
	if !joints && (uppers == 0 || lowers == 0 && classes[s[start]] != lowerByte) { // no camel case
		r.part(Span{start, core})
	} else {
		r.compound(start, core)
	}
	return i
}

// joinsBytes reports whether a byte between two others joins what they belong
// to, for UAX #29 or as a hyphen.
func joinsBytes(class, before, after byte) bool {
	switch class {
	case jointByte:
		return isWordClass(before) && isWordClass(after)
	case numberByte:
		return before == digitByte && after == digitByte
	}
	return (before == lowerByte || before == upperByte) && (after == lowerByte || after == upperByte)
}

func isWordClass(class byte) bool { return lowerByte <= class && class <= digitByte }
