package eval_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/llm"
)

// still is a stopped clock, so that a run always has the same bytes.
func still() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func runSet(t *testing.T, a eval.Asker, d eval.Dataset, o eval.Options) *eval.Result {
	t.Helper()
	o.Clock = still
	r, err := eval.Run(t.Context(), a, d, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWorkers checks that the result has the same bytes for any number of workers, and that the turns of a
// dialogue are asked in order on one thread.
func TestWorkers(t *testing.T) {
	f := newFake(t)
	var want []byte
	for _, workers := range []int{1, 8} {
		r := runSet(t, f, set(20), eval.Options{Workers: workers})
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%d workers (-want +got):\n%s", workers, diff)
		}
		second := r.Outcomes[21]
		if got, want := second.Reply.Queries[0].Text, "+first|second"; second.ID != "d.2" || got != want {
			t.Errorf("%s was asked as %q, want %q", second.ID, got, want)
		}
	}
}

func TestMeasure(t *testing.T) {
	r := runSet(t, newFake(t), set(1), eval.Options{})
	want := []map[string]float64{ // quotes have no faithfulness, and without expected keywords there is no correctness
		{
			"answer_not_empty": 1, "answered": 1, "decision_accuracy": 1, "expected_keywords_present": 0.5,
			"citation_exact": 1, "citation_precision": 1, "citation_recall": 0.5,
			"page_first": 0, "page_in_5": 1, "page_in_10": 1, "page_in_10_lexical": 1, "page_in_10_dense": 1,
			"mrr": 0.5, "ndcg_10": 1 / math.Log2(3), "precision_5": 0.2,
		},
		{
			"answer_not_empty": 1, "answered": 1, "citation_exact": 1, "citation_precision": 0,
			"page_first": 1, "page_in_5": 1, "page_in_10": 1, "page_in_10_lexical": 1, "page_in_10_dense": 0,
			"mrr": 1, "ndcg_10": 1, "precision_5": 0.2,
		},
		{
			"answer_not_empty": 1, "answered": 1, "citation_exact": 1, "citation_precision": 0,
			"page_first": 0, "page_in_5": 0, "page_in_10": 0, "page_in_10_lexical": 0, "page_in_10_dense": 0,
			"mrr": 0, "ndcg_10": 0, "precision_5": 0,
		},
		{
			"answer_not_empty": 1, "abstention_recall": 1, "abstention_precision": 1, "decision_accuracy": 1, "citation_exact": 1,
		},
	}
	var got []map[string]float64
	for _, o := range r.Outcomes {
		got = append(got, o.Metrics)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

// TestTargetInReach checks that a target is not required that the dataset makes impossible.
func TestTargetInReach(t *testing.T) {
	for _, tt := range []struct {
		name     string
		relevant []string
		target   float64
	}{
		{"one relevant page of five", []string{"a.md"}, 0},
		{"four, and the target must be passed", []string{"a.md", "b.md", "c.md", "d.md"}, 0},
		{"five", []string{"a.md", "b.md", "c.md", "d.md", "e.md"}, 0.80},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := eval.Dataset{Items: []eval.Item{{ID: "1", Question: "volume?", Expected: eval.Expected{Relevant: tt.relevant}}}}
			m, ok := runSet(t, newFake(t), d, eval.Options{}).Summary.Metric(eval.MetricPrecision5)
			if !ok || m.Target != tt.target || (m.Reached != nil) != (tt.target > 0) {
				t.Errorf("target %v, reached %v, want target %v", m.Target, m.Reached, tt.target)
			}
		})
	}
}

// TestVerdicts checks that an answer without its keywords is wrong, however sure it is, and that without
// expectations there is no verdict.
func TestVerdicts(t *testing.T) {
	d := eval.Dataset{Items: []eval.Item{
		{ID: "right", Question: "volume?", Expected: eval.Expected{ExpectedKeywords: []string{"volume"}}},
		{ID: "wrong", Question: "number?", Expected: eval.Expected{ExpectedKeywords: []string{"42", "43"}}},
		{ID: "open", Question: "else?"},
	}}
	r := runSet(t, newFake(t), d, eval.Options{})
	if want := map[string]int{"right": 1, "wrong": 1, "not_measured": 1}; !maps.Equal(r.Summary.Verdicts, want) {
		t.Errorf("verdicts %+v, want %+v", r.Summary.Verdicts, want)
	}
	if m, _ := r.Summary.Metric(eval.MetricDecision); m.Mean != 0.5 || m.N != 2 {
		t.Errorf("decision accuracy %v of %d, want 0.5 of 2", m.Mean, m.N)
	}
	if g := r.Summary.Certainty; g == nil || *g != 0.5 {
		t.Errorf("certainty %+v, want right against wrong at chance: both answers are graded alike", g)
	}
	var table strings.Builder
	r = runSet(t, newFake(t), eval.Dataset{Items: d.Items[2:]}, eval.Options{})
	if err := eval.WriteTable(&table, r); err != nil || !strings.Contains(table.String(), "correctness was not measured") {
		t.Errorf("a dataset without expectations: %v\n%s", err, &table)
	}
}

// TestInexactQuote checks that a quote that differs from the file is found, whatever the reply claims.
func TestInexactQuote(t *testing.T) {
	f := newFake(t)
	lying := asker(func(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) {
		r, err := f.Ask(ctx, q)
		if err == nil {
			r.Citations[0].Start++
			r.Citations[0].End++
		}
		return r, err
	})
	r := runSet(t, lying, set(1), eval.Options{})
	o := r.Outcomes[0]
	if o.Metrics[eval.MetricCitationExact] != 0 || o.Exact[0] {
		t.Errorf("an inexact quote passes: %v", o.Metrics)
	}
}

// asker is a function that answers.
type asker func(context.Context, ragflow.Question) (*ragflow.Reply, error)

func (a asker) Ask(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) { return a(ctx, q) }

// TestFailures checks that a failed question is an outcome, and that an error of all questions ends the run
// with the outcomes so far.
func TestFailures(t *testing.T) {
	f := newFake(t)
	f.fail = func(q string) error {
		if strings.Contains(q, "number 2") {
			return errDown
		}
		return nil
	}
	r := runSet(t, f, set(3), eval.Options{Workers: 1})
	if r.Summary.Errors != 1 || r.Outcomes[1].Error != "the model is down" || r.Summary.Questions != 6 || !r.Complete {
		t.Errorf("errors %d of %d, %q", r.Summary.Errors, r.Summary.Questions, r.Outcomes[1].Error)
	}
	if got := r.Outcomes[1].Metrics[eval.MetricKeywords]; got != 0 {
		t.Errorf("a failed question has %v of its keywords, want 0", got)
	}
	f.fail = func(q string) error {
		if strings.Contains(q, "number 2") {
			return fmt.Errorf("save: %w", ragflow.ErrDiskFull)
		}
		return nil
	}
	r, err := eval.Run(t.Context(), f, set(3), eval.Options{Workers: 1})
	if !errors.Is(err, ragflow.ErrDiskFull) || r.Complete || len(r.Outcomes) != 1 || !strings.Contains(err.Error(), "q2") {
		t.Errorf("a full disk: %v, %d outcomes, complete %v", err, len(r.Outcomes), r.Complete)
	}
}

func TestEmptyDataset(t *testing.T) {
	if _, err := eval.Run(t.Context(), newFake(t), eval.Dataset{}, eval.Options{}); !errors.Is(err, eval.ErrEmptyDataset) {
		t.Errorf("an empty dataset: %v", err)
	}
}

// TestInterrupt checks that an interrupted run holds its outcomes and can be read again.
func TestInterrupt(t *testing.T) {
	f := newFake(t)
	ctx, cancel := context.WithCancel(t.Context())
	f.after = func(n int64) {
		if n == 4 {
			cancel()
		}
	}
	r, err := eval.Run(ctx, f, set(6), eval.Options{Workers: 1, Clock: still})
	if !errors.Is(err, context.Canceled) || r.Complete || len(r.Outcomes) != 3 {
		t.Fatalf("interrupted: %v, complete %v, %d outcomes", err, r.Complete, len(r.Outcomes))
	}
	path := filepath.Join(t.TempDir(), "run.json")
	data, err := json.Marshal(r)
	if err = errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
		t.Fatal(err)
	}
	got, err := eval.ReadResult(path)
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Errorf("read: %v (-want +got):\n%s", err, diff)
	}
	if err := os.WriteFile(path, data[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := eval.ReadResult(path); !errors.Is(err, eval.ErrRunFormat) {
		t.Errorf("a file that was cut: %v", err)
	}
}

// TestJudge checks that no model is called without a judge, and with one once for each answer.
func TestJudge(t *testing.T) {
	c := &chat{text: func(llm.Request) (string, error) {
		return "CORRECTNESS: 9\nRELEVANCE: 10\nCOHERENCE: 8/10", nil
	}}
	r := runSet(t, newFake(t), set(2), eval.Options{})
	if c.calls.Load() != 0 || r.Summary.Judged != nil || r.JudgeModel != "" {
		t.Errorf("judged without a judge: %d calls", c.calls.Load())
	}
	r = runSet(t, newFake(t), set(2), eval.Options{Judge: &eval.Judge{Chat: c}})
	if got := c.calls.Load(); got != 4 {
		t.Errorf("%d calls, want 4: what was declined is not graded", got)
	}
	j := r.Summary.Judged
	want := &eval.JudgedSummary{Answers: 4, Tokens: eval.Tokens{Input: 40, Output: 16, Total: 56, Calls: 4}, CostUSD: 0.004}
	if diff := cmp.Diff(want, j); diff != "" {
		t.Errorf("judged (-want +got):\n%s", diff)
	}
	for name, want := range map[string][2]float64{"qa_correctness": {0.9, 2}, "relevance": {1, 4}, "coherence": {0.8, 4}} {
		if m, ok := r.Summary.Metric(name); !ok || m.Mean != want[0] || float64(m.N) != want[1] {
			t.Errorf("%s = %+v, want %v of %v answers", name, m, want[0], want[1])
		}
	}
	if _, ok := r.Summary.Metric(eval.MetricCompleteness); ok {
		t.Error("a score that was not given is counted")
	}
	if _, err := eval.Run(t.Context(), newFake(t), set(1), eval.Options{Judge: &eval.Judge{}}); err == nil {
		t.Error("a judge without a model is no error")
	}
}

// TestJudgeFails checks that a judge that fails or writes prose leaves no scores, and that the run continues.
func TestJudgeFails(t *testing.T) {
	for _, tt := range []struct {
		name, reply string
		err         error
	}{{"down", "", errDown}, {"prose", "What a fine answer!", nil}} {
		t.Run(tt.name, func(t *testing.T) {
			c := &chat{text: func(llm.Request) (string, error) { return tt.reply, tt.err }}
			r := runSet(t, newFake(t), set(1), eval.Options{Judge: &eval.Judge{Chat: c}})
			if j := r.Summary.Judged; j.Failed != 3 || r.Outcomes[0].Judgement.Error == "" {
				t.Errorf("judged %+v", j)
			}
		})
	}
}

// TestJudgePrompt checks that the judge is called at temperature 0, with data between boundaries.
func TestJudgePrompt(t *testing.T) {
	c := &chat{text: func(r llm.Request) (string, error) {
		if r.Temperature != 0 || len(r.Messages) != 2 || !strings.Contains(r.Messages[0].Content, "=== ") || strings.Contains(r.Messages[0].Content, "A volume") ||
			!strings.Contains(r.Messages[1].Content, "A volume keeps data.") {
			return "", fmt.Errorf("request %+v", r)
		}
		return "RELEVANCE: 1", nil
	}}
	if r := runSet(t, newFake(t), set(1), eval.Options{Judge: &eval.Judge{Chat: c}}); r.Summary.Judged.Failed != 0 {
		t.Error(r.Outcomes[0].Judgement.Error)
	}
}

func ExampleRun() {
	ctx := context.Background()
	assistant, err := ragflow.Open(ctx, ragflow.Config{Docs: []string{"../docs"}, Dense: noVectors})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = assistant.Close() }()
	dataset, err := eval.Load("guide")
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := eval.Run(ctx, assistant, dataset, eval.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	pages, _ := result.Summary.Metric(eval.MetricPageIn5)
	fmt.Printf("%d questions, relevant page among the first five: %.0f %%\n", result.Summary.Questions, 100*pages.Mean)
	// Output: 8 questions, relevant page among the first five: 100 %
}

func TestHostileContent(t *testing.T) {
	f := newFake(t)
	const evil = "<script>alert(1)</script><img src=http://x/y.png onerror=alert(2)> ]]> </style> {{.}} \u202e\x1b[31m javascript:alert(3)"
	d := eval.Dataset{Name: evil, Items: []eval.Item{{
		ID: "=cmd|' /C calc'!A0 <b>", Kind: evil, Lang: evil, Question: evil, Expected: eval.Expected{ExpectedKeywords: []string{evil}, ExpectedAnswer: evil, Relevant: []string{evil}},
	}}}
	hostile := asker(func(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) {
		r, err := f.Ask(ctx, q)
		if err == nil {
			r.Answer = evil + strings.Repeat("long ", 100_000)
			r.Citations[0].Source, r.Citations[0].Quote, r.Citations[0].Title = evil, evil, evil
			r.Retrieved[0].Source, r.Retrieved[0].Legs[0].Name = evil, evil
			r.Queries[0].Text, r.Queries[0].Why, r.Model, r.Warnings = evil, evil, evil, []string{evil}
		}
		return r, err
	})
	o := eval.Options{Clock: still, Model: evil}
	r, err := eval.Run(t.Context(), hostile, d, o)
	if err != nil {
		t.Fatal(err)
	}
	var page, table bytes.Buffer
	if err := errors.Join(eval.WriteHTML(&page, r), eval.WriteCSV(&table, r)); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "<img", "A0 <b>", "\u202e", "\x1b", "ZgotmplZ"} {
		if strings.Contains(page.String(), bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if got := strings.Count(page.String(), "</style>"); got != 1 {
		t.Errorf("%d ends of style, want 1", got)
	}
	if page.Len() > 400_000 {
		t.Errorf("a page of %d bytes for one huge answer", page.Len())
	}
	if !strings.Contains(table.String(), "'=cmd") {
		t.Error("a formula came into the CSV")
	}
}
