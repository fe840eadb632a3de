package offline

import (
	"context"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Bounds of a running summary.
const (
	SummaryTokens = 300 // of the whole summary
	lineWords     = 25  // of a line: half for the question, the rest for the answer
)

// Marks of the lines of a summary, in no language.
const (
	turnMark = "- "
	answered = " → "
)

// Summarizer keeps a running summary: one line for each turn, oldest first, with
// the question and the sentence of the answer that shares most with it. The
// oldest lines go where the summary would be longer than [SummaryTokens].
type Summarizer struct {
	maker
	lex lexicon
}

// Summarize extends a summary by the messages that leave the live state. It
// never fails. Secrets are the caller's to take out before: see [text.Redact].
func (z *Summarizer) Summarize(_ context.Context, summary string, older []state.Message) (string, error) {
	lines := z.extended(summary, older)
	for len(lines) > 1 && text.Count(strings.Join(lines, "\n")) > SummaryTokens {
		lines = lines[1:]
	}
	return text.Trim(strings.Join(lines, "\n"), SummaryTokens), nil
}

// extended are the lines of a summary with those of more messages.
func (z *Summarizer) extended(summary string, older []state.Message) []string {
	lines := readSummary(summary)
	question := ""
	for i, m := range older {
		switch {
		case m.Role == state.Human && talk(m.Content) == noTalk:
			question = m.Content
			if i+1 == len(older) || older[i+1].Role != state.AI {
				lines = append(lines, z.line(question, ""))
			}
		case m.Role == state.AI && question != "":
			line := z.line(question, m.Content)
			same := func(l string) bool { return l == line }
			lines, question = append(slices.DeleteFunc(lines, same), line), ""
		}
	}
	return lines
}

// readSummary are the lines of a summary; a model may have written them.
func readSummary(summary string) []string {
	var lines []string
	for line := range strings.Lines(summary) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

func (z *Summarizer) line(question, answer string) string {
	out := turnMark + firstWords(tidy(question), lineWords/2)
	if gist := z.gist(question, answer); gist != "" {
		out += answered + firstWords(gist, lineWords-lineWords/2)
	}
	return out
}

// firstWords are the first n words of s, with a mark where there are more.
func firstWords(s string, n int) string {
	words := strings.Fields(s)
	if len(words) <= n {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:n], " ") + "…"
}

// gist is the sentence of an answer that covers most of its question; of equal
// ones the first.
func (z *Summarizer) gist(question, answer string) string {
	answer = strings.ReplaceAll(cite.Strip(answer), "**", "")
	terms := z.lex.question(state.Query{Text: question}, 0)
	p := z.lex.passage(state.Chunk{Text: answer})
	best, top := "", -1.0
	for j, u := range p.units {
		s := tidy(p.text[u.start:u.end])
		if k := p.blocks[u.block].kind; k == code || s == "" || strings.HasSuffix(s, ":") && j+1 < len(p.units) {
			continue
		}
		if c := coverage(terms, p.terms[j].in); c > top {
			best, top = s, c
		}
	}
	return best
}
