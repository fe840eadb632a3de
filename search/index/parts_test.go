package index_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// long is a sentence that fills a group.
func long(about string) string {
	return about + strings.Repeat(" and more of the same", 12) + "."
}

// three is a passage of three groups.
func three(second string) string {
	return strings.Join([]string{long("Alpha"), long(second), long("Gamma")}, " ")
}

// REQUIREMENTS R13, C14: of a long passage each group of sentences is embedded
// too, once, and again only where it changed.
func TestEmbedSentences(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	model := index.Embedder{Model: "bag", Vectors: index.VectorsSentences}
	put(t, db, "/a", file("x.md", "Title", three("Beta"), "Short. Very short."))
	for _, step := range []struct {
		name string
		do   func()
		want []string // texts embedded
	}{
		{"new", func() {}, []string{three("Beta"), long("Alpha"), long("Beta"), long("Gamma"), "Short. Very short."}},
		{"again", func() {}, nil},
		{
			"one sentence changed", func() { put(t, db, "/a", file("x.md", "Title", three("Delta"), "Short. Very short.")) },
			[]string{three("Delta"), long("Delta")},
		},
		{"a passage that was a part", func() { put(t, db, "/a", file("y.md", "Title", long("Beta"))) }, nil},
		{"moved", func() {
			put(t, db, "/a", file("z.md", "Title", three("Delta"), "Short. Very short."))
			if err := db.Delete(t.Context(), "/a", "x.md"); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"back to what it was", func() { put(t, db, "/a", file("z.md", "Title", three("Beta"), "Short. Very short.")) }, nil},
	} {
		step.do()
		b := newBag(64)
		embed(t, db, model, b, "/a")
		want := map[string]int{}
		for _, text := range step.want {
			want["Title\n"+text] = 1
		}
		if diff := gocmp.Diff(want, b.seen); diff != "" {
			t.Errorf("%s: texts embedded (-want +got):\n%s", step.name, diff)
		}
		if v := vectors(t, db, model, "/a"); v.Missing() != 0 {
			t.Errorf("%s: %d chunks have no vector", step.name, v.Missing())
		}
	}
	hits, err := vectors(t, db, model, "/a").Search(t.Context(), newBag(64).vector("Title "+long("Gamma")), 10, index.MinCosine)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) != 3 || hits[0].Chunk != "z.md#0" || hits[0].Score < 0.9999 {
		t.Errorf("the last third of a passage finds %+v; want each passage once, and that one with the score of the part", hits)
	}
}

// Another kind of vectors is another embedder, but what both embed is embedded once.
func TestSwitchVectors(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	passages, b := index.Embedder{Model: "bag"}, newBag(64)
	parts := index.Embedder{Model: "bag", Vectors: index.VectorsSentences}
	put(t, db, "/a", file("x.md", "", three("Beta"), "short"))
	embed(t, db, passages, b, "/a")
	_, err := db.Embed(t.Context(), parts, []string{"/a"}, index.EmbedOptions{Embed: b.embed})
	want := "the vectors of /a were made by bag (64 dimensions), but bag (64 dimensions, vectors of sentences) is configured"
	if !errors.Is(err, index.ErrEmbedderChanged) || !strings.Contains(strings.ReplaceAll(err.Error(), "bag (vectors", "bag (64 dimensions, vectors"), want) {
		t.Errorf("without switch: %v, want %q", err, want)
	}
	if _, err := searcher(t, db, "/a").Vectors(t.Context(), parts); !errors.Is(err, index.ErrEmbedderChanged) {
		t.Errorf("vectors of the other kind: %v", err)
	}
	r, err := db.Embed(t.Context(), parts, []string{"/a"}, index.EmbedOptions{Embed: b.embed, Switch: true})
	if err != nil || r.Embedded != 3 || b.texts() != 5 {
		t.Fatalf("switch: %+v, %v; want 3 parts embedded, and no passage again", r, err)
	}
	if got := nearest(t, vectors(t, db, parts, "/a"), b, long("Beta")); got != "x.md#0" {
		t.Errorf("a part finds %s", got)
	}
	if n, err := db.PruneVectors(t.Context()); err != nil || n != 0 {
		t.Errorf("%d vectors pruned, %v; want none", n, err)
	}

	var snapshot bytes.Buffer
	if _, err := db.Snapshot(t.Context(), &snapshot); err != nil {
		t.Fatal(err)
	}
	other := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	if _, err := other.Restore(t.Context(), bytes.NewReader(snapshot.Bytes()), nil); err != nil {
		t.Fatal(err)
	}
	if again := embed(t, other, parts, newBag(64), "/a"); again.Embedded != 0 {
		t.Errorf("%d texts embedded after restoring", again.Embedded)
	}
	if found, err := other.Verify(t.Context(), index.VerifyOptions{}); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}

	r, err = db.Embed(t.Context(), passages, []string{"/a"}, index.EmbedOptions{Embed: b.embed, Switch: true})
	if err != nil || r.Embedded != 0 {
		t.Errorf("back: %+v, %v", r, err)
	}
	if n, err := db.PruneVectors(t.Context()); err != nil || n != 3 {
		t.Errorf("%d vectors pruned, %v; want the 3 of parts", n, err)
	}
	vectors(t, db, passages, "/a")
	if _, err := db.Embed(t.Context(), index.Embedder{Model: "bag", Vectors: "letters"}, []string{"/a"}, index.EmbedOptions{Embed: b.embed}); err == nil ||
		!strings.Contains(err.Error(), `vectors of "letters" are not one of passage, sentences`) {
		t.Errorf("an unknown kind: %v", err)
	}
}

// crowd is a chunk of many groups. Two stretches of rows meet in it.
const crowd = "a.md#450"

// crowded is an index of chunks of 1 to 6 groups, and one of 200 groups that are
// all near the vector returned; texts have random vectors.
func crowded(tb testing.TB, db *index.DB, chunks int) (known map[string][][]float32, near []float32) {
	tb.Helper()
	const dimension = 24
	random := rand.New(rand.NewPCG(11, 12))
	near, known = randomVector(random, dimension), map[string][][]float32{}
	embed := func(_ context.Context, texts []string) ([][]float32, error) {
		out := make([][]float32, len(texts))
		for i, t := range texts {
			h := fnv.New64a()
			h.Write([]byte(t))
			out[i] = randomVector(rand.New(rand.NewPCG(h.Sum64(), 1)), dimension)
			id := strings.Fields(t)[1]
			if id == crowd {
				for d := range out[i] {
					out[i][d] = near[d] + 0.01*out[i][d]
				}
			}
			known[id] = append(known[id], out[i])
		}
		return out, nil
	}
	for _, root := range []string{"a", "b"} {
		var texts []string
		for c := range chunks / 2 {
			n := 1 + random.IntN(6)
			if fmt.Sprintf("%s.md#%d", root, c) == crowd {
				n = 200
			}
			var groups []string
			for g := range n {
				groups = append(groups, long(fmt.Sprintf("Text %s.md#%d part %d", root, c, g)))
			}
			texts = append(texts, strings.Join(groups, " "))
		}
		put(tb, db, "/"+root, file(root+".md", "", texts...))
	}
	if _, err := db.Embed(tb.Context(), index.Embedder{Model: "parts", Vectors: index.VectorsSentences}, []string{"/a", "/b"},
		index.EmbedOptions{Embed: embed, Batch: 100, Workers: 1}); err != nil {
		tb.Fatal(err)
	}
	return known, near
}

// slowMaxSim orders chunks by nearness the slow, obvious way.
func slowMaxSim(known map[string][][]float32, query []float32, pass func(id string) bool) []state.Hit {
	var all []state.Hit
	for id, list := range known {
		if !pass(id) {
			continue
		}
		h := state.Hit{Chunk: id, Score: -1}
		for _, v := range list {
			h.Score = max(h.Score, slowNearest(fixed{"chunk 0": v}, []string{id}, query, 1, -1)[0].Score)
		}
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b state.Hit) int { return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Chunk, b.Chunk)) })
	return all
}

// REQUIREMENTS R13: each chunk is found once, by the best of its vectors, exactly
// and in clusters, from memory and from the file, with filters and without.
func TestSentencesEqualTwin(t *testing.T) {
	for _, exact := range []int{20_000, 50} {
		t.Run(fmt.Sprintf("exact to %d", exact), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "index.db")
			db := open(t, path, index.Options{})
			db.SetExact(exact)
			const chunks = 1000
			known, near := crowded(t, db, chunks)
			reopened := open(t, path, index.Options{})
			reopened.SetExact(exact)
			if n := len(known[crowd]); n != 201 {
				t.Fatalf("%d vectors of the chunk of 200 groups, want 201", n)
			}
			random := rand.New(rand.NewPCG(1, 2))
			found, wanted := 0, 0
			for i := range 12 {
				query, k := randomVector(random, len(near)), 2+random.IntN(60)
				if i%4 == 0 {
					query = near
				}
				at := []*index.DB{db, reopened}[i%2]
				s, pass := searcher(t, at, "/a", "/b"), func(string) bool { return true }
				v := vectors(t, at, index.Embedder{Model: "parts", Vectors: index.VectorsSentences}, "/a", "/b")
				if v.Len() != chunks || v.Missing() != 0 {
					t.Fatalf("%d chunks have vectors, and %d none", v.Len(), v.Missing())
				}
				if i%3 == 0 {
					var f state.Filter
					f.AddPaths("a.md")
					only, err := s.Only(f)
					if err != nil {
						t.Fatal(err)
					}
					v, pass = v.Of(only), func(id string) bool { return strings.HasPrefix(id, "a.") }
				}
				got, err := v.Search(t.Context(), query, k, -1)
				if err != nil {
					t.Fatal(err)
				}
				scores := map[string]float64{}
				want := slowMaxSim(known, query, pass)
				for _, h := range want {
					scores[h.Chunk] = h.Score
				}
				for _, h := range got {
					if d := h.Score - scores[h.Chunk]; d > 1e-6 || d < -1e-6 {
						t.Errorf("query %d: %s scores %v, want %v, once", i, h.Chunk, h.Score, scores[h.Chunk])
					}
					delete(scores, h.Chunk)
				}
				want = want[:min(k, len(want))]
				if len(got) != len(want) {
					t.Fatalf("query %d: %d hits, want %d", i, len(got), len(want))
				}
				for _, w := range want {
					wanted++
					if slices.ContainsFunc(got, func(h state.Hit) bool { return h.Chunk == w.Chunk }) {
						found++
					}
				}
			}
			least := 1.0
			if exact < chunks {
				least = 0.95
			}
			if recall := float64(found) / float64(wanted); recall < least {
				t.Errorf("%.3f of the nearest found, want %v", recall, least)
			}
		})
	}
}
