package offline

import (
	"context"
	"strings"

	"example.com/ragflow/cite"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// Bounds of a running summary.
const (
	SummaryTokens = 300 // of the whole summary
	lineWords     = 25  // of the line about a turn
	maxFacts      = 8   // lines about the person that are kept
)

// Marks of the lines of a summary.
const (
	factMark = "Person: "
	turnMark = "- "
	answered = " → "
)

// Summarizer keeps a running summary: what the person said of themselves ("I
// use Ubuntu 22.04") and one line for each turn, oldest first. The summary is
// extended; where it would be longer than [SummaryTokens], the oldest turns
// fall out.
type Summarizer struct {
	maker
	lex lexicon
}

// NewSummarizer returns a summarizer for the index that stats describes.
func NewSummarizer(stats Stats) *Summarizer { return &Summarizer{lex: newLexicon(stats)} }

// Summarize extends a summary by the messages that leave the live state. It
// never fails.
func (z *Summarizer) Summarize(_ context.Context, summary string, older []state.Message) (string, error) {
	facts, turns := readSummary(z.extended(summary, older))
	facts = facts[max(0, len(facts)-maxFacts):]
	for {
		out := strings.Join(append(append([]string{}, facts...), turns...), "\n")
		if text.Count(out) <= SummaryTokens {
			return out, nil
		}
		switch {
		case len(turns) > 1:
			turns = turns[1:]
		case len(facts) > 0:
			facts = facts[1:]
		default:
			return text.Trim(out, SummaryTokens), nil
		}
	}
}

// extended is a summary with the lines of more messages, however long.
func (z *Summarizer) extended(summary string, older []state.Message) string {
	facts, turns := readSummary(summary)
	for i := 0; i < len(older); i++ {
		m := older[i]
		switch m.Role {
		case state.Human:
			facts = merged(facts, factsOf(m.Content))
			answer := ""
			if i+1 < len(older) && older[i+1].Role == state.AI {
				i++
				answer = older[i].Content
			}
			turns = append(turns, z.line(m.Content, answer))
		case state.AI:
			if len(turns) > 0 && !strings.Contains(turns[len(turns)-1], answered) {
				// its question left the live state before it
				question := strings.TrimPrefix(turns[len(turns)-1], turnMark)
				turns[len(turns)-1] = z.line(question, m.Content)
			}
		case state.System:
		}
	}
	return strings.Join(append(facts, turns...), "\n")
}

// readSummary takes a summary apart. Lines of another maker are kept as turns.
func readSummary(summary string) (facts, turns []string) {
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, factMark):
			facts = append(facts, line)
		default:
			turns = append(turns, line)
		}
	}
	return facts, turns
}

// line is what is kept of a turn: the question and the statement of the answer
// that shares most with it, at most lineWords words.
func (z *Summarizer) line(question, answer string) string {
	q := strings.Fields(tidy(question))
	if answer == "" {
		return turnMark + strings.Join(q[:min(len(q), lineWords)], " ")
	}
	a := strings.Fields(z.gist(question, answer))
	nq := min(len(q), max(lineWords/2, lineWords-len(a)))
	na := min(len(a), lineWords-nq)
	out := turnMark + strings.Join(q[:nq], " ")
	if nq < len(q) {
		out += " …"
	}
	out += answered + strings.Join(a[:na], " ")
	if na < len(a) {
		out += " …"
	}
	return out
}

// gist is the unit of an answer that covers most of its question; of equal
// ones the first.
func (z *Summarizer) gist(question, answer string) string {
	answer = cite.Strip(answer)
	terms := z.lex.question(state.Query{Text: question})
	best, top := "", -1.0
	all := units(answer)
	for i, u := range all {
		s := tidy(answer[u.start:u.end])
		if u.kind == code || strings.HasSuffix(s, ":") && len(all) > i+1 || s == "" {
			continue
		}
		if c := coverage(terms, z.lex.set(s).in); c > top {
			best, top = s, c
		}
	}
	return best
}

// factsOf are the sentences in which a person says something of themselves.
func factsOf(message string) []string {
	var out []string
	for _, span := range text.Sentences(message) {
		s := tidy(message[span.Start:span.End])
		words := plainWords(s)
		if len(words) < 3 || strings.HasSuffix(s, "?") || !ofOneself(words) {
			continue
		}
		fields := strings.Fields(s)
		out = append(out, factMark+strings.Join(fields[:min(len(fields), lineWords)], " "))
	}
	return out
}

// ofOneself reports whether a sentence begins with what a person has or does.
func ofOneself(words []string) bool {
	switch words[0] {
	case "i", "we":
		switch words[1] {
		case "use", "am", "are", "have", "run", "work", "need", "want", "prefer", "must", "can't", "cannot", "don't", "only", "already", "installed", "decided", "got":
			return true
		}
	case "i'm", "we're", "i've", "we've", "my", "our", "używam", "mam", "pracuję", "korzystam", "moja", "mój", "moje", "nasz", "nasza", "potrzebuję", "tôi":
		return true
	}
	return false
}

// merged appends what is new.
func merged(facts, more []string) []string {
	for _, m := range more {
		known := false
		for _, f := range facts {
			known = known || strings.EqualFold(f, m)
		}
		if !known {
			facts = append(facts, m)
		}
	}
	return facts
}

// summarizedQuestions are the lines of a summary that tell of turns.
func summarizedQuestions(summary string) string {
	_, turns := readSummary(summary)
	for i, t := range turns {
		question, _, _ := strings.Cut(t, answered)
		turns[i] = turnMark + strings.TrimPrefix(question, turnMark)
	}
	return strings.Join(turns, "\n")
}
