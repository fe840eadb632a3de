package model

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// Writer writes answers with a model. It implements [nodes.Writer].
type Writer struct {
	Model *Answerer
	Stats Stats
}

var _ nodes.Writer = Writer{}

// Write implements nodes.Writer. If the prompt is too long for the model, it has fewer sources.
func (a Writer) Write(ctx context.Context, t state.Task, d nodes.Draft) (state.Answer, error) {
	write := func(t state.Task) (state.Answer, string, error) {
		return a.Model.stream(ctx, t, func() func(string) { return d.Write }, func(f llm.Fall) bool {
			return (!errors.Is(f.Err, llm.ErrContextLength) || len(t.Sources) == 1) && d.Restart()
		})
	}
	answer, by, err := write(t)
	for fewer := t; errors.Is(err, llm.ErrContextLength) && len(fewer.Sources) > 1; {
		fewer.Sources = fewer.Sources[:len(fewer.Sources)/2]
		fewer.Messages = fewer.Messages[max(0, len(fewer.Messages)-1):] // the question alone
		graph.Warn(ctx, fmt.Sprintf("The context window of the model %q is too small for all sources and messages, so it answers from the first %d of %d sources. LLM_CONTEXT_TOKENS sets its size.",
			by, len(fewer.Sources), len(t.Sources)))
		answer, by, err = write(fewer)
	}
	if err != nil {
		e, _ := errors.AsType[*llm.Error](err)
		return answer, &nodes.WriterError{Model: by, Err: err, Reported: e != nil && e.Skipped}
	}
	return withTerms(answer, a.Stats), nil
}

// withTerms adds the words of a model's answer to which later questions may refer.
func withTerms(answer state.Answer, stats Stats) state.Answer {
	answer.Terms = offline.Terms(stats, cite.Strip(answer.Text))
	return answer
}
