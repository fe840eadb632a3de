package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// run is one pass of an analyzer over a text.
type run struct {
	a   *analyzer
	c   *cache[string]
	s   string
	out []Token
	pos int
	buf []Span // parts of the compound under way
	raw []byte // its whole form under way
}

// all makes the terms of the text.
func (r *run) all() {
	for at := 0; at < len(r.s); {
		start, end := spacelessRun(r.s, at)
		r.words(at, start)
		r.spaceless(start, end)
		at = end
	}
}

// compound adds the tokens of s[start:end], which is a word or several words
// joined by - . _ : and the like.
func (r *run) compound(start, end int) {
	for start < end { // a colon joins for UAX #29, but host:port and image:tag are two names
		i := strings.IndexByte(r.s[start:end], ':')
		if i < 0 {
			break
		}
		r.name(start, start+i)
		start += i + 1
	}
	r.name(start, end)
}

// name adds a name: its whole form where it has several parts, then its parts.
func (r *run) name(start, end int) {
	if start >= end {
		return
	}
	r.buf = appendParts(r.buf[:0], r.s, start, end)
	parts := r.buf
	if len(parts) == 0 {
		return
	}
	if isVersion(r.s, parts) {
		parts[0].Start++ // v1.2 is 1.2
	}
	flag := r.flag(parts[0].Start)
	if flag < parts[0].Start {
		r.emit(strings.ToLower(r.s[flag:end]), flag, end)
	}
	if len(parts) == 1 {
		r.sharp(parts[0])
		r.part(parts[0])
		return
	}
	if r.whole(parts) && grouped(r.s, parts) {
		r.pos++
		return // 24,000 is one number, its digits are not three
	}
	for _, p := range parts {
		r.part(p)
	}
}

func (r *run) part(p Span) {
	if s := r.s[p.Start:p.End]; digits(s) { // no language has another term for a number
		r.emit(s, p.Start, p.End)
		r.pos++
		return
	}
	if t := r.a.lookup(r.c, r.s[p.Start:p.End]); t != "" {
		r.emit(t, p.Start, p.End)
	}
	r.pos++
}

func (r *run) emit(term string, start, end int) {
	r.out = append(r.out, Token{Term: clip(term), Start: start, End: end, Pos: r.pos})
}

// flag returns where an option such as --mount or -a begins, given where its
// name does; the same place where there is no option. An option is its own
// term besides its words: -a is not the article, --mount not any mount.
func (r *run) flag(start int) int {
	i := start
	for i > 0 && start-i < 2 && r.s[i-1] == '-' {
		i--
	}
	if i == start || unicode.IsDigit(rune(r.s[start])) {
		return start
	}
	if i > 0 && !strings.ContainsRune(" \t\n\r`'\"([|,/", rune(r.s[i-1])) {
		return start
	}
	return i
}

// whole adds the term of a name with several parts, if it has one: the parts without
// their joints. Numbers keep theirs, or 2.851 and 28.51 would be one; the v of
// a version is dropped.
func (r *run) whole(parts []Span) bool {
	start, end := parts[0].Start, parts[len(parts)-1].End
	if end-start > maxTerm {
		return false
	}
	joints := !grouped(r.s, parts)
	for _, p := range parts {
		joints = joints && digits(r.s[p.Start:p.End])
	}
	if joints {
		r.emit(strings.ToValidUTF8(r.s[start:end], ""), start, end)
		return true
	}
	b := r.raw[:0]
	for _, p := range parts {
		b = append(b, r.s[p.Start:p.End]...)
	}
	r.raw = b
	term, known := r.c.newer[string(b)] // no allocation for a name seen before
	if !known {
		term = r.a.lookup(r.c, string(b))
	}
	if term != "" {
		r.emit(term, start, end)
	}
	return term != ""
}

// sharp adds C++, C# and F#, whose marks UAX #29 takes for punctuation.
func (r *run) sharp(p Span) {
	if p.End-p.Start != 1 {
		return
	}
	for _, mark := range []string{"++", "#"} {
		if strings.HasPrefix(r.s[p.End:], mark) && !startsWord(r.s[p.End+len(mark):]) {
			r.emit(strings.ToLower(r.s[p.Start:p.End+len(mark)]), p.Start, p.End+len(mark))
		}
	}
}

// isVersion reports whether parts are those of v1.2 or v1.2.3-rc1.
func isVersion(s string, parts []Span) bool {
	if len(parts) < 2 || s[parts[0].Start] != 'v' && s[parts[0].Start] != 'V' {
		return false
	}
	return digits(s[parts[0].Start+1:parts[0].End]) && s[parts[0].End] == '.' && digits(s[parts[1].Start:parts[1].End])
}

// grouped reports whether parts are one number whose digits stand in groups of
// three with commas.
func grouped(s string, parts []Span) bool {
	if len(parts) < 2 || parts[0].End-parts[0].Start > 3 || !digits(s[parts[0].Start:parts[0].End]) {
		return false
	}
	for i, p := range parts[1:] {
		if p.End-p.Start != 3 || !digits(s[p.Start:p.End]) || s[parts[i].End:p.Start] != "," {
			return false
		}
	}
	return true
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// appendParts splits s[start:end] at everything that is neither letter, digit,
// mark nor apostrophe, and where camel case begins a new word.
func appendParts(dst []Span, s string, start, end int) []Span {
	from := -1 // of the part under way
	for i := start; i < end; {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:end])
		}
		switch {
		case isPartRune(r, n) && (!isApostrophe(r) || from >= 0 && startsWord(s[i+n:end])):
			if from >= 0 && humps(s, from, i, end) {
				dst = append(dst, Span{from, i})
				from = i
			}
			if from < 0 {
				from = i
			}
		case from >= 0:
			dst = append(dst, Span{from, i})
			from = -1
		}
		i += n
	}
	if from >= 0 {
		dst = append(dst, Span{from, end})
	}
	return dst
}

func isPartRune(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return isAlnum(byte(r)) || r == '\''
	}
	if r == utf8.RuneError && size == 1 {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || isApostrophe(r) || unicode.Is(unicode.Cf, r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == '‘' || r == '‛' }

// humps reports whether camel case begins a new word at s[i], inside the part
// that began at from: fooBar before B, HTTPServer before S. The plural of an
// acronym (URLs), a single small letter in front (iOS, gRPC) and a digit in
// between (IPv6) begin none. Only ASCII letters hump.
func humps(s string, from, i, end int) bool {
	if !isUpper(s[i]) || i-from < 2 {
		return false
	}
	prev := s[i-1]
	if isLower(prev) {
		return true
	}
	return isUpper(prev) && i+2 < end && isLower(s[i+1]) && isLower(s[i+2])
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
