package load

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	edgeLines = 3 // lines at the top and at the bottom of a page that may be furniture
	leastSeen = 3 // pages that a line of furniture stands on
)

// together puts lines into one that stand beside each other: an index or an
// exponent ends a line for PDFium.
func together(lines []pdfLine) []pdfLine {
	var out []pdfLine
	for _, l := range lines {
		if n := len(out); n > 0 && beside(out[n-1], l) {
			a := &out[n-1]
			gap := l.left - a.right
			if gap >= wideGap*l.size {
				a.gaps = append(a.gaps, cellGap{len(a.text), a.right, l.left})
			}
			if gap > 0.15*l.size {
				a.text += " "
			}
			for _, g := range l.gaps {
				a.gaps = append(a.gaps, cellGap{len(a.text) + g.at, g.from, g.to})
			}
			a.text, a.right, a.hyphen = a.text+l.text, l.right, l.hyphen
			continue
		}
		out = append(out, l)
	}
	return out
}

// beside reports whether b goes on to the right of a, and no further off than a
// cell of a table.
func beside(a, b pdfLine) bool {
	size := min(a.size, b.size)
	return !a.hyphen && size > 0 && math.Abs(a.base-b.base) < 0.35*size && b.left >= a.right-0.3*size && b.left-a.right < 12*size
}

// dropFurniture takes out what stands at the top or the bottom of many pages:
// running heads, page numbers; and heads of which each chapter has its own, told
// by the number of the page in them.
func dropFurniture(pages [][]pdfLine) {
	seen, offsets := map[string]int{}, map[int]int{}
	for p, lines := range pages {
		once, onceOffset := map[string]bool{}, map[int]bool{}
		for _, i := range edges(lines) {
			if key := furnitureKey(lines[i].text); !once[key] {
				once[key] = true
				seen[key]++
			}
			if n, ok := pageNumber(lines[i].text); ok && !onceOffset[n-p] {
				onceOffset[n-p] = true
				offsets[n-p]++
			}
		}
	}
	often := func(n int) bool { return n >= leastSeen && 4*n >= len(pages) } // left and right pages may have their own, chapters too
	for p, lines := range pages {
		drop := leaders(lines, len(pages))
		for _, i := range edges(lines) {
			n, ok := pageNumber(lines[i].text)
			drop[i] = drop[i] || often(seen[furnitureKey(lines[i].text)]) || ok && often(offsets[n-p])
		}
		kept := lines[:0]
		for i, l := range lines {
			if !drop[i] {
				kept = append(kept, l)
			}
		}
		pages[p] = kept
	}
}

// leadersFrom is how many pages a document with a table of contents has; in a
// shorter one, such as a menu, dots lead to other figures.
const leadersFrom = 10

// leaders are the lines of a page that lead to a page by dots: those of the table
// of contents and of an index, which say where something stands and not what.
func leaders(lines []pdfLine, pages int) map[int]bool {
	found := map[int]bool{}
	for i, l := range lines {
		words := strings.Fields(l.text)
		if len(words) < 2 || pages < leadersFrom {
			continue
		}
		last := words[len(words)-1]
		before := strings.TrimSuffix(l.text, last)
		bare := strings.TrimRight(before, ". …")
		if n := before[len(bare):]; strings.Count(n, ".")+3*strings.Count(n, "…") < 4 {
			continue
		}
		if n, err := strconv.Atoi(last); err == nil && n <= pages || strings.Trim(last, "ivxlc") == "" {
			found[i] = true
		}
	}
	return found
}

// pageNumber is the number that a short line begins or ends with.
func pageNumber(s string) (n int, ok bool) {
	words := strings.Fields(s)
	if len(words) == 0 || len(words) > 16 {
		return 0, false
	}
	for _, w := range []string{words[len(words)-1], words[0]} {
		if n, err := strconv.Atoi(w); err == nil && n >= 0 && len(w) <= 5 {
			return n, true
		}
	}
	return 0, false
}

// edges are the indexes of the uppermost and the lowest lines of a page.
func edges(lines []pdfLine) []int {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(lines[b].base, lines[a].base) })
	if len(order) > 2*edgeLines {
		order = append(order[:edgeLines:edgeLines], order[len(order)-edgeLines:]...)
	}
	return order
}

// furnitureKey is a line without its numbers: "12", and "Chapter # · page #".
func furnitureKey(s string) string {
	var b strings.Builder
	digits := false
	for _, r := range strings.ToLower(s) {
		if unicode.IsDigit(r) {
			if !digits {
				b.WriteByte('#')
			}
			digits = true
			continue
		}
		digits = false
		b.WriteRune(r)
	}
	key := strings.TrimSpace(b.String())
	if strings.Trim(key, "ivxlc") == "" { // a Roman numeral alone
		return "#"
	}
	return key
}

// look is what most of a document looks like.
type look struct {
	size    float64   // of the body's type
	lead    float64   // from line to line
	larger  []float64 // sizes that headings have, largest first
	hasBold bool      // bold lines stand out: the body is not bold
	fixed   bool      // the body is typewritten
}

// lookOf finds the size that most letters have, and the distance that most
// lines of it keep.
func lookOf(lines []pdfLine) look {
	letters, gaps := map[float64]int{}, map[float64]int{}
	bold, fixed, all := 0, 0, 0
	for i, l := range lines {
		n := utf8.RuneCountInString(l.text)
		letters[rounded(l.size)] += n
		all += n
		if l.bold {
			bold += n
		}
		if l.fixed {
			fixed += n
		}
		if i > 0 && lines[i-1].page == l.page && rounded(lines[i-1].size) == rounded(l.size) {
			if gap := lines[i-1].base - l.base; gap > 0.5*l.size && gap < 4*l.size {
				gaps[rounded(gap)]++
			}
		}
	}
	lk := look{size: most(letters), lead: most(gaps), hasBold: 2*bold < all, fixed: 2*fixed > all}
	if lk.lead < lk.size {
		lk.lead = 1.2 * lk.size
	}
	for size := range letters {
		if size > largerType*lk.size {
			lk.larger = append(lk.larger, size)
		}
	}
	slices.SortFunc(lk.larger, func(a, b float64) int { return cmp.Compare(b, a) })
	return lk
}

func rounded(x float64) float64 { return math.Round(2*x) / 2 }

// most is the key with the greatest count, the smallest of them.
func most(counts map[float64]int) float64 {
	best, n := 0.0, 0
	for k, c := range counts {
		if c > n || c == n && k < best {
			best, n = k, c
		}
	}
	return best
}
