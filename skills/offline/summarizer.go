package offline

import (
	"context"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Bounds of a running summary.
const (
	SummaryTokens = 300 // of the whole summary
	factTokens    = 200 // of what the person said of themselves; the rest is for the turns
	lineWords     = 25  // of a line, its mark aside
	shortLine     = 10  // of the question alone, where an older line is made shorter
)

// Marks of the lines of a summary, in no language.
const (
	factMark = "* "
	turnMark = "- "
	answered = " → "

	oldFactMark = "Person: " // as earlier versions wrote it
)

// Summarizer keeps a running summary: what the person said of themselves ("I
// use Ubuntu 22.04") and one line for each turn, oldest first, in their own
// words. The summary is extended. Where it would be longer than
// [SummaryTokens], lines of turns are made shorter and then left out, those
// worth least first; what the person said goes last.
type Summarizer struct {
	maker
	lex  lexicon
	cues cues
}

// NewSummarizer returns a summarizer for the index that stats describes.
func NewSummarizer(stats Stats) *Summarizer {
	return &Summarizer{lex: newLexicon(stats), cues: newCues()}
}

// Summarize extends a summary by the messages that leave the live state. It
// never fails. Secrets are the caller's to take out before: see [text.Redact].
func (z *Summarizer) Summarize(_ context.Context, summary string, older []state.Message) (string, error) {
	facts, turns := z.extended(summary, older)
	facts = fitFacts(facts)
	for {
		out := strings.Join(slices.Concat(facts, turns), "\n")
		if text.Count(out) <= SummaryTokens {
			return out, nil
		}
		if len(turns) == 0 {
			return text.Trim(out, SummaryTokens), nil
		}
		turns = shortened(turns)
	}
}

// fitFacts drops the oldest facts that say least, until the rest has room.
func fitFacts(facts []string) []string {
	facts = slices.Clone(facts)
	for len(facts) > 1 && text.Count(strings.Join(facts, "\n")) > factTokens {
		drop := slices.IndexFunc(facts[:len(facts)/2], func(f string) bool { return !telling(f) })
		facts = slices.Delete(facts, max(0, drop), max(0, drop)+1)
	}
	return facts
}

// telling reports whether a line names something: with a capital letter inside,
// a number or a sign.
func telling(line string) bool {
	for i, w := range strings.Fields(line) {
		if i > 1 && looksLikeName(strings.Trim(w, ".,;:!?…"), false) {
			return true
		}
	}
	return false
}

// shortened takes something from the line that is worth least: the answer
// first, then the line. The newest line is the last to go.
func shortened(turns []string) []string {
	least, worth := 0, math.Inf(1)
	for i, t := range turns {
		w := float64(i) / float64(len(turns)) // newer is worth more
		if _, gist, ok := strings.Cut(t, answered); ok {
			w += lineGain
			if telling(gist) {
				w += lineGain
			}
		}
		if i == len(turns)-1 {
			w += 1
		}
		if w < worth {
			least, worth = i, w
		}
	}
	turns = slices.Clone(turns)
	short := turnMark + firstWords(strings.TrimPrefix(questionOf(turns[least]), turnMark), shortLine)
	if len(short) < len(turns[least]) {
		turns[least] = short
		return turns
	}
	return slices.Delete(turns, least, least+1)
}

// lineGain is what an answer adds to the worth of a line, once more where it
// names something.
const lineGain = 0.15

func questionOf(line string) string {
	question, _, _ := strings.Cut(line, answered)
	return question
}

// extended is a summary with the lines of more messages, however long.
func (z *Summarizer) extended(summary string, older []state.Message) (facts, turns []string) {
	facts, turns = readSummary(summary)
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
			if z.worthTelling(m.Content) {
				turns = withTurn(turns, z.line(withoutFacts(m.Content), answer))
			}
		case state.AI:
			if n := len(turns); n > 0 && !strings.Contains(turns[n-1], answered) {
				// its question left the live state before it
				turns[n-1] = z.line(strings.TrimPrefix(turns[n-1], turnMark), m.Content)
			}
		case state.System:
		}
	}
	return facts, turns
}

// worthTelling reports whether a message asks something of the documents: thanks
// and "more" do not.
func (z *Summarizer) worthTelling(message string) bool {
	line := strings.Join(plainWords(message), " ")
	return route(message) == state.RouteSearch && !slices.Contains(z.cues.more, line) && !slices.Contains(z.cues.agree, line)
}

// withTurn appends a line; one about the same question goes.
func withTurn(turns []string, line string) []string {
	same := func(t string) bool {
		return slices.Equal(plainWords(questionOf(t)), plainWords(questionOf(line)))
	}
	return append(slices.DeleteFunc(slices.Clone(turns), same), line)
}

// readSummary takes a summary apart. Lines of another maker are kept as turns.
func readSummary(summary string) (facts, turns []string) {
	for line := range strings.Lines(summary) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, oldFactMark):
			facts = append(facts, factMark+strings.TrimPrefix(line, oldFactMark))
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
	q, a := strings.Fields(tidy(question)), strings.Fields(z.gist(question, answer))
	nq := min(len(q), max(lineWords/2, lineWords-len(a)))
	out := turnMark + cutWords(q, nq)
	if len(a) > 0 {
		out += answered + cutWords(a, lineWords-nq)
	}
	return out
}

// cutWords joins the first n words and marks that there were more.
func cutWords(words []string, n int) string {
	if len(words) <= n {
		return strings.Join(words, " ")
	}
	return strings.Join(words[:n], " ") + "…"
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

// summarizedQuestions are the lines of a summary that tell of turns.
func summarizedQuestions(summary string) string {
	_, turns := readSummary(summary)
	for i, t := range turns {
		turns[i] = turnMark + strings.TrimPrefix(questionOf(t), turnMark)
	}
	return strings.Join(turns, "\n")
}
