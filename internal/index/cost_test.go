//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package index_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestCostOfADocument holds what a document of a made-up corpus takes: bytes on
// disk and statements. They are the same on every machine.
func TestCostOfADocument(t *testing.T) {
	const documents, batch = 2000, 500
	r := rand.New(rand.NewPCG(5, 6))
	var entries []search.Entry
	text := 0
	for i := range documents {
		e := search.Entry{File: search.File{
			Source: strconv.Itoa(i), Title: common(r, 10), Hash: fmt.Sprintf("%064x", r.Uint64()), Chunker: "chunk/5 size=512 min=96",
		}}
		body := common(r, 200)
		text += len(body) + len(e.File.Title)
		e.Chunks = []state.Chunk{{
			ID: fmt.Sprintf("%08x-68ce-5717-bf69-%012x", r.Uint32(), i), Text: body, End: len(body), StartLine: 1, EndLine: 1, Kind: "text",
		}}
		entries = append(entries, e)
	}
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	put(t, db, "/warm", file("a.md", "Warm", "words"))
	statements := db.Counters().Statements
	for at := 0; at < documents; at += batch {
		put(t, db, "/docs", entries[at:at+batch]...)
	}
	if err := db.Publish(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	statements = db.Counters().Statements - statements
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what      string
		got, most float64
	}{
		{what: "bytes on disk", got: float64(info.Size()) / documents, most: 1600},
		{what: "bytes on disk for each byte of text", got: float64(info.Size()) / float64(text), most: 2},
		{what: "statements", got: float64(statements) / documents, most: 2.1}, // its row, and that of its chunk
	} {
		t.Logf("a document takes %.2f %s", tt.got, tt.what)
		if tt.got > tt.most {
			t.Errorf("a document takes %.2f %s, more than %.2f", tt.got, tt.what, tt.most)
		}
	}
}

// common makes a text of n words; a few of them are most of it.
func common(r *rand.Rand, n int) string {
	syllables := []string{"ta", "ri", "mo", "len", "sub", "ver", "ing", "con", "ex", "pro"}
	var out strings.Builder
	for range n {
		for rank := int(1 / (r.Float64() + 0.0002)); ; rank /= len(syllables) {
			out.WriteString(syllables[rank%len(syllables)])
			if rank < len(syllables) {
				break
			}
		}
		out.WriteString([]string{" ", " ", " ", ", ", ". "}[r.IntN(5)])
	}
	return out.String()
}
