package search_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// foreign is a snapshot whose scores cannot be compared with those of others, as that of a server.
type foreign struct{ search.Snapshot }

func (f foreign) Narrow(ctx context.Context, pass func(*search.Document) bool) (search.Snapshot, error) {
	s, err := f.Snapshot.Narrow(ctx, pass)
	return foreign{s}, err
}

func (f foreign) Vectors(ctx context.Context, spec search.VectorSpec) (search.Vectors, error) {
	v, err := f.Snapshot.Vectors(ctx, spec)
	return foreignVectors{v}, err
}

type foreignVectors struct{ search.Vectors }

func (v foreignVectors) Of(s search.Snapshot) search.Vectors {
	return v.Vectors.Of(s.(foreign).Snapshot)
}

// newIndex returns an embedded index with one file a text, "name: text". The id of a chunk is
// the name of its file.
func newIndex(t *testing.T, root string, files ...string) *index.DB {
	t.Helper()
	db := open(t)
	for _, f := range files {
		name, text, _ := strings.Cut(f, ": ")
		e := file(name, strings.TrimSuffix(name, ".md"), text)
		e.Chunks[0].ID = name
		put(t, db, root, e)
	}
	return db
}

// TestUnionByRank: indexes whose scores cannot be compared take turns, and everything else is as
// if they were one.
func TestUnionByRank(t *testing.T) {
	t.Parallel()
	a := newIndex(t, "/a", "tea.md: mint tea with mint", "cup.md: a cup of mint and milk", "same.md: mint")
	b := newIndex(t, "/b", "sauce.md: mint sauce", "same.md: mint", "volume.md: a persistent volume")
	c := newIndex(t, "/c", "cake.md: a cake with a cherry and mint on top of it")
	s := search.Union(snapshotOf(t, a, "/a"), foreign{snapshotOf(t, b, "/b")}, snapshotOf(t, c, "/c"))
	if _, one := s.(*index.Searcher); one {
		t.Fatal("a foreign index is ranked as an embedded one")
	}
	marked := "same.md@" + search.RootMark("/b")
	q := state.Query{Text: "mint", Weight: 1}
	hits, err := s.SearchWords(t.Context(), q, 9)
	// The two embedded indexes are one, which has every other place.
	want := "same.md " + marked + " tea.md sauce.md cup.md cake.md"
	if diff := cmp.Diff(want, ids(t, hits, err)); diff != "" {
		t.Errorf("by words (-want +got):\n%s", diff)
	}
	hits, err = s.SearchWords(t.Context(), q, 2)
	if got := ids(t, hits, err); got != "same.md "+marked {
		t.Errorf("the best two: %s", got)
	}
	hits, err = engineOf(t, s, search.Options{}).SearchNames(t.Context(), state.Query{Text: "tea"}, 9)
	if got := ids(t, hits, err); got != "tea.md" {
		t.Errorf("by name: %s", got)
	}
	chunks, err := s.Chunks(t.Context(), []string{marked, "no such chunk", "same.md", "cake.md"})
	if err != nil || len(chunks) != 3 || chunks[0].Root != "/b" || chunks[1].Root != "/a" || chunks[2].Root != "/c" {
		t.Errorf("chunks %+v, %v", chunks, err)
	}
	if s.Docs() != 7 || s.Files() != 7 || s.Passing() != 7 || s.DocFreq("mint") != 6 || !(s.IDF("mint") < s.IDF("sauc")) {
		t.Errorf("%d chunks, %d files, %d pass, mint is in %d", s.Docs(), s.Files(), s.Passing(), s.DocFreq("mint"))
	}
	if !s.Speaks("en") || s.Speaks("de") || s.Analyzer().Analyze("Sauces")[0].Term != "sauc" {
		t.Error("languages")
	}
	passage := strings.Repeat("words without the answer, again and again. ", 9) + "Here is the mint."
	if cut := s.Snippets(q)(passage); len(cut.Marks) != 1 || !strings.HasPrefix(passage[cut.Marks[0].Start:], "mint") {
		t.Errorf("snippet %+v", cut)
	}
}

// TestUnionRespelled: a word that one index has is no spelling mistake.
func TestUnionRespelled(t *testing.T) {
	t.Parallel()
	a, b := newIndex(t, "/a", "a.md: rosemary and thyme"), newIndex(t, "/b", "c.md: rosemery", "d.md: rosemary")
	s := search.Union(snapshotOf(t, a, "/a"), foreign{snapshotOf(t, b, "/b")})
	if got := snapshotOf(t, a, "/a").Respelled("rosemery"); len(got) != 1 {
		t.Errorf("one index alone: %+v", got)
	}
	if got := s.Respelled("rosemery"); len(got) != 0 {
		t.Errorf("a word of the other index: %+v", got)
	}
	got := s.Respelled("rosemarry and thyme")
	if len(got) != 1 || got[0].Word != "rosemarry" || len(got[0].Terms) != 1 {
		t.Errorf("respelled: %+v", got)
	}
}

// TestUnionNarrow: a key that documents of one index have leaves out those of the others; a key
// that no document has is an error.
func TestUnionNarrow(t *testing.T) {
	t.Parallel()
	a, b := newIndex(t, "/a", "a.md: mint"), newIndex(t, "/b", "b.md: mint")
	if err := b.Put(t.Context(), "/b", []search.Entry{{
		File:   search.File{Source: "c.md", Metadata: state.Metadata{"category": "herbs"}},
		Chunks: []state.Chunk{{ID: "c.md", Text: "mint"}},
	}}); err != nil {
		t.Fatal(err)
	}
	s := search.Union(snapshotOf(t, a, "/a"), foreign{snapshotOf(t, b, "/b")})
	herbs := state.Condition{Key: "category", Op: state.OpIs, Values: []string{"herbs"}}
	isA := state.Condition{Key: state.KeySource, Op: state.OpIs, Values: []string{"a.md"}}
	no := state.Condition{Key: "colour", Op: state.OpExists}
	for _, tt := range []struct {
		name   string
		filter state.Filter
		want   string
	}{
		{"no filter", state.Filter{}, "a.md b.md c.md"},
		{"must", state.Filter{Must: []state.Condition{herbs}}, "c.md"},
		{"must not", state.Filter{MustNot: []state.Condition{herbs}}, "a.md b.md"},
		{"should", state.Filter{Should: []state.Condition{herbs, isA}}, "a.md c.md"},
		{"one should", state.Filter{Should: []state.Condition{herbs}}, "c.md"},
		{"both", state.Filter{Must: []state.Condition{herbs, isA}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			narrowed, err := search.Narrow(t.Context(), s, tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			hits, err := narrowed.SearchWords(t.Context(), state.Query{Text: "mint", Weight: 1}, 9)
			if got := ids(t, hits, err); got != tt.want {
				t.Errorf("found %q, want %q", got, tt.want)
			}
			if n := narrowed.Passing(); n != len(strings.Fields(tt.want)) || narrowed.Docs() != 3 {
				t.Errorf("%d of %d pass", n, narrowed.Docs())
			}
		})
	}
	_, err := search.Narrow(t.Context(), s, state.Filter{Must: []state.Condition{herbs, no}})
	if e, ok := errors.AsType[*search.UnknownKeyError](err); !ok || e.Key != "colour" || len(e.Known) < 4 {
		t.Errorf("an unknown key: %v", err)
	}
}

// letters embeds a text by the number of its letters m and t.
func letters(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{float32(strings.Count(text, "m")), float32(strings.Count(text, "t"))}
	}
	return out, nil
}

// lettersOf is letters as an embedder of questions.
type lettersOf string

func (l lettersOf) Model() string { return string(l) }

func (lettersOf) Embed(ctx context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	v, err := letters(ctx, texts)
	return llm.Embeddings{Vectors: v}, err
}

func embedAll(t *testing.T, db search.Backend, model, root string) {
	t.Helper()
	if _, err := db.Embed(t.Context(), search.VectorSpec{Model: model}, []string{root}, search.EmbedOptions{Embed: letters, Switch: true}); err != nil {
		t.Fatal(err)
	}
}

// TestUnionVectors: cosines of several indexes make one list; vectors of another embedder leave
// the dense leg out, with a warning that names the collection.
func TestUnionVectors(t *testing.T) {
	t.Parallel()
	a, b := newIndex(t, "/a", "mmm.md: mmm", "mt.md: mt"), newIndex(t, "/b", "mmt.md: mmt", "ttt.md: ttt", "new.md: m")
	embedAll(t, a, "letters", "/a")
	embedAll(t, b, "letters", "/b")
	union := func() search.Snapshot {
		return search.Union(snapshotOf(t, a, "/a"), foreign{snapshotOf(t, b, "/b")})
	}
	engine, err := search.New(t.Context(), union(), search.Options{Embedder: lettersOf("letters"), Dense: search.Dense{Leg: search.LegDense}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := engine.Search(t.Context(), state.Query{Text: "mmm", Weight: 1}, 4)
	if got := ids(t, found.Hits, err); got != "mmm.md new.md mmt.md mt.md" || len(found.Warnings) != 0 {
		t.Errorf("found %s, warnings %q", got, found.Warnings)
	}
	narrowed, err := engine.Narrowed(t.Context(), state.Filter{Must: []state.Condition{{Key: state.KeySource, Op: state.OpMatches, Values: []string{"mt*"}}}})
	if err != nil {
		t.Fatal(err)
	}
	found, err = narrowed.Search(t.Context(), state.Query{Text: "mmm", Weight: 1}, 4)
	if got := ids(t, found.Hits, err); got != "mt.md" {
		t.Errorf("narrowed: %s, %q", got, found.Warnings)
	}
	embedAll(t, b, "others", "/b")
	engine, err = search.New(t.Context(), union(), search.Options{Embedder: lettersOf("letters")})
	if err != nil {
		t.Fatal(err)
	}
	found, err = engine.Search(t.Context(), state.Query{Text: "mmm", Weight: 1}, 4)
	if err != nil || len(found.Warnings) != 1 || !strings.Contains(found.Warnings[0], "the vectors of /b were made by others") {
		t.Errorf("another embedder: %q, %v", found.Warnings, err)
	}
}

// TestUnionExpand: relations lead on within the index of a hit.
func TestUnionExpand(t *testing.T) {
	t.Parallel()
	a, b := newIndex(t, "/a", "same.md: mint"), newIndex(t, "/b", "same.md: mint", "other.md: water")
	if err := b.Put(t.Context(), "/b", []search.Entry{{
		File:   search.File{Source: "from.md", Metadata: state.Metadata{"requires": "same.md"}},
		Chunks: []state.Chunk{{ID: "from.md", Text: "basil"}},
	}}); err != nil {
		t.Fatal(err)
	}
	s := search.Union(snapshotOf(t, a, "/a"), foreign{snapshotOf(t, b, "/b")})
	engine, err := search.New(t.Context(), s, search.Options{Retrieval: search.Retrieval{Hops: 1}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := engine.Search(t.Context(), state.Query{Text: "basil", Weight: 1}, 4)
	if got, want := fmt.Sprint(ids(t, found.Hits[:1], err), " ", found.Hits[1].Chunk), "from.md same.md@"+search.RootMark("/b"); got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

// panics is a snapshot whose search panics.
type panics struct{ search.Snapshot }

func (panics) SearchWords(context.Context, state.Query, int) ([]state.Hit, error) {
	panic("out of range")
}

// TestUnionPanics: the panic of one index is an error.
func TestUnionPanics(t *testing.T) {
	t.Parallel()
	a := newIndex(t, "/a", "a.md: mint")
	s := search.Union(snapshotOf(t, a, "/a"), panics{snapshotOf(t, a, "/a")})
	if _, err := s.SearchWords(t.Context(), state.Query{Text: "mint", Weight: 1}, 1); err == nil || !strings.Contains(err.Error(), "index 2 panicked: out of range") {
		t.Errorf("error %v, want the panic", err)
	}
}
