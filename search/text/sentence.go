package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Span is a piece of a text: s[Start:End], in bytes.
type Span struct {
	Start int
	End   int // first byte after
}

// Sentences splits plain text or Markdown into sentences. The spans are in
// order, do not overlap, begin and end with something other than white space,
// and together hold everything else.
//
// A heading, a list item's beginning, a table row, a line of Hugo shortcode
// or of HTML comment is never joined with what follows, and a fenced code block
// is one span, however long. Inside a paragraph a full stop, question or
// exclamation mark ends a sentence unless what follows speaks against it: no
// space (example.com, 24.000), a small letter, or an abbreviation before it
// (e.g.). Inline code is not looked into.
func Sentences(s string) []Span {
	var out []Span
	for _, b := range blocks(s) {
		if b.whole {
			out = appendTrimmed(out, s, b.Start, b.End)
		} else {
			out = appendSentences(out, s, b.Start, b.End)
		}
	}
	return out
}

// block is a run of lines that sentences do not cross.
type block struct {
	Span
	whole bool // not to be split
}

// blocks splits a text into blocks, by lines.
func blocks(s string) []block {
	var out []block
	open := -1 // start of the paragraph under way
	flush := func(end int) {
		if open >= 0 {
			out = append(out, block{Span{open, end}, false})
			open = -1
		}
	}
	for at := 0; at < len(s); {
		end := lineEnd(s, at)
		line := strings.TrimSpace(s[at:end])
		switch fence := fenceOf(line); {
		case fence != "":
			flush(at)
			end = fenceEnd(s, end, fence)
			out = append(out, block{Span{at, end}, true})
		case line == "":
			flush(at)
		case strings.Trim(line, "> ") == "": // a blank line inside a quote
			flush(at)
			open = at
		case stands(line):
			flush(at)
			out = append(out, block{Span{at, end}, true})
		case marker(line) > 0:
			flush(at)
			open = at
		case open < 0:
			open = at
		}
		at = end
	}
	flush(len(s))
	return out
}

// lineEnd returns the end of the line that begins at i, its line end included.
func lineEnd(s string, i int) int {
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(s)
}

// fenceOf returns the fence that a line opens: its run of three or more
// backticks or tildes.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, "> ")
	if n := marker(line); n > 0 {
		line = strings.TrimLeft(line[n:], " ") // - ```sh
	}
	fence, _ := OpenFence(line)
	return fence.Mark
}

// fenceEnd returns the end of the fenced block whose content begins at i: after
// the closing fence, or at the end of the text.
func fenceEnd(s string, i int, fence string) int {
	for i < len(s) {
		end := lineEnd(s, i)
		line := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s[i:end]), "> "))
		if (Fence{Mark: fence}).Closes(line) {
			return end
		}
		i = end
	}
	return len(s)
}

// stands reports whether a line is a unit of its own: a heading, a table row, a
// rule, a line of shortcodes or of an HTML comment.
func stands(line string) bool {
	switch {
	case strings.HasPrefix(line, "|"):
		return true
	case strings.HasPrefix(line, "#"):
		rest := strings.TrimLeft(line, "#")
		return len(line)-len(rest) <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
	case strings.HasPrefix(line, "{{<"), strings.HasPrefix(line, "{{%"):
		return strings.HasSuffix(line, ">}}") || strings.HasSuffix(line, "%}}")
	case strings.HasPrefix(line, "<!--"):
		return strings.HasSuffix(line, "-->")
	}
	return strings.Trim(line, "-*_= ") == "" // rules and setext underlines
}

// marker returns the length of the list marker that a line begins with, 0
// without one.
func marker(line string) int {
	if line == "" {
		return 0
	}
	if strings.ContainsRune("-*+•", rune(line[0])) || strings.HasPrefix(line, "•") {
		_, n := utf8.DecodeRuneInString(line)
		if n < len(line) && (line[n] == ' ' || line[n] == '\t') {
			return n
		}
		return 0
	}
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && (line[n+1] == ' ' || line[n+1] == '\t') {
		return n + 1
	}
	return 0
}

func appendTrimmed(dst []Span, s string, start, end int) []Span {
	t := strings.TrimLeftFunc(s[start:end], unicode.IsSpace)
	start = end - len(t)
	t = strings.TrimRightFunc(t, unicode.IsSpace)
	if t == "" {
		return dst
	}
	return append(dst, Span{start, start + len(t)})
}

// appendSentences splits one paragraph or list item.
func appendSentences(dst []Span, s string, start, end int) []Span {
	body := s[start:end]
	trimmed := strings.TrimLeft(body, " \t>")
	from := start
	i := end - len(trimmed) + marker(trimmed) // the dot of "1. " ends nothing
	var behind following
	for i < end {
		c := s[i]
		if !mayEnd[c] {
			i++
			continue
		}
		switch {
		case c == '`':
			i = codeEnd(s, i, end)
			continue
		case c == '.' || c == '?' || c == '!':
			if i >= behind.run {
				behind = whatFollows(s, i+1, end)
			}
			if stop, ok := behind.endsSentence(s, from, i, end); ok {
				dst = appendTrimmed(dst, s, from, stop)
				from, i = stop, stop
				continue
			}
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:end])
			i += n
			if r == '。' || r == '！' || r == '？' || r == '।' || r == '؟' {
				stop := closers(s, i, end)
				if quoteGoesOn(s[i:stop], s[stop:end]) {
					i = stop
					continue
				}
				dst = appendTrimmed(dst, s, from, stop)
				from, i = stop, stop
			}
			continue
		}
		i++
	}
	return appendTrimmed(dst, s, from, end)
}

// mayEnd tells which bytes may end a sentence, or begin inline code.
var mayEnd = func() (of [256]bool) { //nolint:gochecknoglobals // a constant table
	for c := range of {
		of[c] = c >= utf8.RuneSelf || c == '`' || c == '.' || c == '?' || c == '!'
	}
	return of
}()

// codeEnd returns the end of the inline code that begins at i, or of its
// backticks where it never ends.
func codeEnd(s string, i, end int) int {
	n := 0
	for i+n < end && s[i+n] == '`' {
		n++
	}
	for j := i + n; j < end; {
		k := strings.IndexByte(s[j:end], '`')
		if k < 0 {
			break
		}
		j += k
		m := 0
		for j+m < end && s[j+m] == '`' {
			m++
		}
		if m == n {
			return j + m
		}
		j += m
	}
	return i + n
}

// following is what stands behind a mark. It is looked at once for all marks of a row.
type following struct {
	run  int    // behind the marks, quotes, brackets and emphasis that follow
	stop int    // the same, with what is set behind a space
	next string // what follows, without white space
}

func whatFollows(s string, i, end int) following {
	e := following{run: closing(s, i, end)}
	e.stop = spacedQuote(s, e.run, end)
	e.next = strings.TrimLeftFunc(s[e.stop:end], unicode.IsSpace)
	return e
}

// closers returns the position after the quotes, brackets and emphasis that
// close at i.
func closers(s string, i, end int) int { return spacedQuote(s, closing(s, i, end), end) }

// closing is closers, up to the first space.
func closing(s string, i, end int) int {
	for i < end {
		r, n := utf8.DecodeRuneInString(s[i:end])
		if !strings.ContainsRune(")]}\"'*_`»”’“‘」』）】》〉.!?…！？。", r) {
			break
		}
		i += n
	}
	return i
}

// spacedQuote returns the position after a quote that closes behind a space at i, or i.
func spacedQuote(s string, i, end int) int {
	// French sets a space before the quote that closes, and before none that opens.
	if rest := strings.TrimLeftFunc(s[i:end], unicode.IsSpace); strings.HasPrefix(rest, "»") && len(rest) < end-i {
		after := rest[len("»"):]
		if r, _ := utf8.DecodeRuneInString(after); after == "" || unicode.IsSpace(r) {
			return end - len(after)
		}
	}
	return i
}

// quoteGoesOn reports whether a Japanese sentence goes on behind the sentence it
// quotes: a particle follows the quote.
func quoteGoesOn(closed, next string) bool {
	r, _ := utf8.DecodeRuneInString(next)
	return strings.ContainsAny(closed, "」』") && strings.ContainsRune("とっなをがはのにでも、", r)
}

// endsSentence reports whether the mark at s[i] ends the sentence that began at
// from, and where.
func (e following) endsSentence(s string, from, i, end int) (int, bool) {
	stop, next := e.stop, e.next
	if stop == end {
		return stop, true
	}
	if len(next) == end-stop {
		return 0, false // no space: a number, a host, a file name
	}
	next = strings.TrimLeft(next, "> ") // a quote block's next line
	r, _ := utf8.DecodeRuneInString(next)
	if unicode.IsLower(r) {
		return 0, false
	}
	if s[i] == '.' && (abbreviated(s[from:i], next) || numbered(s[from:i]) || germanOrdinal(s[from:i], next)) {
		return 0, false
	}
	if n := reference(next); n > 0 {
		return closers(s, end-len(next)+n, end), true
	}
	return stop, true
}
