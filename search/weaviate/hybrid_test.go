package weaviate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// letters embeds a text by the number of its letters a and b.
type letters struct{}

func (letters) Model() string { return "letters" }

func (l letters) Embed(ctx context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	vectors, err := l.embed(ctx, texts)
	return llm.Embeddings{Vectors: vectors}, err
}

func (letters) embed(_ context.Context, texts []string) (out [][]float32, err error) {
	for _, text := range texts {
		out = append(out, []float32{float32(strings.Count(text, "a")), float32(strings.Count(text, "b"))})
	}
	return out, nil
}

// With hybrid=server the server ranks by words and vectors. A process without it shares the
// words of the collection, not the vectors, and what it deletes is gone from both.
func TestIntegrationHybrid(t *testing.T) {
	where := address(t)
	db := open(t, where+"&hybrid=server")
	pages := []search.Entry{page("1", "kiwi aaaa"), page("2", "kiwi bbbb"), page("3", "plum aaaa"), page("4", "plum bbbb")}
	if err := db.Put(t.Context(), "/docs", pages); err != nil {
		t.Fatal(err)
	}
	find := func() search.Found {
		t.Helper()
		s, err := db.Snapshot(t.Context(), "/docs")
		if err != nil {
			t.Fatal(err)
		}
		e, err := search.New(t.Context(), s, search.Options{Embedder: letters{}})
		if err != nil {
			t.Fatal(err)
		}
		found, err := e.Search(t.Context(), state.Query{Text: "kiwi aa", Weight: 1}, 3)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	ids := func(f search.Found) (out []string) {
		for _, h := range f.Hits {
			out = append(out, h.Chunk)
		}
		return out
	}
	if before := find(); len(before.Warnings) != 1 || !slices.Equal(slices.Sorted(slices.Values(ids(before))), []string{"1#0", "2#0"}) {
		t.Errorf("by words, without vectors: %v, warnings %q", ids(before), before.Warnings)
	}
	embed := search.EmbedOptions{Embed: letters{}.embed}
	if _, err := db.Embed(t.Context(), search.VectorSpec{Model: "letters"}, []string{"/docs"}, embed); err != nil {
		t.Fatal(err)
	}
	found := find()
	got := ids(found)
	if len(got) != 3 || got[0] != "1#0" || slices.Contains(got, "4#0") || found.Hits[0].Legs[0].Name != search.LegHybrid || len(found.Warnings) > 0 {
		t.Errorf("hits %+v, warnings %q; want 1#0, with the word and the letters, and then those with one of both", found.Hits, found.Warnings)
	}
	plain := open(t, where)
	if err := plain.Delete(t.Context(), "/docs", "1"); err != nil {
		t.Fatal(err)
	}
	store := db.(*remote.DB).Store()
	made, err := store.Embedders(t.Context())
	if err != nil || len(made) != 1 {
		t.Fatalf("embedders %v, %v", made, err)
	}
	if n, err := store.CountVectors(t.Context(), made[0], []string{remote.ID("/docs")}); err != nil || n != 3 {
		t.Errorf("%d vectors, %v, want 3", n, err)
	}
	if got := ids(find()); slices.Contains(got, "1#0") || len(got) != 3 {
		t.Errorf("hits %v after 1 was deleted", got)
	}
}
