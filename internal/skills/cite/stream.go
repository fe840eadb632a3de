package cite

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Stream checks an answer while it is written, part by part. A part is a sentence with
// the marks that follow it, or a whole table or block of code. It is checked as soon as
// the first character behind it shows that it has ended. Each part is checked once, so
// the cost grows as the length of the answer does. How the answer is cut into pieces has
// no influence.
type Stream struct {
	sources []state.Source
	options Options
	checker *checker // nil until the first part: the language may be detected from it

	pending []byte // not yet a part
	seen    int    // bytes of pending that were looked at
	looks   int    // beginnings of words that may show where a part ends
	undone  bool   // a mark may follow: each character is looked at
	next    int    // length of pending from which it is worth another look
}

// Part is a part of an answer with its report.
type Part struct {
	Text   string
	Gap    string // white space behind it
	Report Report
}

// NewStream returns a stream that checks one answer.
func NewStream(sources []state.Source, o Options) *Stream {
	return &Stream{sources: sources, options: o}
}

// Write returns the parts that have ended with the next piece of the answer.
func (s *Stream) Write(piece string) (parts []Part) {
	s.pending = append(s.pending, piece...)
	for s.seen < len(s.pending) && utf8.FullRune(s.pending[s.seen:]) {
		r, n := utf8.DecodeRune(s.pending[s.seen:])
		before, _ := utf8.DecodeLastRune(s.pending[:s.seen])
		s.seen += n
		begins := !unicode.IsSpace(r) && (unicode.IsSpace(before) || before >= utf8.RuneSelf)
		if (begins && s.looks > 0 || s.undone) && s.seen >= s.next {
			s.looks--
			parts = append(parts, s.cut()...)
		}
		switch {
		case r == '\n':
			s.looks = 2 // the second word shows whether the first is the mark of a list item
		case strings.ContainsRune(stops, r):
			s.looks = max(s.looks, 1)
		}
	}
	return parts
}

// stops are the characters that may end a sentence.
const stops = ".?!…。！？।؟"

// Close returns the parts of what is left.
func (s *Stream) Close() (parts []Part) {
	for {
		end, _ := partEnd(string(s.pending), true)
		if end == 0 {
			return parts
		}
		parts = append(parts, s.take(end))
	}
}

// Continue replaces what was written and is not yet a part.
func (s *Stream) Continue(rest string) { s.pending, s.seen = []byte(rest), len(rest) }

// slowly is the length of an unfinished part above which it is looked at only each time
// that it has grown by half.
const slowly = 4 << 10

// cut takes the parts that have ended before the last character that was looked at.
func (s *Stream) cut() (parts []Part) {
	for {
		end, undone := partEnd(string(s.pending[:s.seen]), false)
		if s.undone = undone; end == 0 {
			break
		}
		parts = append(parts, s.take(end))
	}
	if s.next = 0; s.seen > slowly {
		s.next = s.seen + s.seen/2
	}
	return parts
}

// take removes the first bytes of what is pending and checks them.
func (s *Stream) take(end int) Part {
	said := strings.TrimLeftFunc(string(s.pending[:end]), unicode.IsSpace)
	rest := bytes.TrimLeftFunc(s.pending[end:], unicode.IsSpace)
	gap := string(s.pending[end : len(s.pending)-len(rest)])
	s.pending, s.seen, s.next = rest, max(0, s.seen-end-len(gap)), 0
	if s.checker == nil {
		if s.options.Language == "" {
			s.options.Language = text.Language(Strip(said))
		}
		s.checker = newChecker(s.sources, s.options)
	}
	return Part{Text: said, Gap: gap, Report: s.checker.check(said)}
}

// partEnd returns the end of the first part of an answer; 0 if none has ended. last says
// that nothing follows. undone says that the next characters may be a mark of it.
func partEnd(answer string, last bool) (end int, undone bool) {
	spans := text.Sentences(answer)
	if len(spans) == 0 {
		return 0, false
	}
	i := 0
	for isRow(answer[spans[i].Start:spans[i].End]) && i+1 < len(spans) && isRow(answer[spans[i+1].Start:spans[i+1].End]) &&
		!strings.Contains(answer[spans[i].End:spans[i+1].Start], "\n\n") {
		i++
	}
	for end = spans[i].End; i+1 < len(spans); i++ {
		span := spans[i+1]
		at := span.Start
		for _, m := range find(answer[at:span.End]) {
			if !isGap(answer[at : span.Start+m.start]) {
				break
			}
			at = span.Start + m.end
		}
		rest := strings.Trim(answer[at:span.End], " \t.,;")
		open := rest == "" || rest[0] == '[' && len(rest) < maxMark && !strings.Contains(rest, "]")
		if open && !last && i+2 == len(spans) {
			return 0, true
		}
		if at == span.Start || rest != "" && strings.Contains(answer[end:span.Start], "\n") {
			return end, false
		}
		if end = at; rest != "" {
			return end, false
		}
		end = span.End
	}
	if !last {
		return 0, false
	}
	return end, false
}

// maxMark is the length of a mark that is waited for.
const maxMark = 64
