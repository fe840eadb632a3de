package sanitize

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

// Parts of Markdown that a viewer would load, run or follow.
var (
	picture    = regexp.MustCompile(`!\[([^\]\n]*)\](?:\([^)\n]*\)|\[[^\]\n]*\])?`)
	linkInline = regexp.MustCompile(`\[([^\[\]\n]*)\]\(\s*<?([^)\s>]*)>?[^)\n]*\)`)
	linkByName = regexp.MustCompile(`\[([^\[\]\n]+)\]\[[^\[\]\n]*\]`)
	angled     = regexp.MustCompile(`<((?:[A-Za-z][A-Za-z0-9+.-]{1,31}):[^<>\s]*)>`)
	markup     = regexp.MustCompile(`<([A-Za-z/!?]|[-.#$%&'*+=^{}~|]*@)`)
	reference  = regexp.MustCompile(`&(#|(?:colon|commat|period|sol);)`)
	webAddress = regexp.MustCompile(`(?i)^(?:https?://|mailto:)`)
	keptCode   = regexp.MustCompile("[`\x00](.)[`\x00]")
	afterCode  = regexp.MustCompile("`([-.!#$%&'*+/=?^{}~|]*@)")
	mailTail   = regexp.MustCompile("^`[-\\w.!#$%&'*+/=?^{}~|`]*@")
	mailHead   = regexp.MustCompile("\\w[-\\w.!#$%&'*+/=?^{}~|`]*$")
	bar        = regexp.MustCompile(`(?:^|[^\\]|\\\\)\|`) // that is not escaped
	begunLink  = regexp.MustCompile(`(?i)://|www\.|mailto:`)
)

const (
	// maxRounds is the maximum nesting of links and images.
	maxRounds = 8
	// firstKept is the first placeholder rune: each replaces one code span while the text
	// around it is filtered.
	firstKept = 0xE000
)

// unitEnd returns the end of the first unit of a line, or 0 if it is not known yet. whole means
// that nothing follows line that could belong to the unit.
func unitEnd(line string, whole bool) int {
	for i := 0; i < len(line); {
		var next int
		var open bool
		switch line[i] {
		case ' ', '\t':
			return i
		case '[':
			next, open = bracketsEnd(line, i)
		default:
			next, open = text.PieceEnd(line, i)
		}
		if (open || next == len(line)) && !whole {
			return 0
		}
		if line[i] >= utf8.RuneSelf && !begunLink.MatchString(line[:i]) {
			return next // no address extends beyond it
		}
		i = next
	}
	return len(line)
}

// bracketsEnd returns the end of the brackets that open at i, including the target of a link.
// open means that text after s may change it.
func bracketsEnd(s string, i int) (end int, open bool) {
	depth := 0
	for at := i; at < len(s); {
		next, begun := text.PieceEnd(s, at)
		open = open || begun
		switch s[at] {
		case '[':
			depth++
		case ']':
			depth--
		}
		at = next
		if depth > 0 {
			continue
		}
		if at < len(s) && s[at] == '(' {
			n := strings.IndexByte(s[at:], ')')
			if n < 0 {
				return len(s), true
			}
			at += n + 1
		}
		return at, open
	}
	return i + 1, true
}

// harmless filters one unit.
func (f *Filter) harmless(s string) string {
	if !strings.ContainsAny(s, "[]<`@:.~&\\") {
		return s
	}
	var kept []string // code, which the rules skip
	keep := func(code string) string {
		kept = append(kept, code)
		return "`" + string(rune(firstKept+len(kept)-1)) + "`"
	}
	mark := func(escape string) string { return strings.ReplaceAll(keep(escape), "`", "\x00") } // Markdown that joins words
	var b strings.Builder
	for i := 0; i < len(s); {
		next, open := text.PieceEnd(s, i)
		switch {
		case open:
			b.WriteString(mark(strings.Repeat("\\`", next-i)))
		case s[i] == '`':
			marks := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			b.WriteString(keep(f.code(s[i+marks:next-marks], marks)))
		case s[i] == '\\' && next == i+2 && strings.IndexByte("@:/<", s[i+1]) >= 0: // some viewers look for addresses after it
			b.WriteByte(s[i+1])
		case s[i] == '\\' && next == i+2 && !isWord(s[i+1]):
			b.WriteString(mark(s[i:next]))
		case s[i] == '\\' && next == i+1:
			b.WriteString(mark(`\\`))
		default:
			b.WriteString(s[i:next])
		}
		i = next
	}
	prose := b.String()
	if f.Known != nil {
		prose = disarmed(prose)
	}
	for spans := Addresses(prose); len(spans) > 0; spans = Addresses(prose) { // one may contain another
		b.Reset()
		at := 0
		for _, a := range spans {
			b.WriteString(prose[at:a.Start])
			address, _, _ := strings.Cut(prose[a.Start:a.End], "|") // a bar ends a cell
			if f.Known != nil && !f.Known(address) {
				b.WriteString(f.Unknown)
			} else {
				if strings.HasSuffix(prose[:a.Start], `\`) {
					b.WriteString(`\ `)
				} else if strings.HasSuffix(prose[:a.Start], "|") {
					b.WriteByte(' ')
				}
				b.WriteString(keep(f.code(address, 1)))
			}
			at = a.Start + len(address)
		}
		prose = b.String() + prose[at:]
	}
	if f.Link != nil {
		prose = f.Link(strings.ReplaceAll(prose, "![", `\![`), mark)
	}
	prose = edges().Replace(prose)
	prose = afterCode.ReplaceAllString(prose, "` $1")
	prose = markup.ReplaceAllString(prose, `\<$1`)
	prose = reference.ReplaceAllString(prose, `\&$1`) // some viewers look for addresses after it
	b.Reset()
	at := 0
	for _, place := range keptCode.FindAllStringIndex(prose, -1) {
		b.WriteString(prose[at:place[0]])
		r, _ := utf8.DecodeRuneInString(prose[place[0]+1:])
		code := kept[r-firstKept]
		if mailTail.MatchString(code) && mailHead.MatchString(b.String()) {
			b.WriteByte(' ')
		}
		b.WriteString(code)
		at = place[1]
	}
	return b.String() + prose[at:]
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

// edges separates text that would continue a link, define one or open a block of code.
var edges = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("](", "] (", "]:", "] :", "~~~", `\~\~\~`, "``", "` `")
})

// code returns inline code with so many marks. In a table a bar ends code, and the rest is
// text.
func (f *Filter) code(s string, marks int) string {
	edge := strings.Repeat("`", marks)
	if bar.MatchString(s) {
		if f.table {
			edge = strings.Repeat("\\`", marks)
			s = f.harmless(s)
		}
		f.barred = true
	}
	return edge + s + edge
}

// disarmed removes pictures and links. Each round removes those that the previous one
// uncovered; a round makes the text shorter or is the last.
func disarmed(s string) string {
	for range maxRounds {
		before := s
		s = picture.ReplaceAllString(s, "$1")
		s = linkInline.ReplaceAllStringFunc(s, func(m string) string {
			p := linkInline.FindStringSubmatch(m)
			if webAddress.MatchString(p[2]) && p[1] != p[2] {
				return p[1] + " " + p[2]
			}
			return p[1]
		})
		s = linkByName.ReplaceAllStringFunc(s, func(m string) string {
			if strings.HasPrefix(strings.ToLower(m), "[source") {
				return m // two marks side by side
			}
			return linkByName.FindStringSubmatch(m)[1]
		})
		s = angled.ReplaceAllString(s, "$1")
		if s == before {
			break
		}
	}
	return s
}
