package eval_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/search"
)

// TestFloorsInAClone measures search and abstention on the guide of this repository, so that a clone without
// public data has quality floors, too.
func TestFloorsInAClone(t *testing.T) {
	lines, err := os.ReadFile("testdata/guide_questions.tsv")
	if err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{"../docs"}, Dense: noVectors})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var answerable, first, inFive, absent, declined int
	for line := range strings.Lines(string(lines)) {
		pages, question, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		if pages == "-" {
			absent++
			if r, err := a.Ask(t.Context(), ragflow.Question{Text: question}); err != nil {
				t.Fatal(err)
			} else if r.Abstained {
				declined++
			}
			continue
		}
		found, err := a.Search(t.Context(), question, ragflow.SearchOptions{Request: search.Request{K: 20}, Plain: true})
		if err != nil {
			t.Fatal(err)
		}
		var ranking []string // pages, best first
		for _, h := range found.Hits {
			if !slices.Contains(ranking, h.Source) {
				ranking = append(ranking, h.Source)
			}
		}
		answerable++
		rank := slices.IndexFunc(ranking, func(p string) bool { return slices.Contains(strings.Split(pages, ","), p) })
		if rank == 0 {
			first++
		}
		if rank >= 0 && rank < 5 {
			inFive++
		}
	}
	t.Logf("page first %d, among five %d of %d; declined %d of %d", first, inFive, answerable, declined, absent)
	if share := float64(inFive) / float64(answerable); share < 0.8 {
		t.Errorf("the right page is among the first five for %.2f of the questions, want 0.80", share)
	}
	if share := float64(declined) / float64(absent); share < 0.5 {
		t.Errorf("%.2f of the questions without an answer are declined, want 0.50", share)
	}
}
