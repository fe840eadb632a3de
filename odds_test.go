package ragflow_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm"
)

// herbs are twenty pages, each of which says the same of another herb, and the page
// that is asked for.
func herbs(t *testing.T, page string) []string {
	t.Helper()
	texts := map[string]string{"asked.md": page}
	for i := range 20 {
		text := fmt.Sprintf("# Herb %c\n\nHerb %c grows on sand number %d%s.", 'a'+i, 'a'+i, i, strings.Repeat(" and stone", i%2))
		texts[fmt.Sprintf("herb-%c.md", 'a'+i)] = text
	}
	return pages(t, texts)
}

// dull is an embedder to which texts are one of two kinds, whatever they say.
type dull struct{}

func (dull) Model() string { return "dull" }

func (dull) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	out := llm.Embeddings{Model: "dull", Calls: 1}
	for _, t := range texts {
		out.Vectors = append(out.Vectors, []float32{1, float32(len(t) % 2)})
	}
	return out, nil
}

// TestOdds: words and meaning each decide where the other cannot tell, the list has
// the chances of both.
func TestOdds(t *testing.T) {
	for _, tt := range []struct {
		name, page, query string
		embedder          llm.Embedder
		note              string // begins so
	}{
		{"meaning decides", "# Basil\n\nYou water the basil daily.", "jak podlewać bazylię na sand number", newMeaning("meaning"), "searched mostly by meaning"},
		{"words decide", "# Errors\n\nThe code X4711 comes of " + strings.Repeat("disks that are full and fans that stand still and ", 9), "which herb is X4711", dull{}, ""},
		{"both agree", "# Basil\n\nYou water the basil daily.", "how often do you water the basil", newMeaning("meaning"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := open(t, ragflow.Config{Models: ragflow.Models{Embedder: tt.embedder}, Docs: herbs(t, tt.page)})
			indexed(t, a)
			r := searchLeg(t, a, tt.query, 40, "")
			if len(r.Hits) == 0 || r.Hits[0].Source != "asked.md" {
				t.Errorf("the first of %d hits is not the page asked for: %+v", len(r.Hits), r.Hits[:min(1, len(r.Hits))])
			}
			if !strings.HasPrefix(r.Note, tt.note) || tt.note == "" && r.Note != "" {
				t.Errorf("note %q, want %q", r.Note, tt.note)
			}
			last, sum := 1.0, 0.0
			for i, h := range r.Hits {
				if h.RerankScore == nil || *h.RerankScore > last || h.Rank != i+1 {
					t.Fatalf("hit %d: %+v", i, h)
				}
				last = *h.RerankScore
				sum += last
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("the chances add up to %v", sum)
			}
		})
	}
}
