//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package ragflow

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// spread embeds a text as a vector made of its bytes.
type spread struct{}

func (spread) Model() string { return "spread" }

func (spread) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	var out llm.Embeddings
	for _, t := range texts {
		v := make([]float32, 64)
		for i, b := range []byte(t) {
			v[(i*7+int(b))%len(v)]++
		}
		out.Vectors = append(out.Vectors, v)
	}
	return out, nil
}

// TestHybridAllocations holds what one search by words and by meaning allocates,
// from the query, whose vector is known, to the fused hits: that must not grow with the index.
func TestHybridAllocations(t *testing.T) {
	const (
		most  = 48 // 44 when it was written
		query = "volume backup container network"
	)
	counts := map[int]float64{}
	for _, documents := range []int{300, 1200} {
		a, err := Open(t.Context(), Config{DataDir: t.TempDir(), Embedder: spread{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		if _, err := a.IndexRecords(t.Context(), "records", 0, func(yield func(Record, error) bool) {
			for i := range documents {
				words := []string{"volume", "backup", "container", "network", "image"}
				text := fmt.Sprintf("%s and %s of number %d keep what %s has", words[i%5], words[i/5%5], i, words[i/25%5])
				if !yield(Record{ID: strconv.Itoa(i), Text: text}, nil) {
					return
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Reembed(t.Context()); err != nil {
			t.Fatal(err)
		}
		e, err := a.current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counts[documents] = testing.AllocsPerRun(20, func() {
			found, err := e.searcher.search(t.Context(), state.Query{Text: query, Weight: 1}, 10, 0, LegHybrid)
			if len(found.hits) != 10 || len(found.warnings) != 0 || err != nil {
				t.Fatalf("%d hits, warnings %q, %v", len(found.hits), found.warnings, err)
			}
		})
		t.Logf("%d documents: %.0f allocations", documents, counts[documents])
	}
	if counts[1200] > most || counts[1200] > counts[300]+2 {
		t.Errorf("one search allocates %v times, by documents; want at most %d, and no more among more documents", counts, most)
	}
}
