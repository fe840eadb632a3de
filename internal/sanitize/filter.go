package sanitize

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// maxUnit is the most bytes that [Filter] holds back to see how they end.
const maxUnit = 2048

// Filter makes Markdown harmless while it is written: no viewer loads, runs or links anything of it, and no
// terminal obeys it, because a document says it or has talked a model into it. Tags become the text they are, and
// brackets part from what would make them links. An address becomes inline code. Blocks of code stay.
//
// The zero Filter is for quotes of documents. With Known it is for what a model wrote: pictures leave their text,
// links their text and, of web addresses, the address for reading, and an address that is not known becomes a
// notice: it may carry away what the model was shown.
//
// All that Write and Close return, put together, is harmless at every moment, and is the same however
// the text is cut into pieces. It stays as it is when it is filtered again, but where a word is longer than
// 2 KiB. A Filter is one pass over the text: it decides about one unit after the other, a word with the code,
// links and brackets in it. For this to hold, every mark of code is closed in its line or escaped, and nothing
// that could continue a link, a tag or a definition is left at the edge of a unit.
type Filter struct {
	Known   func(address string) bool // whether an address may be shown; nil: all may
	Unknown string                    // replaces an unknown address
	// Link puts links of our own into text outside of code; each is what keep returns of it. nil: none.
	Link func(prose string, keep func(link string) string) string

	raw     string // the beginning of a rune or of a line end
	pending string // what is not decided yet
	gap     []byte // white space before it
	out     strings.Builder
	begun   bool       // something was shown
	inLine  bool       // pending does not begin a line
	fence   text.Fence // the open block of code
	strip   int        // spaces that its lines lose
	table   bool       // the line may belong to a table, which ends code at a bar
	above   bool       // the line before this one is not blank
	barred  bool       // this line, or the one before the line that begins, has code that a table would end
}

// Write returns what can be shown after the next piece of the text.
func (f *Filter) Write(piece string) string { return f.take(piece, false) }

// Close returns what is left to show at the end of the text.
func (f *Filter) Close() string { return f.take("", true) }

// All returns the whole of a text.
func (f *Filter) All(s string) string { return f.Write(s) + f.Close() }

// Pieces returns the functions that hand on to show what can be shown: piece after each piece of the text, and done at its
// end. A nil show makes piece nil.
func (f *Filter) Pieces(show func(string)) (piece func(string), done func()) {
	if show == nil {
		return nil, func() {}
	}
	hand := func(safe string) {
		if safe != "" {
			show(safe)
		}
	}
	return func(s string) { hand(f.Write(s)) }, func() { hand(f.Close()) }
}

func (f *Filter) take(piece string, end bool) string {
	f.pending += f.visible(piece, end)
	f.out.Reset()
	for f.pending != "" && f.step(end) {
	}
	if end && f.fence.Mark != "" {
		f.out.WriteString("\n" + strings.Repeat(" ", f.fence.Indent) + f.fence.Mark)
	}
	return f.out.String()
}

// visible returns the complete characters of what was written, as [Visible] has them.
func (f *Filter) visible(piece string, end bool) string {
	s := f.raw + piece
	cut := len(s)
	for i := len(s) - 1; !end && i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if s[i] == '\r' || !utf8.FullRuneInString(s[i:]) {
				cut = i
			}
			break
		}
	}
	f.raw = s[cut:]
	return Visible(s[:cut])
}

func (f *Filter) show(s string) {
	if f.begun {
		f.out.Write(f.gap)
	}
	f.gap, f.begun = f.gap[:0], true
	f.out.WriteString(s)
}

// step decides about the beginning of what is pending. It reports whether it could.
func (f *Filter) step(end bool) bool {
	if f.pending[0] == '\n' {
		f.gap = append(f.gap, '\n')
		if !f.inLine {
			f.table, f.above, f.barred = false, false, false
		}
		f.pending, f.inLine = f.pending[1:], false
		return true
	}
	n := min(len(f.pending), maxUnit)
	for n < len(f.pending) && !utf8.RuneStart(f.pending[n]) {
		n--
	}
	line, _, ended := strings.Cut(f.pending[:n], "\n")
	cut := !ended && len(f.pending) >= maxUnit
	whole := ended || cut || end
	if !f.inLine {
		return f.beginLine(line, whole, cut)
	}
	taken := len(line)
	switch {
	case f.fence.Mark != "": // what is left of a long line
		f.show(line)
	case line[0] == ' ' || line[0] == '\t':
		taken -= len(strings.TrimLeft(line, " \t"))
		f.gap = append(f.gap, line[:taken]...)
	default:
		if taken = unitEnd(line, whole); taken == 0 {
			return false
		}
		taken = len(strings.TrimRight(line[:taken], " \t"))
		f.show(f.harmless(line[:taken]))
		if cut && taken == len(line) {
			f.gap = append(f.gap, ' ')
		}
	}
	f.pending = f.pending[taken:]
	return true
}

// beginLine decides about the beginning of a line: whether it opens or ends a block of code.
// Viewers disagree on blocks in lists and quotes, so the lines of a block that is shown are
// indented like its first, by three spaces at most.
func (f *Filter) beginLine(line string, whole, cut bool) bool {
	body := strings.TrimLeft(line, " \t")
	indent := len(strings.ReplaceAll(line[:len(line)-len(body)], "\t", "    "))
	marks := len(body) - len(strings.TrimLeft(body, "`"))
	switch {
	case body == "" && !whole:
		return false
	case body == "":
		f.gap = append(f.gap, line...)
		f.pending = f.pending[len(line):]
		return true
	case !whole && (f.fence.Mark != "" || body[0] == '~' || marks > 2 || marks == len(body) || isRule(body)):
		return false
	}
	taken := len(line)
	if f.fence.Mark != "" {
		closing := strings.Repeat(" ", f.fence.Indent) + f.fence.Mark
		switch {
		case indent < f.fence.Indent: // a viewer may have left the block
			f.show(closing)
			f.gap, f.fence = append(f.gap, '\n'), text.Fence{}
			return true
		case f.fence.Closes(body):
			f.fence, line = text.Fence{}, closing
		default:
			cut = false
			if f.strip > 0 {
				line = strings.Repeat(" ", max(f.fence.Indent, indent-f.strip)) + body
			}
		}
	} else if opened, ok := text.OpenFence(body); ok {
		opened.Indent = min(indent, 3)
		f.fence, f.strip = opened, indent-opened.Indent
		line = strings.Repeat(" ", opened.Indent) + opened.Mark + language.FindString(opened.Info)
	} else {
		if isRule(body) && strings.Contains(body, "-") {
			if f.table = f.above && !f.barred; f.barred { // parted from its header, it begins no table
				f.gap = append(f.gap, '\n')
			}
		}
		f.above, f.barred = true, false
		taken, cut = len(line)-len(body), false
		f.gap, line = append(f.gap, line[:taken]...), ""
	}
	if line != "" {
		f.show(line)
	}
	if cut {
		f.gap = append(f.gap, '\n')
	}
	f.pending, f.inLine = f.pending[taken:], true
	return true
}

// isRule reports whether a line may be the one below the header of a table.
func isRule(line string) bool { return strings.Trim(line, "|:->"+" \t") == "" }

// language is the name of a language after the marks of a block of code.
var language = regexp.MustCompile(`^[\w+#-]+$`)
