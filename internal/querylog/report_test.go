package querylog_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/internal/querylog"
)

func at(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }

// answered is a question that was answered in a time.
func answered(minute int, question, collection, owner string, ms float64) querylog.Entry {
	e := querylog.Entry{
		Kind: querylog.Ask, Time: at(minute), Question: question, Owner: owner, Hits: 3, Attempts: 1, Citations: 1, Model: "offline",
		LatencyMS: map[string]float64{"total": ms, "retrieval": ms / 2, "generate": ms / 4},
	}
	if collection != "" {
		e.Collections = []string{collection}
	}
	return e
}

// TestReport counts by hand what a few entries of every kind say.
func TestReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	declined := answered(2, "Where can I park?", "", "anna", 300)
	declined.Abstained, declined.Citations, declined.Attempts = true, 0, 2
	nothing := answered(3, "xyzzy", "law", "", 400)
	nothing.Abstained, nothing.Hits, nothing.Citations = true, 0, 0
	failed := answered(4, "Who pays?", "law", "", 500)
	failed.Error, failed.Hits = "the model is gone", 0
	cancelled := failed
	cancelled.Error = querylog.Cancelled
	paid := answered(5, "who approves leave", "law", "", 100)
	paid.Cached = querylog.Similar
	paid.Model, paid.CostUSD, paid.InputTokens, paid.OutputTokens = "gpt", 0.25, 1000, 50
	again := answered(1, "Who approves leave?", "", "anna", 200)
	again.Cached = querylog.Same
	thanks := querylog.Entry{Kind: querylog.Ask, Time: at(6), Question: "thanks", LatencyMS: map[string]float64{"total": 10}} // searches nothing
	found := querylog.Entry{Kind: querylog.Search, Time: at(7), Question: "leave", Hits: 5, LatencyMS: map[string]float64{"total": 20}}
	found.Cached = querylog.Same
	empty := querylog.Entry{Kind: querylog.Search, Time: at(8), Question: "XYZZY", LatencyMS: map[string]float64{"total": 40}}
	lost := querylog.Entry{Kind: querylog.Lost, Time: at(9), Lost: 7}
	add(t, path, querylog.Options{}, again, declined, nothing, failed, cancelled, paid, thanks, found, empty, lost)

	got := analyze(t, path, nil)
	counts := querylog.Counts{
		Questions: 7, Answered: 3, Declined: 2, Failed: 1, Cancelled: 1, Retried: 1, Searches: 2, Empty: 2, Cached: 2, Similar: 1, CachedSearches: 1, CachedRate: 2. / 5,
		DeclinedRate: 2. / 5, FailedRate: 1. / 7, EmptyRate: 2. / 7, P95MS: 500, CostUSD: 0.25, InputTokens: 1000, OutputTokens: 50,
	}
	want := &querylog.Report{
		Counts: counts,
		Stages: []querylog.Stage{
			{"total", 7, 300, 500, 500, 1},
			{"search", 2, 20, 40, 40, 0},
			{"retrieval", 6, 150, 250, 250, 1000. / 2010},
			{"generate", 6, 75, 125, 125, 500. / 2010},
		},
		Top: []querylog.Asked{
			{"Who approves leave?", 2, at(5)}, {"Who pays?", 2, at(4)}, {"thanks", 1, at(6)}, {"xyzzy", 1, at(3)}, {"Where can I park?", 1, at(2)},
		},
		Unanswered: []querylog.Asked{{"xyzzy", 2, at(8)}, {"Where can I park?", 1, at(2)}},
		Gaps:       []querylog.Gap{{2, []string{"xyzzy"}}},
		Errors:     []querylog.Asked{{"the model is gone", 1, at(4)}},
		Missing:    7,
	}
	groups := cmpopts.IgnoreFields(querylog.Report{}, "Collections", "Owners", "Models")
	if d := cmp.Diff(want, got, groups, cmpopts.EquateApprox(0, 1e-9)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	var lines []string
	for _, list := range [][]querylog.Group{got.Collections, got.Owners, got.Models} {
		for _, g := range list {
			lines = append(lines, fmt.Sprintf("%q: %d questions, %d searches, %d declined, %d failed, %d empty, %v ms, $%v", g.Name, g.Questions, g.Searches, g.Declined, g.Failed, g.Empty, g.P95MS, g.CostUSD))
		}
	}
	wantLines := []string{
		`"": 3 questions, 2 searches, 1 declined, 0 failed, 1 empty, 300 ms, $0`,
		`"law": 4 questions, 0 searches, 1 declined, 1 failed, 1 empty, 500 ms, $0.25`,
		`"": 5 questions, 2 searches, 1 declined, 1 failed, 2 empty, 500 ms, $0.25`,
		`"anna": 2 questions, 0 searches, 1 declined, 0 failed, 0 empty, 300 ms, $0`,
		`"offline": 5 questions, 0 searches, 2 declined, 1 failed, 1 empty, 500 ms, $0`,
		`"gpt": 1 questions, 0 searches, 0 declined, 0 failed, 0 empty, 100 ms, $0.25`,
	}
	if d := cmp.Diff(wantLines, lines); d != "" {
		t.Errorf("groups (-want +got)\n%s", d)
	}

	for _, tt := range []struct {
		name                string
		query               querylog.Query
		questions, searches int
	}{
		{"collection", querylog.Query{Collections: []string{"law"}}, 4, 0},
		{"owner", querylog.Query{Owner: "anna"}, 2, 0},
		{"both", querylog.Query{Owner: "anna", Collections: []string{"law"}}, 0, 0},
		{"from", querylog.Query{From: at(5)}, 2, 2},
		{"future", querylog.Query{From: at(1000)}, 0, 0},
	} {
		r, err := querylog.Analyze(t.Context(), path, nil, tt.query)
		if err != nil || r.Questions != tt.questions || r.Searches != tt.searches {
			t.Errorf("%s: %d questions, %d searches, %v, want %d and %d", tt.name, r.Questions, r.Searches, err, tt.questions, tt.searches)
		}
	}
}

// TestGaps compares what people ask by its words. TestWhatDocumentsLack of package ragflow does so
// by meaning, with the same questions.
func TestGaps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	var entries []querylog.Entry
	for i, question := range []string{
		"How do I get a parking permit?", "Where can I park my car?", "Is there parking for employees?", "parking space for visitors",
		"Does the company pay for gym membership?", "gym subsidy", "Can I get money for a fitness club?",
		"On which day are salaries paid?", "When is payday?",
		"Who is the CEO?", "How do I print double-sided?", "What is the capital of France?",
	} {
		e := answered(i, question, "", "", 1)
		e.Abstained = true
		entries = append(entries, e)
	}
	entries = append(entries, entries[0], entries[0], entries[4]) // asked again
	add(t, path, querylog.Options{}, entries...)
	want := []querylog.Gap{
		{3, []string{"How do I get a parking permit?"}},
		{3, []string{"parking space for visitors", "Is there parking for employees?", "Where can I park my car?"}},
		{2, []string{"Does the company pay for gym membership?"}},
	}
	failing := func(context.Context, []string) ([][]float32, error) { return nil, errors.New("no model") }
	for notes, vectors := range []func(context.Context, []string) ([][]float32, error){nil, failing} {
		for range 3 { // always the same
			r, err := querylog.Analyze(t.Context(), path, nil, querylog.Query{Vectors: vectors})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, r.Gaps); d != "" || (r.Note != "") != (notes == 1) {
				t.Errorf("note %q (-want +got)\n%s", r.Note, d)
			}
		}
	}
}
