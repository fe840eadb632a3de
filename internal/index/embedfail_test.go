package index_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
)

// A model that fails loses nothing of what it gave before, nor the lexical
// index; the next run continues.
func TestEmbedFails(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	var texts []string
	for i := range 20 {
		texts = append(texts, fmt.Sprintf("word%c common", 'a'+i))
	}
	put(t, db, "/a", file("x.md", "", texts...))
	b := newBag(64)
	broken := errors.New("connection reset")
	b.before = func([]string) error {
		if b.calls > 2 {
			return broken
		}
		return nil
	}
	model := search.VectorSpec{Model: "bag"}
	r, err := db.Embed(t.Context(), model, []string{"/a"}, search.EmbedOptions{Embed: b.embed, Batch: 4})
	if !errors.Is(err, broken) {
		t.Fatalf("error %v, want that of the model", err)
	}
	if r.Embedded != 8 || r.Chunks != 20 {
		t.Errorf("report %+v, want 8 of 20", r)
	}
	if v := vectors(t, db, model, "/a"); v.Len() != 8 || v.Missing() != 12 {
		t.Errorf("%d vectors, %d missing; want 8 and 12", v.Len(), v.Missing())
	}
	if got := find(t, searcher(t, db, "/a"), "common"); len(got) != 10 {
		t.Errorf("the lexical search finds %d", len(got))
	}
	b.before = nil
	var last [2]int
	r, err = db.Embed(t.Context(), model, []string{"/a"}, search.EmbedOptions{
		Embed: b.embed, Batch: 5, Progress: func(done, total int) { last = [2]int{done, total} },
	})
	if err != nil || r.Embedded != 12 || last != [2]int{12, 12} {
		t.Errorf("going on: %+v, %v, progress %v; want 12", r, err, last)
	}
	if b.texts() != 20 || vectors(t, db, model, "/a").Missing() != 0 {
		t.Errorf("%d texts embedded, %d missing", b.texts(), vectors(t, db, model, "/a").Missing())
	}
}

// A cancelled run ends with the context's error and keeps its progress.
func TestEmbedCancelled(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/a", file("x.md", "", "a", "b", "c", "d", "e", "f"))
	b := newBag(8)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := db.Embed(ctx, search.VectorSpec{Model: "bag"}, []string{"/a"}, search.EmbedOptions{
		Embed: b.embed, Batch: 1, Workers: 1, Progress: func(done, _ int) {
			if done == 2 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || r.Embedded < 2 || r.Embedded > 4 {
		t.Errorf("report %+v, error %v", r, err)
	}
	if got := embed(t, db, search.VectorSpec{Model: "bag"}, b, "/a").Embedded; got != 6-r.Embedded {
		t.Errorf("going on embedded %d after %d", got, r.Embedded)
	}
}

// One text that the model refuses does not keep others from their vectors; it is
// embedded as far as the model will have it.
func TestEmbedRefused(t *testing.T) {
	long := strings.Repeat("long ", 200)
	for _, tt := range []struct {
		name    string
		refuse  func(text string) bool
		refused int
		fails   bool
	}{
		{"too long", func(text string) bool { return len(text) > 300 }, 0, false},
		{"whatever its length", func(text string) bool { return strings.Contains(text, "long") }, 1, false},
		{"everything", func(string) bool { return true }, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, "", index.Options{})
			put(t, db, "/a", file("x.md", "", "a", "b", long, "c", "d", "e"))
			b := newBag(8)
			b.before = func(texts []string) error {
				if slices.ContainsFunc(texts, tt.refuse) {
					return fmt.Errorf("%w: too long", search.ErrTextRefused)
				}
				return nil
			}
			model := search.VectorSpec{Model: "bag"}
			r, err := db.Embed(t.Context(), model, []string{"/a"}, search.EmbedOptions{Embed: b.embed, Batch: 5})
			if tt.fails {
				if !errors.Is(err, search.ErrTextRefused) || b.calls > 40 {
					t.Errorf("error %v after %d calls; want ErrTextRefused soon", err, b.calls)
				}
				return
			}
			if err != nil || r.Refused != tt.refused || r.Embedded != 6-tt.refused {
				t.Errorf("report %+v, error %v; want %d refused", r, err, tt.refused)
			}
			if got := vectors(t, db, model, "/a").Missing(); got != tt.refused {
				t.Errorf("%d missing, want %d", got, tt.refused)
			}
		})
	}
}

// Invalid answers of models are errors, and nothing of them is stored.
func TestEmbedRubbish(t *testing.T) {
	nan := float32(math.NaN())
	for name, give := range map[string]func(n int) [][]float32{
		"too few":    func(n int) [][]float32 { return make([][]float32, n-1) },
		"zero":       func(n int) [][]float32 { return same(n, []float32{0, 0}) },
		"not finite": func(n int) [][]float32 { return same(n, []float32{1, nan}) },
		"infinite":   func(n int) [][]float32 { return same(n, []float32{1, float32(math.Inf(1))}) },
		"too long":   func(n int) [][]float32 { return same(n, append(make([]float32, 1<<16), 1)) },
		"uneven":     func(n int) [][]float32 { return append(same(n-1, []float32{1, 2}), []float32{1}) },
	} {
		db := open(t, "", index.Options{})
		put(t, db, "/a", file("x.md", "", "a", "b", "c"))
		_, err := db.Embed(t.Context(), search.VectorSpec{Model: "bag"}, []string{"/a"}, search.EmbedOptions{
			Embed: func(_ context.Context, texts []string) ([][]float32, error) { return give(len(texts)), nil },
		})
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if got := vectors(t, db, search.VectorSpec{Model: "bag"}, "/a").Len(); got != 0 {
			t.Errorf("%s: %d vectors stored", name, got)
		}
	}
	_, err := open(t, "", index.Options{}).Embed(t.Context(), search.VectorSpec{}, nil, search.EmbedOptions{})
	if err == nil {
		t.Error("an embedder without a name was accepted")
	}
}

func same(n int, v []float32) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func embedUntilKilled(path string) int {
	db, err := index.Open(context.Background(), path, index.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	b := newBag(32)
	var calls atomic.Int64
	_, err = db.Embed(context.Background(), search.VectorSpec{Model: "bag"}, []string{"/a"}, search.EmbedOptions{
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			if calls.Add(1) > embedMost {
				<-ctx.Done()
			}
			return b.embed(ctx, texts)
		},
		Batch: 1, Workers: 2,
		Progress: func(done, _ int) { fmt.Println(done) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A killed process has lost nothing that it said was done, and the next one
// embeds only the rest.
func TestEmbedKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	const texts = 400
	var chunks []string
	for i := range texts {
		chunks = append(chunks, fmt.Sprintf("%c%c%c", 'a'+i%20, 'a'+i/20, 'z'))
	}
	put(t, db, "/a", file("x.md", "", chunks...))
	for _, after := range []int{1, 17, 60} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), embedChild+"="+path)
		var trouble bytes.Buffer
		cmd.Stderr = &trouble
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		for said < after {
			if _, err := fmt.Fscanln(out, &said); err != nil {
				_ = cmd.Wait() // what it said counts
				t.Fatalf("the child ended after %d: %v: %s", said, err, trouble.String())
			}
		}
		before := vectors(t, db, search.VectorSpec{Model: "bag"}, "/a").Len()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		if got := vectors(t, db, search.VectorSpec{Model: "bag"}, "/a").Len(); got < before || got < said {
			t.Errorf("%d vectors after the kill, %d before it, %d were told of", got, before, said)
		}
	}
	kept := vectors(t, db, search.VectorSpec{Model: "bag"}, "/a").Len()
	b := newBag(32)
	if got := embed(t, db, search.VectorSpec{Model: "bag"}, b, "/a").Embedded; got != texts-kept {
		t.Errorf("the next run embedded %d, want %d", got, texts-kept)
	}
	if got := vectors(t, db, search.VectorSpec{Model: "bag"}, "/a").Missing(); got != 0 {
		t.Errorf("%d missing at the end", got)
	}
}
