package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Snippet is the stretch of a text that says most of what a query asks for.
// Places are bytes of the text.
type Snippet struct {
	Start int    `json:"start"`
	End   int    `json:"end"`   // first byte after
	Marks []Mark `json:"marks"` // words of the query, in order, not overlapping; places in the whole text
}

// Mark is a word of the query in a text.
type Mark struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

const (
	snippetWords = 30  // of a snippet, about
	snippetRunes = 240 // of a snippet at most, for scripts without spaces and for long lines
)

// Snippets returns what finds the best stretch of some 30 words of a passage: that
// with the rarest words of the query, each counted once and a little for coming
// again. A passage without any gives its beginning.
func (s *Searcher) Snippets(q state.Query) func(passage string) Snippet {
	weights := map[string]float64{}
	for _, t := range s.queryTerms(q) {
		weights[t.name] = t.weight * idf(s.all.chunks, t.chunkDF)
	}
	analyzer := s.Analyzer()
	return func(passage string) Snippet { return snippet(analyzer, weights, passage) }
}

func snippet(a text.Analyzer, weights map[string]float64, passage string) Snippet {
	var found []text.Token
	for _, t := range a.Analyze(passage) {
		if weights[t.Term] > 0 {
			found = append(found, t)
		}
	}
	from, to := bestStretch(found, weights)
	out := Snippet{Marks: []Mark{}}
	start, end := 0, 0
	if len(found) > 0 {
		start, end = found[from].Start, found[to-1].End
		for _, t := range found[from:to] {
			end = max(end, t.End)
		}
	}
	out.Start, out.End = widen(passage, start, end)
	for _, t := range found {
		switch n := len(out.Marks); {
		case t.Start < out.Start || t.End > out.End:
		case n > 0 && t.Start < out.Marks[n-1].End: // a part of a name, or a pair of syllables
			out.Marks[n-1].End = max(out.Marks[n-1].End, t.End)
		default:
			out.Marks = append(out.Marks, Mark{t.Start, t.End})
		}
	}
	return out
}

// again is what a word counts that comes once more.
const again = 0.05

// bestStretch returns the run of tokens, within snippetWords words, that weighs
// most; the first of equals.
func bestStretch(found []text.Token, weights map[string]float64) (from, to int) {
	best := -1.0
	for i := range found {
		seen := map[string]bool{}
		sum := 0.0
		j := i
		for ; j < len(found) && found[j].Pos-found[i].Pos < snippetWords && found[j].End-found[i].Start <= snippetRunes; j++ {
			if w := weights[found[j].Term]; seen[found[j].Term] {
				sum += again * w
			} else {
				sum += w
				seen[found[j].Term] = true
			}
		}
		if j > i && sum > best {
			best, from, to = sum, i, j
		}
	}
	if best < 0 && len(found) > 0 { // one that is longer than a snippet
		to = 1
	}
	return from, to
}

// widen makes a snippet of a stretch: whole words, a third of what is free before
// it and the rest behind, from the beginning of a sentence or line where one is
// near.
func widen(s string, start, end int) (int, int) {
	words, runes := len(strings.Fields(s[start:end])), utf8.RuneCountInString(s[start:end])
	before := (snippetWords - words) / 3
	for from := start; before > 0 && runes < snippetRunes*2/3; before-- {
		at := strings.TrimRightFunc(s[:from], unicode.IsSpace)
		if at == "" {
			start = 0
			break
		}
		if strings.Contains(s[len(at):from], "\n\n") || strings.ContainsAny(at[len(at)-1:], ".!?") {
			break // a sentence begins here
		}
		from = strings.LastIndexFunc(at, unicode.IsSpace)
		if from >= 0 {
			_, size := utf8.DecodeRuneInString(s[from:])
			from += size
		}
		from = max(from, 0)
		if n := utf8.RuneCountInString(s[from:start]); runes+n > snippetRunes {
			break
		} else {
			runes += n
		}
		start, words = from, words+1
	}
	for words < snippetWords && end < len(s) {
		at := end + len(s[end:]) - len(strings.TrimLeftFunc(s[end:], unicode.IsSpace))
		to := strings.IndexFunc(s[at:], unicode.IsSpace) + at
		if to < at {
			to = len(s)
		}
		n := utf8.RuneCountInString(s[end:to])
		if runes+n > snippetRunes {
			if words == 0 { // one long run: cut it
				for range snippetRunes {
					_, size := utf8.DecodeRuneInString(s[end:])
					end += size
				}
			}
			break
		}
		end, runes, words = to, runes+n, words+1
	}
	return start, end
}
