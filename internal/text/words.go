package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pass is one pass of an analyzer over a text.
type pass struct {
	a     *analyzer
	known map[string]word
	s     string
	out   []Token
	pos   int
	parts []Span // of the current name
	whole []byte // the current name without its joints
	code  int    // end of the last code of law

	words, syllables int // words and whole names, and those that are a [word.syllable]
}

// all makes the terms of the text.
func (p *pass) all() {
	for i := 0; i < len(p.s); {
		if isLetter(p.s[i]) || isDigit(p.s[i]) {
			i = p.word(i)
			continue
		}
		if p.s[i] < utf8.RuneSelf {
			i++
			continue
		}
		switch r, n := utf8.DecodeRuneInString(p.s[i:]); {
		case Spaceless(r) && !joins(r):
			i = p.spaceless(i)
		case isWordRune(r):
			i = p.word(i)
		default:
			i += n
		}
	}
}

// word adds the terms of the word or name that begins at start and returns its end. A name is
// several words joined by a hyphen, an underscore, or a point or apostrophe between letters or
// between digits.
func (p *pass) word(start int) int {
	if isDigit(p.s[start]) && start >= p.code {
		if end := legalCode(p.s, start); end > start {
			p.emit(word{term: Fold(lower(p.s[start:end]))}, start, end) // in lower case and without diacritics, as people type it
			p.code = end
		}
	}
	simple := true // one word without camel case
	end := start
	for i, before := start, rune(0); i < len(p.s); {
		r, n := rune(p.s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(p.s[i:])
		}
		switch {
		case r < utf8.RuneSelf && isLower(byte(r)): // most runes
			i++
			end, before = i, r
			continue
		case isPartRune(r, n) && !isApostrophe(r) && !Spaceless(r):
			simple = simple && (i == start || r >= utf8.RuneSelf || !isUpper(byte(r)))
			i += n
			end, before = i, r
			continue
		case r == '-' && unicode.IsLetter(before) && lineBreak(p.s[i+n:]) > 0: // a word hyphenated at a line end
			simple = false
			i += n + lineBreak(p.s[i+n:])
			continue
		case isJoint(before, r, p.s[i+n:]):
			simple = false
			i += n
			continue
		}
		break
	}
	p.name(start, end, simple)
	return end
}

// lineBreak returns the length of a line end and the blanks around it if a lower-case letter
// follows, else 0.
func lineBreak(s string) int {
	rest := strings.TrimLeft(s, " \t\r\n")
	n := len(s) - len(rest)
	if r, _ := utf8.DecodeRuneInString(rest); n == 0 || strings.Count(s[:n], "\n") != 1 || !unicode.IsLower(r) {
		return 0
	}
	return n
}

// isJoint reports whether r joins the text before and after it to one name.
func isJoint(before, r rune, rest string) bool {
	if r == ' ' {
		return false
	}
	after, _ := utf8.DecodeRuneInString(rest)
	if Spaceless(after) {
		return false
	}
	switch r {
	case '_':
		return after == '_' || isWordRune(after)
	case '-':
		return before != '-' && isWordRune(after)
	case '.', '\'', '’', '‘', '‛', '·':
		return isWordRune(after) && unicode.IsDigit(before) == unicode.IsDigit(after)
	case ',':
		return unicode.IsDigit(before) && unicode.IsDigit(after)
	}
	return false
}

// name adds a name: its whole form if it has several parts, then its parts.
func (p *pass) name(start, end int, simple bool) {
	if p.parts = p.parts[:0]; simple {
		p.parts = append(p.parts, Span{start, end})
	} else {
		p.parts = appendParts(p.parts, p.s, start, end)
	}
	parts := p.parts
	if len(parts) > 1 && version.MatchString(p.s[start:end]) {
		parts[0].Start++ // v1.2 is 1.2
	}
	if flag := p.flag(parts[0].Start); flag < parts[0].Start {
		p.emit(word{term: strings.ToLower(p.s[flag:end])}, flag, end)
	}
	switch {
	case len(parts) == 1:
		p.sharp(parts[0])
	case p.joined(parts) && grouped.MatchString(p.s[start:end]):
		p.pos++
		return // 24,000 is one number, its digits are not three
	}
	for _, at := range parts {
		p.part(at)
	}
}

// part adds one word, or a number and its unit.
func (p *pass) part(at Span) {
	if n := NumberLength(p.s[at.Start:at.End]); n > 0 {
		p.part(Span{at.Start, at.Start + n})
		at.Start += n
	}
	w := word{term: p.s[at.Start:at.End]}
	if !digits(w.term) { // a number is its own term in every language
		w = p.lookup(w.term)
	}
	p.emit(w, at.Start, at.End)
	p.pos++
}

// lookup returns what is known of a word; the term of a stop word is "".
func (p *pass) lookup(spelling string) word {
	w, ok := p.known[spelling]
	if ok && (w.checked || !p.short()) {
		return w
	}
	if !ok {
		w.term = strings.Clone(p.a.term(spelling)) // the term may be part of the text
	}
	if w.checked = p.short(); w.checked {
		plain := lower(spelling)
		w.syllable = isSyllable(plain) && !StopWord("en", plain)
	}
	if len(spelling) <= maxTerm {
		p.known[strings.Clone(spelling)] = w
	}
	return w
}

// short reports whether the text may be a question in Vietnamese without diacritics.
func (p *pass) short() bool { return len(p.s) <= maxToneless }

func (p *pass) emit(w word, start, end int) {
	p.words++
	if w.syllable {
		p.syllables++
	}
	if w.term != "" {
		p.out = append(p.out, Token{Term: clip(w.term), Start: start, End: end, Pos: p.pos})
	}
}

// flag returns the start of an option such as --mount or -a, given that of its name, or the
// latter if there is no option. An option is a term in addition to its words: -a is not the
// article, and --mount not any mount.
func (p *pass) flag(start int) int {
	i := start
	for i > 0 && start-i < 2 && p.s[i-1] == '-' {
		i--
	}
	if i == start || isDigit(p.s[start]) || i > 0 && !strings.ContainsRune(" \t\n\r`'\"([|,/", rune(p.s[i-1])) {
		return start
	}
	return i
}

// joined adds the term of a name with several parts, if it has one: the parts without their
// joints. Numbers keep theirs, or 2.851 and 28.51 would be equal; the v of a version is
// dropped.
func (p *pass) joined(parts []Span) bool {
	start, end := parts[0].Start, parts[len(parts)-1].End
	if end-start > maxTerm {
		return false
	}
	joints := !grouped.MatchString(p.s[start:end])
	for _, at := range parts {
		joints = joints && digits(p.s[at.Start:at.End])
	}
	if joints {
		p.emit(word{term: p.s[start:end]}, start, end)
		return true
	}
	p.whole = p.whole[:0]
	for _, at := range parts {
		p.whole = append(p.whole, p.s[at.Start:at.End]...)
	}
	w, ok := p.known[string(p.whole)] // no allocation for a name seen before
	if !ok || !w.checked && p.short() {
		w = p.lookup(string(p.whole))
	}
	p.emit(w, start, end)
	return w.term != ""
}

// sharp adds C++, C# and F#, whose marks are not part of a word.
func (p *pass) sharp(at Span) {
	if at.End-at.Start != 1 {
		return
	}
	for _, mark := range []string{"++", "#"} {
		if strings.HasPrefix(p.s[at.End:], mark) && !startsWord(p.s[at.End+len(mark):]) {
			p.emit(word{term: strings.ToLower(p.s[at.Start : at.End+len(mark)])}, at.Start, at.End+len(mark))
		}
	}
}

var (
	version = regexp.MustCompile(`^[vV]\d+\.\d+(?:\D|$)`) // of v1.2 or v1.2.3-rc1
	grouped = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+$`)  // digits in groups of three
)

// digits reports whether a text consists of ASCII digits.
func digits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}

// appendParts splits s[start:end] at everything but letters, digits, marks and apostrophes, and
// at words in camel case.
func appendParts(dst []Span, s string, start, end int) []Span {
	from := -1 // start of the current part
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
		return isLetter(byte(r)) || isDigit(byte(r)) || r == '\''
	}
	if r == utf8.RuneError && size == 1 {
		return false
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || isApostrophe(r) || unicode.Is(unicode.Cf, r)
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' || r == '‘' || r == '‛' }

// humps reports whether camel case begins a new word at s[i], inside the part that began at
// from: fooBar before B, HTTPServer before S. The plural of an acronym (URLs), a single
// lower-case letter in front (iOS, gRPC) and a digit in between (IPv6) begin none. Only ASCII
// letters count.
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
