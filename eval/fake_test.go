package eval_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// fake answers from one page. It counts the turns of each thread, so that a dialogue in the wrong order shows
// in the answers.
type fake struct {
	page  string // path of the page
	asked atomic.Int64
	fail  func(question string) error // may be nil
	after func(n int64)               // called with the number of questions asked; may be nil
}

const pageText = "# Page\n\nA volume keeps data. Ports are published with -p.\n"

func newFake(t *testing.T) *fake {
	t.Helper()
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte(pageText), 0o600); err != nil {
		t.Fatal(err)
	}
	return &fake{page: page}
}

func (f *fake) Ask(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) {
	n := f.asked.Add(1)
	if f.after != nil {
		f.after(n)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if f.fail != nil {
		if err := f.fail(q.Text); err != nil {
			return nil, err
		}
	}
	const quote = "A volume keeps data."
	at := strings.Index(pageText, quote)
	r := &ragflow.Reply{
		ThreadID: q.Thread + "+" + q.Text, Question: q.Text, Model: "offline",
		Answer:    quote + " [Source 1]",
		Grade:     ragflow.GradeReply{Score: 0.75, Attempts: 1},
		Queries:   []state.Query{{Text: q.Thread + "|" + q.Text, Weight: 1, Why: "as asked", Attempt: 1}},
		Citations: []ragflow.CitationReply{{Path: f.page, Citation: state.Citation{N: 1, Source: "page.md", Start: at, End: at + len(quote), StartLine: 3, EndLine: 3, Quote: quote, Score: 1}}},
		Retrieved: []ragflow.HitReply{
			{ChunkID: "1", Source: "other.md", Score: 0.5, Legs: []state.Leg{{Name: search.LegLexical, Rank: 1}}},
			{ChunkID: "2", Source: "page.md", Score: 0.4, Legs: []state.Leg{{Name: search.LegLexical, Rank: 2}, {Name: search.LegDense, Rank: 1}}},
			{ChunkID: "3", Source: "page.md", Score: 0.3},
		},
	}
	r.Chunks = ragflow.ChunkCounts{Total: 9, Retrieved: 3, Context: 2, Used: 1, ContextTokens: 120}
	if strings.Contains(q.Text, "unknown") {
		r.Abstained, r.Grade.Score = true, 0.2
	}
	return r, nil
}

// set returns a dataset of n questions, a dialogue and an unanswerable question.
func set(n int) eval.Dataset {
	d := eval.Dataset{Name: "set"}
	for i := range n {
		d.Items = append(d.Items, eval.Item{
			ID: fmt.Sprintf("q%d", i+1), Lang: "en", Kind: "fact", Question: fmt.Sprintf("What is it, number %d?", i+1),
			Expected: eval.Expected{ExpectedKeywords: []string{"volume", "backup"}, ExpectedAnswer: "A volume keeps data.", Relevant: []string{"page.md"}},
		})
	}
	d.Items = append(d.Items, eval.Item{ID: "d", Lang: "en", Turns: []eval.Turn{
		{Turn: 1, Question: "first", Expected: eval.Expected{Relevant: []string{"other.md"}}},
		{Turn: 2, Question: "second", Expected: eval.Expected{Relevant: []string{"none.md"}}},
	}}, eval.Item{ID: "n", Lang: "en", Kind: eval.NoAnswer, Question: "something unknown"})
	return d
}

// chat is a model that always answers with the same text, and counts calls.
type chat struct {
	calls atomic.Int64
	text  func(llm.Request) (string, error)
}

func (*chat) Model() string { return "grader" }

func (c *chat) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	c.calls.Add(1)
	text, err := c.text(r)
	return llm.Response{Text: text, Usage: llm.Usage{Input: 10, Output: 4}, CostUSD: 0.001}, err
}

var errDown = errors.New("the model is down")

// judgeText grades by the length of the request: an arbitrary but deterministic judge.
func judgeText(r llm.Request) (string, error) {
	n := len(r.Messages[1].Content) % 11
	return fmt.Sprintf("CORRECTNESS: %d\nRELEVANCE: %d\nCOMPLETENESS: %d\nCOHERENCE: 10", n, 10-n, n/2), nil
}
