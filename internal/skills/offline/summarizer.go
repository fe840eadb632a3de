package offline

import (
	"context"
	"slices"
	"strings"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Limits of a running summary.
const (
	SummaryTokens = 300 // of the whole summary
	lineWords     = 25  // of a line: half for the question, the rest for the answer
)

// Summarizer keeps a running summary: one line a turn, oldest first, with the question and the sentence of
// the answer that matches it best. The oldest lines are dropped to stay within [SummaryTokens].
type Summarizer struct {
	maker
	lex lexicon
}

// Summarize adds messages that leave the live state to a summary. It never fails. The caller must redact
// secrets first: see package internal/redact.
func (z *Summarizer) Summarize(_ context.Context, summary string, older []state.Message) (string, error) {
	lines := strings.FieldsFunc(summary, func(r rune) bool { return r == '\n' })
	for i, m := range older {
		if route, _ := talk(m.Content); m.Role != state.Human || route != state.RouteSearch {
			continue
		}
		answer := ""
		if i+1 < len(older) && older[i+1].Role == state.AI {
			answer = older[i+1].Content
		}
		line := z.line(m.Content, answer)
		lines = append(slices.DeleteFunc(lines, func(l string) bool { return l == line }), line)
	}
	for len(lines) > 1 && text.Count(strings.Join(lines, "\n")) > SummaryTokens {
		lines = lines[1:]
	}
	return text.Trim(strings.Join(lines, "\n"), SummaryTokens), nil
}

func (z *Summarizer) line(question, answer string) string {
	out := "- " + firstWords(readable.Line(question), lineWords/2)
	if gist := z.gist(question, answer); gist != "" {
		out += " → " + firstWords(gist, lineWords-lineWords/2)
	}
	return out
}

// firstWords returns the first n words of s, with an ellipsis if there are more.
func firstWords(s string, n int) string {
	words := strings.Fields(s)
	if len(words) <= n {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:n], " ") + "…"
}

// gist returns the sentence of an answer that covers most of its question, the first of equal ones.
func (z *Summarizer) gist(question, answer string) string {
	answer = strings.ReplaceAll(cite.Strip(answer), "**", "")
	terms := z.lex.question(state.Query{Text: question}, 0)
	p := z.lex.passage(state.Chunk{Text: answer})
	best, top := "", -1.0
	for j, u := range p.units {
		s := readable.Line(p.text[u.start:u.end])
		if k := p.blocks[u.block].kind; k == code || s == "" || strings.HasSuffix(s, ":") && j+1 < len(p.units) {
			continue
		}
		if c := coverage(terms, p.terms[j].in); c > top {
			best, top = s, c
		}
	}
	return best
}
