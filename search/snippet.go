package search

import (
	"strings"
	"unicode/utf8"
)

// snippetBytes is the maximum length of a snippet, about 30 words.
const snippetBytes = 190

// NewSnippets returns a function that finds the stretch of some 30 words of a passage whose
// terms weigh most. Of a passage without any of them it returns the beginning.
func NewSnippets(a Analyzer, weights map[string]float64) func(passage string) Snippet {
	return func(passage string) Snippet { return snippet(a, weights, passage) }
}

func snippet(a Analyzer, weights map[string]float64, passage string) Snippet {
	var found []Token
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

// repeated is the factor on the weight of a word that occurs again.
const repeated = 0.05

// heaviest returns the first stretch of up to snippetBytes whose tokens weigh most.
func heaviest(found []Token, weights map[string]float64) (start, end int) {
	best := 0.0
	for i, first := range found {
		seen, sum, last := map[string]bool{}, 0.0, first.End
		for n, t := range found[i:] {
			if n > 0 && t.End-first.Start > snippetBytes {
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

// widen returns the heaviest stretch with context: from the beginning of its sentence, at most
// a third of the free space, and the rest after it.
func widen(s string, found []Token, weights map[string]float64) (start, end int) {
	start, end = heaviest(found, weights)
	free := max(0, snippetBytes-(end-start))
	head := s[max(0, start-free/3):start]
	if i := strings.LastIndexAny(head, ".!?\n"); i >= 0 {
		head = head[i+1:]
	} else if len(head) < start {
		_, head, _ = strings.Cut(head, " ") // a cut word
	}
	head = strings.TrimLeft(head, " \t")
	tail := s[end:min(len(s), end+free-len(head))]
	if i := strings.LastIndexAny(tail, " \n"); i > 0 && end+len(tail) < len(s) {
		tail = tail[:i]
	}
	for len(tail) > 0 && end+len(tail) < len(s) && !utf8.RuneStart(s[end+len(tail)]) {
		tail = tail[:len(tail)-1]
	}
	return start - len(head), end + len(tail)
}
