package meaning_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
)

var (
	_ llm.Embedder = (*meaning.Transformer)(nil)
	_ llm.Reranker = (*meaning.Transformer)(nil)
)

func openModel(t *testing.T) *meaning.Transformer {
	t.Helper()
	model, err := meaning.Open()
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func ExampleTransformer_Rerank() {
	model, err := meaning.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	passages := []string{
		"Backups: restoring needs the key of the administrator.",
		"Backups: a copy of the database is made every night and kept for a month.",
		"Rooms: the garden is open until eight.",
	}
	scores, err := model.Rerank(context.Background(), "How long do you store copies of my data?", passages)
	if err != nil {
		fmt.Println(err)
		return
	}
	best := slices.Index(scores.Values, slices.Max(scores.Values))
	fmt.Println(passages[best])
	// Output:
	// Backups: a copy of the database is made every night and kept for a month.
}

func TestEmbedFindsTheSameMeaning(t *testing.T) {
	model := openModel(t)
	question, err := model.Embed(t.Context(), []string{"When is the cache emptied?"}, llm.Query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := model.Embed(t.Context(), []string{"Stored entries are removed after an hour.", "The printer is on the second floor."}, llm.Passage)
	if err != nil {
		t.Fatal(err)
	}
	near, far := dot(question.Vectors[0], got.Vectors[0]), dot(question.Vectors[0], got.Vectors[1])
	if near <= far {
		t.Errorf("the passage that answers is at %.3f, the other at %.3f", near, far)
	}
	if length := dot(got.Vectors[0], got.Vectors[0]); length < 0.999 || length > 1.001 {
		t.Errorf("the square of the length of a vector is %v", length)
	}
	if got.Model != model.Model() || got.Usage.Input < 15 {
		t.Errorf("model %q, %d tokens", got.Model, got.Usage.Input)
	}
}

func dot(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

func TestLongTextsAreCut(t *testing.T) {
	model := openModel(t)
	if !meaning.Fast() {
		t.Skip("with the portable kernel it takes a minute")
	}
	long := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	vectors, err := model.Embed(t.Context(), []string{long, long + "And rests."}, llm.Passage)
	if err != nil {
		t.Fatal(err)
	}
	if vectors.Usage.Input != 2*512 || !slices.Equal(vectors.Vectors[0], vectors.Vectors[1]) {
		t.Errorf("%d tokens were read, or what is past the end counts", vectors.Usage.Input)
	}
	scores, err := model.Rerank(t.Context(), long, []string{long, ""})
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(512 + 66 + 2); scores.Usage.Input != want {
		t.Errorf("%d tokens were judged, want %d", scores.Usage.Input, want)
	}
}

func TestEmptyTexts(t *testing.T) {
	model := openModel(t)
	if _, err := model.Embed(t.Context(), []string{"a", ""}, llm.Query); err == nil || err.Error() != "embed: text 2 of 2 is empty" {
		t.Errorf("error of an empty text: %v", err)
	}
	vectors, err := model.Embed(t.Context(), nil, llm.Query)
	if err != nil || len(vectors.Vectors) != 0 {
		t.Errorf("no texts: %v, %v", vectors, err)
	}
	scores, err := model.Rerank(t.Context(), "", nil)
	if err != nil || len(scores.Values) != 0 {
		t.Errorf("no texts: %v, %v", scores, err)
	}
}

func TestContextEnds(t *testing.T) {
	model := openModel(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := model.Embed(ctx, []string{"a", "b", "c"}, llm.Query); !errors.Is(err, context.Canceled) {
		t.Errorf("Embed: %v", err)
	}
	if _, err := model.Rerank(ctx, "a", []string{"b"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Rerank: %v", err)
	}
	if _, err := model.Embed(t.Context(), []string{"a"}, llm.Query); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// TestManyCallers also checks that a text has the same vector in every list.
func TestManyCallers(t *testing.T) {
	model := openModel(t)
	texts := strings.Split("One text of some words.|Two|Three texts, and a few words more than the others have.", "|")
	want, err := model.Embed(t.Context(), texts, llm.Passage)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for caller := range 6 {
		group.Go(func() {
			got, err := model.Embed(t.Context(), texts[caller%3:], llm.Passage)
			if err != nil {
				t.Error(err)
				return
			}
			for i, vector := range got.Vectors {
				if !slices.Equal(vector, want.Vectors[caller%3+i]) {
					t.Errorf("caller %d: text %d has another vector", caller, i)
				}
			}
		})
	}
	group.Wait()
}
