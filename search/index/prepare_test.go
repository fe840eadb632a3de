package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// prose makes a text of n words, the commoner the shorter.
func prose(r *rand.Rand, n int) string {
	var out strings.Builder
	for i := range n {
		if i > 0 {
			out.WriteString([]string{" ", " ", " ", " ", ", ", ". ", "\n"}[r.IntN(7)])
		}
		rank := int(1 / (r.Float64() + 0.0005))
		out.WriteString([]string{"of", "Volume", "container", "mạng", "réseau", "日本"}[rank%6])
		fmt.Fprintf(&out, "%s", strings.Repeat("s", rank%3)+word(rank))
	}
	return out.String()
}

// large makes entries of about 64 KB of text each, whose words begin with a
// letter.
func large(r *rand.Rand, first string, n int) []Entry {
	var out []Entry
	for i := range n {
		e := Entry{File: File{Source: fmt.Sprintf("%s%03d.md", first, i), Title: first}}
		for c := range 4 {
			text := strings.ReplaceAll(prose(r, 2000), " ", " "+first)
			e.Chunks = append(e.Chunks, state.Chunk{ID: fmt.Sprintf("%s-%d-%d", first, i, c), Ordinal: c, Text: text, Headings: []string{"Of " + first}})
		}
		out = append(out, e)
	}
	return out
}

// TestPrepare prepares batches before the first of them is saved.
func TestPrepare(t *testing.T) {
	ctx, r := t.Context(), rand.New(rand.NewPCG(5, 6))
	db, err := Open(ctx, t.TempDir()+"/index.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var batches []*Batch
	for _, first := range []string{"a", "b", "c"} {
		entries := large(r, "b", 2)
		for i := range entries {
			entries[i].File.Source = first + entries[i].File.Source
			for k := range entries[i].Chunks {
				entries[i].Chunks[k].ID = first + entries[i].Chunks[k].ID
			}
		}
		b, err := db.Prepare(ctx, "/docs", entries)
		if err != nil {
			t.Fatal(err)
		}
		batches = append(batches, b)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if err := batches[0].Save(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the end of the context", err)
	}
	for _, b := range batches[1:] {
		if err := b.Save(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if files := count(t, db, `SELECT count(*) FROM files`); files != 4 {
		t.Errorf("%d files, want 4", files)
	}
	if found, err := db.Verify(ctx, VerifyOptions{}); err != nil || len(found) > 0 {
		t.Errorf("findings %v, %v", found, err)
	}
}

func count(t *testing.T, db *DB, query string) (n int) {
	t.Helper()
	if err := db.sql.Read(t.Context(), func(tx *sqlite.Tx) error { return tx.QueryRow(query).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEarlierIndex: an index of an earlier version is refused by an error of its own.
func TestEarlierIndex(t *testing.T) {
	path := t.TempDir() + "/index.db"
	old, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{`CREATE TABLE settings(name TEXT)`}, ApplicationID: 0x72666978})
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, ErrEarlier) {
		t.Errorf("error %v, want ErrEarlier", err)
	}
}
