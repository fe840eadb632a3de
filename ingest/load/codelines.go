package load

import (
	"regexp"
	"slices"
	"strings"
)

// codeLine is a line of a program with all that its quotes, its backslashes and
// the texts that begin below it hold together.
type codeLine struct {
	start, end     int
	indent         int // columns; a tab leads to the next multiple of eight
	text           string
	blank, comment bool
}

// indentation returns where a line has its first character that is no blank, and
// its column.
func indentation(s string, at, to int) (first, columns int) {
	for ; at < to && (s[at] == ' ' || s[at] == '\t' || s[at] == '\f'); at++ {
		if columns++; s[at] == '\t' {
			columns = (columns + 7) / 8 * 8
		}
	}
	return at, columns
}

var herePHP = regexp.MustCompile(`^<<<([ \t]*)(?:"(\w+)"|'(\w+)'|([A-Za-z_]\w*))[ \t\r]*\n`)

// here tells whether a here-document is announced at an offset: how long the
// announcement is, 0 for none, and where the line begins that closes it. Its text
// begins on the first line behind from.
func (x *scanner) here(at, from, to int) (n, closes int) {
	const longest = 80 // of an announcement
	s := x.s[at:min(to, at+longest)]
	if !strings.HasPrefix(s, "<<") || x.language != langPHP && (strings.HasPrefix(s, "<<<") || at > 0 && x.s[at-1] == '<') {
		return 0, -1
	}
	m := herePHP.FindStringSubmatch(s)
	if m == nil {
		return 0, -1
	}
	id := strings.Join(m[2:], "") // one of them is not empty
	closes = x.closing(id, lineEnd(x.s, from), m[1] != "" || x.language == langPHP)
	if closes < 0 || closes >= to {
		return 0, -1
	}
	return len(m[0]), closes
}

// longestWord bounds what closes a here-document, in bytes.
const longestWord = 64

// closing returns where the first line begins, from an offset on, that says
// nothing but a word, or in PHP begins with it; -1 where there is none.
func (x *scanner) closing(word string, from int, indented bool) int {
	if x.closings == nil {
		x.closings = map[string][]int{}
		for at := 0; at < len(x.s); at = lineEnd(x.s, at) {
			line := strings.Trim(x.s[at:lineEnd(x.s, at)], blank)
			if x.language == langPHP {
				line = phpWord.FindString(line)
			}
			if line != "" && len(line) <= longestWord {
				x.closings[line] = append(x.closings[line], at)
			}
		}
	}
	at := x.closings[word]
	i, _ := slices.BinarySearch(at, from)
	for ; i < len(at); i++ {
		if indented || strings.HasPrefix(x.s[at[i]:], word) {
			return at[i]
		}
	}
	return -1
}

var phpWord = regexp.MustCompile(`^[A-Za-z_]\w*`)

// skipPHP is skip for PHP.
func (x *scanner) skipPHP(at, to int) (end int, comment bool) {
	s := x.s[at:to]
	switch c := s[0]; {
	case c == '#' && !strings.HasPrefix(s, "#["), strings.HasPrefix(s, "//"):
		line := s[:length(s, strings.IndexByte(s, '\n'))]
		return at + length(line, strings.Index(line, "?>")), true
	case strings.HasPrefix(s, "/*"):
		return at + x.blockComment(s), true
	case c == '"', c == '\'', c == '`':
		return at + x.closed(at, s, s[:1], func(s string) int { return quoted(s, s[:1]) }), false
	case c == '<':
		if n, closes := x.here(at, at, to); n > 0 {
			first, _ := indentation(x.s, closes, to)
			return first + len(phpWord.FindString(x.s[first:to])), false
		}
	}
	return at, false
}

// markup returns where PHP goes on from an offset on: behind the next <?php.
func (x *scanner) markup(at, to int) int {
	for {
		i := strings.Index(x.s[at:to], "<?")
		if i < 0 {
			return to
		}
		at += i + len("<?")
		switch rest := x.s[at:to]; {
		case strings.HasPrefix(rest, "xml"):
		case strings.HasPrefix(rest, "="):
			return at + 1
		case strings.HasPrefix(strings.ToLower(rest[:min(len(rest), 3)]), "php"):
			return at + 3
		default:
			return at
		}
	}
}
