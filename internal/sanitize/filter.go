package sanitize

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

// maxUnit is the maximum number of bytes that [Filter] holds back to see how they end.
const maxUnit = 2048

// Filter makes Markdown harmless while it is written: no viewer loads, runs or links anything
// in it, and no terminal obeys it, even if a document says so or has talked a model into it.
// Tags become text, and brackets are separated so that they are no links. An address becomes
// inline code. Blocks of code stay.
//
// The zero Filter is for quotes of documents. With Known it is for the text of a model:
// pictures and links are replaced by their text, a link to a web address by text and address,
// and an unknown address by a notice, because it may carry away what the model has read.
//
// The output of Write and Close so far is harmless at every moment, and does not depend on the
// pieces of the input. Filtering it again changes nothing, unless a word is longer than 2 KiB.
// A Filter is one pass over a text: it decides about one unit after the other, a word with the
// code, links and brackets in it. Therefore every mark of code is closed in its line or
// escaped, and a unit has nothing at its edge that could continue a link, a tag or a
// definition.
type Filter struct {
	Known   func(address string) bool // reports whether an address may be shown; nil means all may
	Unknown string                    // replaces an unknown address
	// Link adds the program's links to text outside code; each is the result of keep. nil adds
	// none.
	Link func(prose string, keep func(link string) string) string

	raw     string // an incomplete rune or line end
	pending string // undecided text
	gap     []byte // white space before it
	out     strings.Builder
	begun   bool       // there was output
	inLine  bool       // pending does not begin a line
	fence   text.Fence // the open block of code
	strip   int        // spaces to remove from its lines
	table   bool       // the line may belong to a table, in which a bar ends code
	above   bool       // the previous line is not blank
	barred  bool       // this or the previous line has code that a table would end
}

// Write adds a piece of the text and returns the next output.
func (f *Filter) Write(piece string) string { return f.take(piece, false) }

// Close ends the text and returns the last output.
func (f *Filter) Close() string { return f.take("", true) }

// All filters a whole text.
func (f *Filter) All(s string) string { return f.Write(s) + f.Close() }

// Pieces returns functions that pass output to show: piece adds a piece of the text, and done
// ends it. If show is nil, piece is nil.
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

// visible returns the complete characters of the input so far, by [Visible].
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

// step decides about the beginning of the pending text, and reports whether it could.
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
	case f.fence.Mark != "": // the rest of a long line
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

// beginLine decides about the beginning of a line: whether it opens or closes a block of code.
// Viewers disagree on blocks in lists and quotes, so the lines of a block are indented like its
// first one, by three spaces at most.
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
			if f.table = f.above && !f.barred; f.barred { // separated from its header, it begins no table
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

// isRule reports whether a line may separate the header of a table.
func isRule(line string) bool { return strings.Trim(line, "|:->"+" \t") == "" }

// language matches the name of a language after the marks of a block of code.
var language = regexp.MustCompile(`^[\w+#-]+$`)
