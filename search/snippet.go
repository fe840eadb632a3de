package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

const (
	snippetWords = 30  // of a snippet, about
	snippetRunes = 240 // of a snippet at most, for scripts without spaces and for long lines
)

// NewSnippets returns a function that finds the stretch of some 30 words of a passage whose
// terms weigh most. A passage without any of them gives its beginning.
func NewSnippets(a text.Analyzer, weights map[string]float64) func(passage string) Snippet {
	return func(passage string) Snippet { return snippet(a, weights, passage) }
}

func snippet(a text.Analyzer, weights map[string]float64, passage string) Snippet {
	var found []text.Token
	for _, t := range a.Analyze(passage) {
		if weights[t.Term] > 0 {
			found = append(found, t)
		}
	}
	out := Snippet{Marks: []Mark{}}
	out.Start, out.End = widen(passage, found, weights)
	for _, t := range found {
		switch n := len(out.Marks); {
		case t.Start < out.Start || t.End > out.End:
		case n > 0 && t.Start < out.Marks[n-1].End: // a part of a name, or a pair of syllables
			out.Marks[n-1].End = max(out.Marks[n-1].End, t.End)
		default:
			out.Marks = append(out.Marks, Mark{Start: t.Start, End: t.End})
		}
	}
	return out
}

// repeated is the share of its weight that a word counts when it comes again.
const repeated = 0.05

// heaviest returns the stretch of up to snippetWords words whose tokens weigh most; the first
// of equals.
func heaviest(found []text.Token, weights map[string]float64) (start, end int) {
	best := 0.0
	for i, first := range found {
		seen, sum, last := map[string]bool{}, 0.0, first.End
		for n, t := range found[i:] {
			if n > 0 && (t.Pos-first.Pos >= snippetWords || t.End-first.Start > snippetRunes) {
				break
			}
			if w := weights[t.Term]; seen[t.Term] {
				sum += repeated * w
			} else {
				sum += w
			}
			seen[t.Term] = true
			last = max(last, t.End)
		}
		if sum > best {
			best, start, end = sum, first.Start, last
		}
	}
	return start, end
}

// widen returns the heaviest stretch with whole words around it: a third of what is free before
// it, back to the beginning of its sentence at most, and the rest behind.
func widen(s string, found []text.Token, weights map[string]float64) (start, end int) {
	start, end = heaviest(found, weights)
	words := len(strings.Fields(s[start:end]))
	fits := func(from, to int) bool { return utf8.RuneCountInString(s[from:to]) <= snippetRunes }
	for before := (snippetWords - words) / 3; before > 0; before-- {
		head := strings.TrimRightFunc(s[:start], unicode.IsSpace)
		if head == "" || strings.Contains(s[len(head):start], "\n\n") || strings.ContainsAny(head[len(head)-1:], ".!?") {
			break
		}
		space := max(0, strings.LastIndexFunc(head, unicode.IsSpace))
		from := len(head) - len(strings.TrimLeftFunc(head[space:], unicode.IsSpace))
		if !fits(from, end) {
			break
		}
		start, words = from, words+1
	}
	for ; words < snippetWords && end < len(s); words++ {
		rest := strings.TrimLeftFunc(s[end:], unicode.IsSpace)
		to := len(s)
		if n := strings.IndexFunc(rest, unicode.IsSpace); n >= 0 {
			to = len(s) - len(rest) + n
		}
		if !fits(start, to) {
			if words == 0 { // one long run of letters: cut it
				end = len(string([]rune(s)[:snippetRunes]))
			}
			break
		}
		end = to
	}
	return start, end
}
