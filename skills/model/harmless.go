package model

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// maxUnit is the most bytes that [Filter] holds back to see how they end.
const maxUnit = 2048

// Filter makes an answer harmless while a model writes it: no viewer of Markdown loads, runs or
// links anything of it, and no terminal obeys it, because a document may have talked the model into
// it. Pictures leave their text; links their text and, of web addresses, the address for reading;
// tags become the text they are. An address becomes inline code, and one that is not known becomes a
// notice: it may carry away what the model was shown. Blocks of code stay.
//
// All that Write and Close return, put together, is harmless at every moment, and is the same however
// the text is cut into pieces. A Filter is one pass over the text: it decides about one unit after the
// other, a word with the code, links and brackets in it. For this to hold, every mark of code is
// closed in its line or escaped, and nothing that could continue a link, a tag or a definition is left
// at the edge of a unit.
type Filter struct {
	known   func(address string) bool
	unknown string // the notice

	raw     string // the beginning of a rune or of a line end
	pending string // what is not decided yet
	gap     []byte // white space before it
	out     strings.Builder
	begun   bool       // something was shown
	inLine  bool       // pending does not begin a line
	fence   text.Fence // the open block of code
	strip   int        // spaces that its lines lose
	bars    int        // most marks around code of this line that has a bar, where a table would end the code
}

// NewFilter returns the filter of one answer. known reports whether an address may be shown; language is that
// of the notice.
func NewFilter(known func(address string) bool, language string) *Filter {
	return &Filter{known: known, unknown: prompts.Say(prompts.UnknownAddress, language)}
}

// Holds reports whether an address stands in the question or in a source.
func Holds(question string, sources []state.Source, address string) bool {
	return strings.Contains(question, address) ||
		slices.ContainsFunc(sources, func(s state.Source) bool { return strings.Contains(s.Text, address) })
}

// Write returns what can be shown after the next piece of the text.
func (f *Filter) Write(piece string) string { return f.take(piece, false) }

// Close returns what is left to show at the end of the text.
func (f *Filter) Close() string { return f.take("", true) }

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
	return f.out.String()
}

// visible returns the complete characters of what was written, as [text.Visible] has them.
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
	return text.Visible(s[:cut])
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
		f.pending, f.inLine, f.bars = f.pending[1:], false, 0
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
	case !whole && (f.fence.Mark != "" || body[0] == '~' || marks > 2 || marks == len(body)):
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

// language is the name of a language after the marks of a block of code.
var language = regexp.MustCompile(`^[\w+#-]+$`)
