package cite

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// SnippetRunes is how much of a text a snippet shows.
const SnippetRunes = 200

// Pick is a part of a source that is quoted.
type Pick struct {
	N          int  // of [Source N], from 1
	Start, End int  // in bytes of the source's Text; both 0 stand for all of it
	Found      bool // the program put the mark, not the author of the answer
}

// Build makes the citations of picks, in their order; the same pick made twice
// appears once. It is an error when a pick names no source, or a span that is
// empty, leaves the text or cuts a character.
func Build(sources []state.Source, picks ...Pick) ([]state.Citation, error) {
	var out []state.Citation
	seen := map[Pick]bool{}
	for _, p := range picks {
		if p.N < 1 || p.N > len(sources) {
			return nil, fmt.Errorf("cite source %d: there are %d sources", p.N, len(sources))
		}
		src := sources[p.N-1]
		if p.Start == 0 && p.End == 0 {
			p.End = len(src.Text)
		}
		if seen[p] {
			continue
		}
		seen[p] = true
		if !isSpan(src.Text, p.Start, p.End) {
			return nil, fmt.Errorf("cite source %d (%s): %d to %d is no span of its %d bytes", p.N, src.Source, p.Start, p.End, len(src.Text))
		}
		out = append(out, citation(src, p))
	}
	return out, nil
}

func isSpan(text string, start, end int) bool {
	if start < 0 || start >= end || end > len(text) {
		return false
	}
	return utf8.RuneStart(text[start]) && (end == len(text) || utf8.RuneStart(text[end]))
}

func citation(src state.Source, p Pick) state.Citation {
	quote := src.Text[p.Start:p.End]
	first := strings.Count(src.Text[:p.Start], "\n")
	last := first + strings.Count(quote[:len(quote)-1], "\n")
	return state.Citation{
		N:         p.N,
		Source:    src.Source,
		Root:      src.Root,
		Title:     src.Title,
		Start:     src.Start + p.Start,
		End:       src.Start + p.End,
		StartLine: src.LineAt(first),
		EndLine:   max(src.LineAt(first), src.LineAt(last)),
		Page:      src.PageAt(src.Start + p.Start),
		EndPage:   src.PageAt(src.Start + p.End - 1),
		Quote:     quote,
		Score:     src.Score,
		Chunk:     src.ID,
		Hash:      src.Hash,
		Found:     p.Found,
		URL:       src.URL,
	}
}

// Snippet is the beginning of s: its first [SnippetRunes] characters, and
// "..." where that cuts something off.
func Snippet(s string) string {
	if short := text.First(s, SnippetRunes); short != s {
		return short + "..."
	}
	return s
}
