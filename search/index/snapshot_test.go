package index_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/search/index"
)

// TestSnapshotRestored: what is restored, under other roots and beside other
// collections, answers as what was saved, its vectors too; nothing is embedded
// again, and nothing is left over.
func TestSnapshotRestored(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	model := index.Embedder{Model: "bag"}
	for i := range 20 {
		e := randomFile(r, fmt.Sprintf("%02d.md", i))
		put(t, db, "/home/ann/docs", e)
		put(t, db, "/home/ann/notes", file(e.File.Source, "Notes", "other words of "+e.File.Source))
	}
	if err := db.Delete(t.Context(), "/home/ann/docs", "03.md"); err != nil {
		t.Fatal(err)
	}
	embed(t, db, model, newBag(32), "/home/ann/docs")
	var snapshot bytes.Buffer
	if _, err := db.Snapshot(t.Context(), &snapshot); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	other := open(t, filepath.Join(dir, "index.db"), index.Options{})
	put(t, other, "/srv/docs", file("old.md", "", "what was there before"))
	put(t, other, "/srv/else", file("else.md", "", "something else"))
	restored, err := other.Restore(t.Context(), bytes.NewReader(snapshot.Bytes()), []string{"/srv/docs", "/srv/notes"})
	if err != nil {
		t.Fatal(err)
	}
	check(t, "restored", []string{restored[0].Root, restored[1].Root}, []string{"/srv/docs", "/srv/notes"})
	check(t, "what stayed", search(t, searcher(t, other, "/srv/else"), "something"), []string{"else.md#0"})
	for _, query := range []string{"volume network", "container", "cache build layer"} {
		check(t, query, search(t, searcher(t, other, "/srv/docs"), query), search(t, searcher(t, db, "/home/ann/docs"), query))
	}
	if found, err := other.Verify(t.Context(), index.VerifyOptions{}); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
	again := newBag(32)
	embed(t, other, model, again, "/srv/docs")
	check(t, "texts embedded again", again.texts(), 0)
	check(t, "vectors", vectors(t, other, model, "/srv/docs").Len(), vectors(t, db, model, "/home/ann/docs").Len())
	left, err := filepath.Glob(filepath.Join(dir, "*.tmp*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if _, err := other.Restore(t.Context(), bytes.NewReader(snapshot.Bytes()), nil); err != nil {
		t.Fatal(err)
	}
	sameAnswers(t, r, searcher(t, other, "/home/ann/docs"), searcher(t, db, "/home/ann/docs"))
}

// TestSnapshotWhileWriting: a snapshot is one moment, whatever a writer does.
func TestSnapshotWhileWriting(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	round := func(n int) error {
		var entries []index.Entry
		for i := range 10 {
			entries = append(entries, file(fmt.Sprintf("%d.md", i), "", fmt.Sprintf("round%d", n)))
		}
		return db.Put(t.Context(), "/docs", entries)
	}
	if err := round(0); err != nil {
		t.Fatal(err)
	}
	done, stop := make(chan error, 1), make(chan struct{})
	go func() {
		var err error
		for n := 1; err == nil; n++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
				err = round(n)
			}
		}
		done <- err
	}()
	for range 5 {
		var snapshot bytes.Buffer
		if _, err := db.Snapshot(t.Context(), &snapshot); err != nil {
			t.Fatal(err)
		}
		other := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
		if _, err := other.Restore(t.Context(), &snapshot, nil); err != nil {
			t.Fatal(err)
		}
		s := searcher(t, other, "/docs")
		chunks, err := s.Chunks(t.Context(), []string{"0.md#0", "1.md#0", "9.md#0"})
		if err != nil || len(chunks) != 3 || chunks[0].Text != chunks[1].Text || chunks[0].Text != chunks[2].Text || s.Docs() != 10 {
			t.Errorf("got %v, %v", chunks, err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestRestoreRefuses: what is no whole snapshot changes nothing, and says why.
func TestRestoreRefuses(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	put(t, db, "/docs", file("a.md", "", "some words"))
	var out bytes.Buffer
	if _, err := db.Snapshot(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	whole := out.Bytes()
	line := bytes.IndexByte(whole, '\n') + 1
	flip := func(i int) []byte {
		b := slices.Clone(whole)
		b[i] ^= 0x41
		return b
	}
	for _, tt := range []struct {
		name  string
		data  []byte
		roots []string
		want  string
	}{
		{"empty", nil, nil, "not a snapshot"},
		{"something else", []byte("SQLite format 3\x00 and more than a line of it"), nil, "not a snapshot"},
		{"cut in the line", whole[:line-2], nil, "first line"},
		{"newer", append([]byte("ragflow index snapshot 2 99\n"), whole[line:]...), nil, "format 2, and this program knows 1"},
		{"another size", append([]byte("ragflow index snapshot 1 99\n"), whole[line:]...), nil, "damaged or cut short"},
		{"cut", whole[:len(whole)/2], nil, "damaged or cut short"},
		{"one byte short", whole[:len(whole)-1], nil, "damaged or cut short"},
		{"longer", append(slices.Clone(whole), 0), nil, "damaged or cut short"},
		{"changed", flip(len(whole) / 2), nil, "damaged or cut short"},
		{"another checksum", flip(len(whole) - 1), nil, "damaged or cut short"},
		{"roots", whole, []string{"/a", "/b"}, "holds 1 collections (/docs), but 2 paths"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
			put(t, other, "/docs", file("b.md", "", "words of another"))
			_, err := other.Restore(t.Context(), bytes.NewReader(tt.data), tt.roots)
			if _, ok := errors.AsType[*index.SnapshotError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want a SnapshotError with %q", err, tt.want)
			}
			check(t, "what was there", search(t, searcher(t, other, "/docs"), "words"), []string{"b.md#0"})
		})
	}
}
