package eval

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/llm"
	"example.com/ragflow/prompts"
)

// Judge is a model that grades answers by a fixed rubric (see package prompts),
// at temperature 0. It is asked only where [Options] holds one. It is safe for
// concurrent use as far as its model is.
type Judge struct {
	Chat llm.Chat
}

// Judgement is what a judge said of one answer.
type Judgement struct {
	Scores       map[string]float64 `json:"scores"`            // by aspect, 0 to 1; those that could not be read are left out
	Missing      []string           `json:"missing,omitempty"` // aspects asked for that could not be read: n/a
	Calls        int64              `json:"calls"`
	InputTokens  int64              `json:"input_tokens"`
	OutputTokens int64              `json:"output_tokens"`
	CostUSD      float64            `json:"cost_usd"`
	Error        string             `json:"error,omitempty"` // why there are no scores
}

// judgeTokens bounds a reply: four lines, and room for words around them.
const judgeTokens = 200

const (
	aspectCorrectness  = "correctness"
	aspectCompleteness = "completeness"
)

// aspectMetric is the metric that an aspect's scores are reported as.
func aspectMetric(aspect string) string {
	if aspect == aspectCorrectness {
		return MetricCorrectness
	}
	return aspect
}

// ask has one answer graded. A model that fails or writes what cannot be read
// makes a judgement without scores; the only error is the end of ctx.
func (j *Judge) ask(ctx context.Context, question, expected, answer string, quotes []string) (*Judgement, error) {
	said := prompts.Judge{
		Question: question, Expected: expected, Answer: answer, Quotes: quotes, Boundary: prompts.NewBoundary(),
	}.Render("en")
	out := &Judgement{Scores: map[string]float64{}, Calls: 1}
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
	out.InputTokens, out.OutputTokens, out.CostUSD = r.Usage.Input, r.Usage.Output, r.CostUSD
	if err == nil {
		var scores prompts.Scores
		if scores, err = prompts.ParseJudge(r.Text); err != nil {
			out.Error = err.Error()
		}
		maps.Copy(out.Scores, scores)
	}
	for _, aspect := range prompts.Aspects() {
		if _, ok := out.Scores[aspect]; ok {
			continue
		}
		if expected != "" || aspect != aspectCorrectness && aspect != aspectCompleteness {
			out.Missing = append(out.Missing, aspect)
		}
	}
	return out, nil
}

// judge has an outcome graded and keeps the scores as metrics. What declines to
// answer and what failed is not sent: there is nothing to grade. Without an
// expected answer, correctness and completeness are nobody's to tell.
func (o *Outcome) judge(ctx context.Context, j *Judge) error {
	if o.Error != "" || strings.TrimSpace(o.Answer) == "" || !o.answerable() {
		return nil
	}
	var quotes []string
	for _, c := range o.Citations {
		quotes = append(quotes, fmt.Sprintf("[Source %d] %s", c.N, c.Quote))
	}
	judged, err := j.ask(ctx, o.Question, o.ExpectedAnswer, o.Answer, quotes)
	if err != nil {
		return err
	}
	if o.ExpectedAnswer == "" {
		delete(judged.Scores, aspectCorrectness)
		delete(judged.Scores, aspectCompleteness)
	}
	o.Judgement = judged
	for aspect, score := range judged.Scores {
		o.Metrics[aspectMetric(aspect)] = score
	}
	o.decide()
	o.Trouble = o.troubles()
	return nil
}

// Agreement tells how far a judge agrees with the authors of this program on a
// small set of answers of known quality, before one believes what it says of others.
type Agreement struct {
	Items   int               `json:"items"`
	Aspects []AspectAgreement `json:"aspects"`
	Calls   int64             `json:"calls"`
	Input   int64             `json:"input_tokens"`
	Output  int64             `json:"output_tokens"`
	CostUSD float64           `json:"cost_usd"`
	Errors  []string          `json:"errors,omitempty"` // each reason once
}

// AspectAgreement is the agreement on one aspect.
type AspectAgreement struct {
	Aspect string  `json:"aspect"`
	N      int     `json:"n"` // answers with a score that could be read
	Kappa  float64 `json:"kappa"`
	Exact  float64 `json:"exact"` // share of answers given the very score of the first reading

	// Readers is the κ of the two readings of the set with each other, over all of
	// its answers.
	Readers float64 `json:"readers_kappa"`
}

// TrustedKappa is the agreement from which on a judge is worth listening to; a
// rule of thumb.
const TrustedKappa = 0.7

// Agreement asks the judge about a built-in set of answers that the authors of
// this program read twice, each reading blind to the other, one call for each, workers at a time.
func (j *Judge) Agreement(ctx context.Context, workers int) (*Agreement, error) {
	set, err := judgedByHand()
	if err != nil {
		return nil, err
	}
	judged := make([]*Judgement, len(set))
	err = inParallel(ctx, len(set), workers, func(ctx context.Context, i int) error {
		var err error
		judged[i], err = j.ask(ctx, set[i].Question, set[i].Expected, set[i].Answer, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &Agreement{Items: len(set)}
	for _, g := range judged {
		out.Calls += g.Calls
		out.Input += g.InputTokens
		out.Output += g.OutputTokens
		out.CostUSD += g.CostUSD
		if g.Error != "" && !slices.Contains(out.Errors, g.Error) {
			out.Errors = append(out.Errors, g.Error)
		}
	}
	for _, aspect := range prompts.Aspects() {
		var hand, model, first, second []int
		for i, g := range judged {
			first, second = append(first, set[i].Scores[aspect]), append(second, set[i].Second[aspect])
			if score, ok := g.Scores[aspect]; ok {
				hand = append(hand, set[i].Scores[aspect])
				model = append(model, int(10*score+0.5))
			}
		}
		kappa, exact := QuadraticKappa(hand, model, 10)
		readers, _ := QuadraticKappa(first, second, 10)
		out.Aspects = append(out.Aspects, AspectAgreement{aspect, len(hand), kappa, exact, readers})
	}
	return out, nil
}

// QuadraticKappa is Cohen's κ with quadratic weights (Cohen 1968) of two
// raters who gave whole numbers from 0 to most, and the share of pairs that are
// equal. κ is 1 for full agreement, 0 for that of chance, and may be negative;
// where chance leaves no room for disagreement, it is 0 unless all are equal.
func QuadraticKappa(a, b []int, most int) (kappa, exact float64) {
	if len(a) == 0 || len(a) != len(b) {
		return 0, 0
	}
	countA, countB := make([]float64, most+1), make([]float64, most+1)
	observed, equal := 0.0, 0
	for i := range a {
		x, y := min(max(a[i], 0), most), min(max(b[i], 0), most)
		countA[x]++
		countB[y]++
		observed += float64((x - y) * (x - y))
		if x == y {
			equal++
		}
	}
	n := float64(len(a))
	exact = float64(equal) / n
	expected := 0.0
	for x := range countA {
		for y := range countB {
			expected += float64((x-y)*(x-y)) * countA[x] * countB[y] / n
		}
	}
	if expected == 0 {
		return exact, exact // both gave one and the same score throughout
	}
	return 1 - observed/expected, exact
}

// errNoChat is a judge without a model.
var errNoChat = errors.New("a judge needs a model")

//go:embed judged.jsonl
var judgedFile []byte

// byHand is an answer that was graded twice with the rubric of the judge. An author
// of this program made the first grading. A language model made the second one without
// seeing the first. No panel of people took part. A judge cannot be asked to agree more
// than the two gradings do.
type byHand struct {
	Question string         `json:"question"`
	Expected string         `json:"expected"`
	Answer   string         `json:"answer"`
	Scores   map[string]int `json:"scores"` // by aspect, 0 to 10; what a judge is compared with
	Second   map[string]int `json:"second"` // the second reading
}

func judgedByHand() ([]byHand, error) {
	var out []byHand
	for line := range bytes.Lines(judgedFile) {
		var item byHand
		if err := json.Unmarshal(line, &item); err != nil {
			return nil, fmt.Errorf("answers read by the authors: %w", err)
		}
		out = append(out, item)
	}
	return out, nil
}
