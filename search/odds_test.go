package search_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// dull is an embedder to which texts are one of two kinds, whatever they say.
type dull struct{}

func (dull) Model() string { return "dull" }

func (dull) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	return llm.Embeddings{Vectors: [][]float32{dullVector(texts[0])}}, nil
}

func dullVector(text string) []float32 { return []float32{1, float32(len(text) % 2)} }

// TestOdds: of twenty pages that say the same of another herb, and the page that is asked for, words and
// meaning each decide where the other cannot tell. The list has the chances of both.
func TestOdds(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, title, page, query string
		embedder                 llm.Embedder
		vector                   func(string) []float32
		note                     string // begins so
	}{
		{"meaning decides", "Basil", "You water the basil daily.", "jak podlewać bazylię na sand number", &meaning{}, meaningOf, "searched mostly by meaning"},
		{"words decide", "Errors", "The code X4711 comes of " + strings.Repeat("disks that are full and fans that stand still and ", 9), "which herb is X4711", dull{}, dullVector, ""},
		{"both agree", "Basil", "You water the basil daily.", "how often do you water the basil", &meaning{}, meaningOf, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := open(t)
			entries := []search.Entry{file("asked.md", tt.title, tt.page)}
			for i := range 20 {
				text := fmt.Sprintf("Herb %c grows on sand number %d%s.", 'a'+i, i, strings.Repeat(" and stone", i%2))
				entries = append(entries, file(fmt.Sprintf("herb-%c.md", 'a'+i), fmt.Sprintf("Herb %c", 'a'+i), text))
			}
			put(t, db, "/docs", entries...)
			embedAs(t, db, "/docs", tt.embedder.Model(), tt.vector)
			s := snapshotOf(t, db, "/docs")
			chances := offline.New(s, 0).Reranker
			l := list(t, engineOf(t, s, search.Options{Embedder: tt.embedder, Offline: chances, List: chances}), tt.query, search.Request{K: 40})
			if len(l.Hits) == 0 || l.Hits[0].Chunk.ID != "asked.md#0" {
				t.Errorf("the first of %d hits is not the page asked for: %+v", len(l.Hits), l.Hits[:min(1, len(l.Hits))])
			}
			if !strings.HasPrefix(l.Note, tt.note) || tt.note == "" && l.Note != "" {
				t.Errorf("note %q, want %q", l.Note, tt.note)
			}
			last, sum := 1.0, 0.0
			for i, h := range l.Hits {
				if h.Rerank == nil || *h.Rerank > last {
					t.Fatalf("hit %d: %+v", i, h)
				}
				last = *h.Rerank
				sum += last
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Errorf("the chances add up to %v", sum)
			}
		})
	}
}
