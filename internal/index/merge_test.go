package index_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestTiersAreFresh: an index of many tiers, through puts, deletes, moves,
// merges, restarts and other processes, answers exactly as one made in one go:
// the same hits, scores and order, ties too.
func TestTiersAreFresh(t *testing.T) {
	var most, dead int
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 11))
		path := filepath.Join(t.TempDir(), "index.db")
		flush := []int64{1, 500, 2000}[seed%3]
		handles := []*index.DB{open(t, path, index.Options{}), open(t, path, index.Options{})}
		for _, db := range handles {
			db.SetFlush(flush)
		}
		now := map[string]search.Entry{}
		for i := range 150 {
			e := randomFile(r, fmt.Sprintf("%03d.md", i))
			now[e.File.Source] = e
		}
		put(t, handles[0], "/docs", slices.Collect(maps.Values(now))...)
		for step := range 70 {
			db := handles[r.IntN(2)]
			change(t, r, db, now)
			if r.IntN(3) == 0 {
				if err := db.Publish(t.Context(), "/docs"); err != nil {
					t.Fatal(err)
				}
			}
			n, err := db.DeadFiles(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			most, dead = max(most, len(segments(t, db))), max(dead, n)
			if step%7 != 0 {
				continue
			}
			if r.IntN(4) == 0 { // data in memory is lost
				handles[0] = open(t, path, index.Options{})
				handles[0].SetFlush(flush)
			}
			fresh := open(t, "", index.Options{})
			put(t, fresh, "/docs", slices.Collect(maps.Values(now))...)
			sameAnswers(t, r, searcher(t, handles[r.IntN(2)], "/docs"), searcher(t, fresh, "/docs"))
			if found, err := db.Verify(t.Context()); err != nil || len(found) > 0 {
				t.Errorf("verify: %v, %v", found, err)
			}
			if t.Failed() {
				t.Fatalf("seed %d, step %d", seed, step)
			}
		}
	}
	if most < 3 || dead < 3 {
		t.Errorf("at most %d tiers and %d dead files: the test shows nothing", most, dead)
	}
}

// change makes one random change of an index, and of what it should hold.
func change(t *testing.T, r *rand.Rand, db *index.DB, now map[string]search.Entry) {
	t.Helper()
	some := func(n int) []string {
		sources := slices.Sorted(maps.Keys(now))
		r.Shuffle(len(sources), func(i, j int) { sources[i], sources[j] = sources[j], sources[i] })
		return sources[:min(n, len(sources))]
	}
	switch r.IntN(5) {
	case 0: // deleted
		gone := some(1 + r.IntN(3))
		for _, source := range gone {
			delete(now, source)
		}
		if err := db.Delete(t.Context(), "/docs", gone...); err != nil {
			t.Fatal(err)
		}
	case 1: // moved
		for _, source := range some(1) {
			e := now[source]
			to := fmt.Sprintf("%03d-moved.md", r.IntN(200))
			moved := file(to, e.File.Title)
			for i, c := range e.Chunks {
				c.ID, c.Source = fmt.Sprintf("%s#%d", to, i), to
				moved.Chunks = append(moved.Chunks, c)
			}
			delete(now, source)
			now[to] = moved
			if err := db.Delete(t.Context(), "/docs", source); err != nil {
				t.Fatal(err)
			}
			put(t, db, "/docs", moved)
		}
	default: // new or changed, sometimes the same text several times: equal scores
		var entries []search.Entry
		twin := randomFile(r, "twin")
		for _, i := range r.Perm(200)[:1+r.IntN(4)] {
			e := randomFile(r, fmt.Sprintf("%03d.md", i))
			if r.IntN(3) == 0 {
				var texts []string
				for _, c := range twin.Chunks {
					texts = append(texts, c.Text)
				}
				e = file(e.File.Source, twin.File.Title, texts...)
			}
			now[e.File.Source] = e
			entries = append(entries, e)
		}
		put(t, db, "/docs", entries...)
	}
}

// TestTiersStayFew: many small changes make tiers whose number grows with the
// logarithm of the collection, and few changes make none.
func TestTiersStayFew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	db.SetFlush(1)
	for i := range 300 {
		put(t, db, "/docs", file(fmt.Sprintf("%d.md", i), "", fmt.Sprintf("word%d common", i)))
		if err := db.Publish(t.Context(), "/docs"); err != nil {
			t.Fatal(err)
		}
	}
	before := len(segments(t, db))
	if before < 2 || before > 6 {
		t.Errorf("%d segments; want 2 to 6", before)
	}
	check(t, "chunks", searcher(t, db, "/docs").Docs(), 300)
	db.SetFlush(1 << 20)
	put(t, db, "/docs", file("new.md", "", "unheard words"))
	if err := db.Publish(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	other := open(t, path, index.Options{})
	check(t, "found by another process", find(t, searcher(t, other, "/docs"), "unheard"), []string{"new.md#0"})
	check(t, "segments after a small change", len(segments(t, db)), before)
}

// TestReadersWhileTiersMerge: readers with handles of their own see whole states
// only, while a writer puts, deletes and merges.
func TestReadersWhileTiersMerge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	writer := open(t, path, index.Options{})
	writer.SetFlush(1)
	const files = 12
	round := func(n int) {
		var entries []search.Entry
		for i := range files { // all or none has the word of a round
			entries = append(entries, file(fmt.Sprintf("%02d-%d.md", i, n%2), "", fmt.Sprintf("round%d common", n)))
		}
		put(t, writer, "/docs", entries...)
		var gone []string
		for i := range files {
			gone = append(gone, fmt.Sprintf("%02d-%d.md", i, (n+1)%2))
		}
		if err := errors.Join(writer.Delete(t.Context(), "/docs", gone...), writer.Publish(t.Context(), "/docs")); err != nil {
			t.Error(err)
		}
	}
	round(0)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 3)
	for range cap(done) {
		go func() {
			var err error
			for err == nil && ctx.Err() == nil {
				err = readWhole(context.WithoutCancel(ctx), path, files)
			}
			done <- err
		}()
	}
	for n := range 60 {
		round(n + 1)
	}
	stop()
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// readWhole opens the index, as a process does, and looks for a state in between.
func readWhole(ctx context.Context, path string, files int) (err error) {
	db, err := index.Open(ctx, path, index.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetFlush(1 << 20)
	s, err := db.Searcher(ctx, "/docs")
	if err != nil {
		return err
	}
	hits, err := s.Search(ctx, state.Query{Text: "common"}, 100)
	if err != nil {
		return err
	}
	if n := len(hits); n != files && n != 2*files || n != s.Docs() || n != s.DocFreq("common") {
		return fmt.Errorf("%d hits of %d chunks, %d with the word", n, s.Docs(), s.DocFreq("common"))
	}
	return nil
}
