package eval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/llm"
	custom "example.com/ragflow/prompts"
)

// Judge grades answers with a model by a fixed rubric (see package prompts) at temperature 0. It is called
// only if [Options] hold one. It is safe for concurrent use if its model is.
type Judge struct {
	Chat   llm.Chat
	Custom custom.Set // custom prompts
}

// Judgement is a judge's result for one answer.
type Judgement struct {
	Scores map[string]float64 `json:"scores"` // by metric, 0 to 1; unreadable scores are missing
	ragflow.Usage
	CostUSD float64 `json:"cost_usd"`
	Error   string  `json:"error,omitempty"` // why there are no scores
}

// judgeTokens limits a reply: four lines with some words around them.
const judgeTokens = 200

// aspectCorrectness is reported as [MetricCorrectness]; the other aspects keep their names.
const aspectCorrectness = "correctness"

// ask grades one answer. If the model fails or its reply cannot be parsed, the judgement has no scores; the
// only error is the end of ctx.
func (j *Judge) ask(ctx context.Context, question, expected, answer string, quotes []string) (*Judgement, error) {
	said := prompts.Judge{
		Question: question, Expected: expected, Answer: answer, Quotes: quotes, Boundary: prompts.NewBoundary(), Custom: j.Custom,
	}.Render("en")
	out := &Judgement{Scores: map[string]float64{}}
	r, err := j.Chat.Complete(ctx, llm.Request{
		Messages:  []llm.Message{{Role: llm.System, Content: said.System}, {Role: llm.User, Content: said.User}},
		MaxTokens: judgeTokens,
	}, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		out.Error = err.Error()
	}
	out.Usage = ragflow.Usage{InputTokens: r.Usage.Input, OutputTokens: r.Usage.Output, TotalTokens: r.Usage.Input + r.Usage.Output, Calls: 1}
	out.CostUSD = r.CostUSD
	var scores prompts.Scores
	if err == nil {
		if scores, err = prompts.ParseJudge(r.Text); err != nil {
			out.Error = err.Error()
		}
	}
	for aspect, score := range scores {
		if aspect == aspectCorrectness {
			aspect = MetricCorrectness
		}
		out.Scores[aspect] = score
	}
	return out, nil
}

// judge grades an outcome and adds the scores as metrics. Refusals and failed questions are not sent. Without
// an expected answer, correctness and completeness are dropped.
func (o *Outcome) judge(ctx context.Context, j *Judge) error {
	if o.Error != "" || strings.TrimSpace(o.Reply.Answer) == "" || !o.answerable() {
		return nil
	}
	var quotes []string
	for _, c := range o.Reply.Citations {
		quotes = append(quotes, fmt.Sprintf("[Source %d] %s", c.N, c.Quote))
	}
	judged, err := j.ask(ctx, o.Question, o.ExpectedAnswer, o.Reply.Answer, quotes)
	if err != nil {
		return err
	}
	if o.ExpectedAnswer == "" {
		delete(judged.Scores, MetricCorrectness)
		delete(judged.Scores, MetricCompleteness)
	}
	o.Judgement = judged
	maps.Copy(o.Metrics, judged.Scores)
	o.decide()
	return nil
}

// errNoChat is the error of a judge without a model.
var errNoChat = errors.New("a judge needs a model")
