package index_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
)

// segments returns the segments of an index.
func segments(t *testing.T, db *index.DB) [][]byte {
	t.Helper()
	list, err := db.Segments(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestDamagedSegments: whatever happens to a segment, it is noticed and made
// again with the same bytes.
func TestDamagedSegments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	for i := range 40 {
		put(t, db, "/docs", file(fmt.Sprintf("%d.md", i), "T", fmt.Sprintf("word%d common", i), "Head: common text"))
	}
	if err := db.Publish(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	want := find(t, searcher(t, db, "/docs"), "common word7")
	whole := segments(t, db)[0]
	flip := func(i int) []byte {
		b := append([]byte(nil), whole...)
		b[i] ^= 0x40
		return b
	}
	for what, bad := range map[string][]byte{
		"gone": nil, "empty": {}, "half": whole[:len(whole)/2], "one byte short": whole[:len(whole)-1],
		"longer": append(append([]byte(nil), whole...), 0), "head": flip(9), "middle": flip(len(whole) / 2), "end": flip(len(whole) - 1),
	} {
		if err := db.SetSegments(t.Context(), bad); err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		fresh := open(t, path, index.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		check(t, what, find(t, searcher(t, fresh, "/docs"), "common word7"), want)
		if told := strings.Contains(log.String(), "damaged"); told != (bad != nil) {
			t.Errorf("%s: log is %q", what, log.String())
		}
		if again := segments(t, db); len(again) != 1 || string(again[0]) != string(whole) {
			t.Errorf("%s: the new segment differs from the first", what)
		}
	}
}

// TestOldSegmentsGo: each publication puts one segment in the place of the one before.
func TestOldSegmentsGo(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	for i := range 3 {
		put(t, db, "/docs", file("a.md", "A", fmt.Sprintf("words %d", i)))
		if err := db.Publish(t.Context(), "/docs"); err != nil {
			t.Fatal(err)
		}
	}
	check(t, "segments", len(segments(t, db)), 1)
}

// TestTwoProcesses: two handles on one file, as two processes would have.
func TestTwoProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	a, b := open(t, path, index.Options{}), open(t, path, index.Options{})
	put(t, a, "/docs", file("a.md", "A", "words of a"))
	old := searcher(t, b, "/docs")
	done := make(chan error, 2)
	for n, db := range []*index.DB{a, b} {
		go func() {
			var err error
			for i := range 20 {
				source := fmt.Sprintf("%d-%d.md", n, i)
				err = errors.Join(err, db.Put(context.WithoutCancel(t.Context()), "/docs", []search.Entry{file(source, "", "words")}))
			}
			done <- errors.Join(err, db.Publish(context.WithoutCancel(t.Context()), "/docs"))
		}()
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	check(t, "old snapshot", old.Docs(), 1)
	check(t, "chunks seen by one", searcher(t, a, "/docs").Docs(), 41)
	check(t, "chunks seen by the other", searcher(t, b, "/docs").Docs(), 41)
}

// TestAnotherAnalyzer: terms are made again from the stored text.
func TestAnotherAnalyzer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index.db")
	english := open(t, path, index.Options{})
	for i := range 70 {
		put(t, english, "/docs", file(fmt.Sprintf("%d.md", i), "Running", fmt.Sprintf("jumps %d", i)))
	}
	check(t, "stemmed", searcher(t, english, "/docs").DocFreq("jump"), 70)
	plain := open(t, path, index.Options{Analyzer: text.For("")})
	s := searcher(t, plain, "/docs")
	check(t, "as it stands", s.DocFreq("jumps"), 70)
	check(t, "title", s.DocFreq("running"), 70)
	check(t, "stemmed", s.DocFreq("jump"), 0)
}
