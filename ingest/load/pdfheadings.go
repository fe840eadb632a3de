package load

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	longestHeadline = 160  // runes
	titleType       = 1.3  // times the body's size, likewise for a title
	largerType      = 1.12 // times the body's size: at least so large is the type of a heading
)

// titleOf is what a document's headings say of its title: the one it begins with,
// else the first of the highest level. A numbered one is that of a section.
func titleOf(blocks []block) string {
	best := block{level: math.MaxInt}
	for i, b := range blocks {
		if b.level == 0 || b.heading == "" || numbered(b.heading) {
			continue
		}
		if i == 0 {
			return b.heading
		}
		if b.level < best.level {
			best = b
		}
	}
	return best.heading
}

// largestOf is what stands in the largest type on the first page that has text,
// where that is larger than the rest: the title, on the first lines of it.
func largestOf(pages [][]pdfLine, lk look) string {
	for _, lines := range pages {
		if len(lines) == 0 {
			continue
		}
		top := slices.MaxFunc(lines, func(a, b pdfLine) int { return cmp.Compare(rounded(a.size), rounded(b.size)) }).size
		if top < titleType*lk.size {
			return ""
		}
		from := slices.IndexFunc(lines, func(l pdfLine) bool { return rounded(l.size) == rounded(top) })
		var title []string
		for _, l := range lines[from:] {
			if rounded(l.size) != rounded(top) {
				break
			}
			title = append(title, l.text)
		}
		joined := strings.Join(title, " ")
		if !hasLetters(joined) || utf8.RuneCountInString(joined) > longestHeadline {
			return ""
		}
		return joined
	}
	return ""
}

// levels finds the headings: those of the outline where it names lines of the
// text, else lines in a larger or a bolder type.
func (w *layout) levels(lines []pdfLine) []int {
	titles := map[string]bool{} // the same ones come again where an outline goes round in circles
	for _, mark := range w.outline {
		titles[mark.title] = true
	}
	if levels, found := w.byOutline(lines); 2*found >= len(titles) && found > 0 {
		return levels
	}
	out := make([]int, len(lines))
	for i, l := range lines {
		if utf8.RuneCountInString(l.text) > longestHeadline || l.row || !hasLetters(l.text) {
			continue
		}
		switch at := slices.Index(w.look.larger, rounded(l.size)); {
		case at >= 0:
			out[i] = min(at+1, 5)
		case w.look.hasBold && l.bold && rounded(l.size) >= w.look.size && w.standsAlone(lines, i):
			out[i] = min(len(w.look.larger)+1, 6)
		}
	}
	return out
}

// byOutline finds the titles of the outline among the lines, in order. The page
// of contents does not count: its lines end in numbers of pages.
func (w *layout) byOutline(lines []pdfLine) (levels []int, found int) {
	levels = make([]int, len(lines))
	from := 0
	for _, mark := range w.outline {
		want := bareWords(mark.title)
		if want == "" {
			continue
		}
		for i := from; i < len(lines); i++ {
			if n := w.matches(lines[i:], want); n > 0 {
				for k := range n {
					levels[i+k] = min(mark.level, 6)
				}
				from = i + n
				found++
				break
			}
		}
	}
	return levels, found
}

// matches returns how many lines, three at most, make up a title; 0 where they
// do not. The number of a section may stand in one and not in the other.
func (*layout) matches(lines []pdfLine, want string) int {
	var have string // of three lines at most
	for n := range min(3, len(lines)) {
		have = strings.Join([]string{have, bareWords(lines[n].text)}, "")
		if have == want || strings.TrimLeft(have, "0123456789") == strings.TrimLeft(want, "0123456789") && have != "" {
			return n + 1
		}
		if len(have) > len(want)+8 {
			break
		}
	}
	return 0
}

// bareWords is a text in lower case without all but letters and digits.
func bareWords(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

func hasLetters(s string) bool {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) {
			n++
		}
	}
	return n >= 2
}

// standsAlone reports whether a bold line is a heading and not the beginning of
// a bold paragraph or of a list item: the line below is not bold or further off,
// and it does not end like a sentence.
func (w *layout) standsAlone(lines []pdfLine, i int) bool {
	l := lines[i]
	if strings.HasSuffix(l.text, ".") || strings.HasSuffix(l.text, ",") || strings.HasSuffix(l.text, ";") || isItem(l.text) && !numbered(l.text) {
		return false
	}
	if i+1 < len(lines) {
		next := lines[i+1]
		near := next.page == l.page && math.Abs(l.base-next.base) < 0.5*l.size // a cell of the same row
		if near || next.bold && w.joint(l, next, false, rightEdge(lines, i)) >= joined {
			return false
		}
	}
	return i == 0 || lines[i-1].page != l.page || lines[i-1].base-l.base > 0.5*l.size || lines[i-1].base < l.base
}

// numbered reports whether a line begins with the number of a section.
func numbered(s string) bool {
	first, rest, _ := strings.Cut(s, " ")
	return rest != "" && strings.Trim(first, "0123456789.") == "" && strings.Trim(first, ".") != ""
}
