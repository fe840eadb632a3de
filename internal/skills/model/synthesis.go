package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Ways to write one answer from several sources.
const (
	Compact       = "compact"        // one call with all sources
	Refine        = "refine"         // one call for each source; each improves the answer
	TreeSummarize = "tree_summarize" // an answer for every four sources, side by side, then answers of answers
)

// Syntheses lists the ways to write an answer, the default first.
func Syntheses() []string { return []string{Compact, Refine, TreeSummarize} }

// CheckSynthesis returns an error for an unknown way to write an answer.
func CheckSynthesis(name string) error {
	if name != "" && !slices.Contains(Syntheses(), name) {
		return fmt.Errorf("synthesis %q is not one of %s", name, strings.Join(Syntheses(), ", "))
	}
	return nil
}

// treeWidth is how many sources or answers one call combines.
const treeWidth = 4

// synthesize returns the text of the answer. Only the call that writes the final text
// is streamed.
func (a *Answerer) synthesize(ctx context.Context, t state.Task, token func(string)) (string, error) {
	parts := partsOf(t.Queries)
	switch {
	case len(parts) > 1:
		return a.byParts(ctx, t, parts, token)
	case a.synthesis == Compact || a.synthesis == "":
		return a.inquire(ctx, t, inquiry{answer: a.noRefusals}, token)
	case len(t.Sources) == 1:
		return a.inquire(ctx, t, inquiry{}, token)
	case a.synthesis == Refine:
		return a.refine(ctx, t, token)
	}
	return a.tree(ctx, t, token)
}

// inquire asks for an answer from the sources of a task.
func (a *Answerer) inquire(ctx context.Context, t state.Task, q inquiry, token func(string)) (string, error) {
	boundary := prompts.NewBoundary()
	return a.write(ctx, messages(t, q, boundary, a.custom), boundary, token)
}

// write asks for a text. One that stopped at its limit ends with a whole sentence.
func (a *Answerer) write(ctx context.Context, messages []llm.Message, boundary string, token func(string)) (string, error) {
	reply, err := a.chat.Complete(ctx, llm.Request{
		Messages: messages, Temperature: a.temperature, MaxTokens: a.tokens, Stop: []string{boundary},
	}, token)
	if err != nil {
		return "", err
	}
	said := strings.TrimSpace(before(reply.Text, boundary))
	if said == "" {
		return "", &prompts.ParseError{Prompt: "generate", Want: "text"}
	}
	if reply.Finish == llm.FinishLength {
		said = wholeSentences(said)
	}
	return said, nil
}

func (a *Answerer) instruct(ctx context.Context, p prompts.Rendered, boundary string, token func(string)) (string, error) {
	return a.write(ctx, []llm.Message{{Role: llm.System, Content: p.System}, {Role: llm.User, Content: p.User}}, boundary, token)
}

// refine goes through the sources one by one. Until one of them holds an answer, the
// question is asked again.
func (a *Answerer) refine(ctx context.Context, t state.Task, token func(string)) (string, error) {
	answer := ""
	for i, s := range t.Sources {
		stream := token
		if i < len(t.Sources)-1 {
			stream = nil
		}
		var err error
		if answer == "" || prompts.Refused(answer) {
			one := t
			one.Sources = t.Sources[i : i+1]
			answer, err = a.inquire(ctx, one, inquiry{first: i}, stream)
		} else {
			p := prompts.Refine{Question: question(t), Answer: answer, Source: sourceText(t, i+1, s), Boundary: prompts.NewBoundary(), Custom: a.custom}
			answer, err = a.instruct(ctx, p.Render(), p.Boundary, stream)
		}
		if err != nil {
			return "", err
		}
	}
	return answer, nil
}

// tree answers from every [treeWidth] sources and combines the answers in the same way
// until one is left. Refusals are left out, unless there is nothing else.
func (a *Answerer) tree(ctx context.Context, t state.Task, token func(string)) (string, error) {
	batches := slices.Collect(slices.Chunk(t.Sources, treeWidth))
	answers, err := sideBySide(len(batches), func(i int) (string, error) {
		some := t
		some.Sources = batches[i]
		var stream func(string)
		if len(batches) == 1 {
			stream = token
		}
		return a.inquire(ctx, some, inquiry{first: i * treeWidth}, stream)
	})
	for err == nil && len(answers) > 1 {
		parts := make([]prompts.PartialAnswer, 0, len(answers))
		for _, said := range answers {
			if !prompts.Refused(said) {
				parts = append(parts, prompts.PartialAnswer{Answer: said})
			}
		}
		if len(parts) < 2 {
			return slices.MaxFunc(answers, func(x, y string) int { return rankRefusal(x) - rankRefusal(y) }), nil
		}
		batches := slices.Collect(slices.Chunk(parts, treeWidth))
		answers, err = sideBySide(len(batches), func(i int) (string, error) {
			var stream func(string)
			if len(batches) == 1 {
				stream = token
			}
			return a.merge(ctx, t, batches[i], stream)
		})
	}
	if err != nil {
		return "", err
	}
	return answers[0], nil
}

// rankRefusal is 1 for an answer and 0 for a refusal.
func rankRefusal(answer string) int {
	if prompts.Refused(answer) {
		return 0
	}
	return 1
}

// merge combines partial answers.
func (a *Answerer) merge(ctx context.Context, t state.Task, parts []prompts.PartialAnswer, token func(string)) (string, error) {
	p := prompts.Merge{Question: question(t), Parts: parts, Boundary: prompts.NewBoundary(), Custom: a.custom}
	return a.instruct(ctx, p.Render(), p.Boundary, token)
}

// byParts answers the parts of a question in order, each with the answer of the part
// that it needs, and combines the answers.
func (a *Answerer) byParts(ctx context.Context, t state.Task, parts []state.Query, token func(string)) (string, error) {
	answers := make([]prompts.PartialAnswer, len(parts))
	for i, part := range parts {
		q := inquiry{question: part.Text}
		for j := range i {
			if parts[j].Part == part.After {
				q.known = answers[j].Answer
			}
		}
		said, err := a.inquire(ctx, t, q, nil)
		if err != nil {
			return "", err
		}
		answers[i] = prompts.PartialAnswer{Question: oneLine(part.Text), Answer: said}
	}
	known := slices.DeleteFunc(slices.Clone(answers), func(p prompts.PartialAnswer) bool { return prompts.Refused(p.Answer) })
	if len(known) == 0 {
		return answers[0].Answer, nil
	}
	return a.merge(ctx, t, known, token)
}

// partsOf returns the queries that are parts of the question, in order.
func partsOf(queries []state.Query) []state.Query {
	var out []state.Query
	for _, q := range queries {
		if q.Part > 0 {
			out = append(out, q)
		}
	}
	return out
}

// question is what a task asks, with what it refers to.
func question(t state.Task) string {
	if c := complete(t.Queries); c != "" {
		return c
	}
	return oneLine(t.Question)
}

// sideBySide makes n texts at the same time. A panic becomes an error: it must not end
// the process.
func sideBySide(n int, do func(i int) (string, error)) ([]string, error) {
	out, faults := make([]string, n), make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					faults[i] = fmt.Errorf("the model's client failed: %v", v)
				}
			}()
			out[i], faults[i] = do(i)
		})
	}
	wait.Wait()
	for _, err := range faults {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// wholeSentences drops the sentence that a limit cut, if there is one before
// it.
func wholeSentences(s string) string {
	spans := text.Sentences(s)
	if len(spans) < 2 || strings.HasSuffix(s, ".") || strings.HasSuffix(s, "]") {
		return s
	}
	return strings.TrimSpace(s[:spans[len(spans)-2].End])
}
