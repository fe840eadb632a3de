package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/mutate"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
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

func wordsOf(b *codebook) []string {
	words := make([]string, b.len())
	for code := range words {
		words[code] = string(b.word(code))
	}
	return words
}

func TestPackedTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 200 {
		texts = append(texts, prose(r, 120))
	}
	b := trainCodebook(texts)
	again, err := decodeCodebook(b.encode())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wordsOf(b), wordsOf(again)); diff != "" {
		t.Errorf("words of a codebook that was kept (-want +got):\n%s", diff)
	}
	before, after := 0, 0
	v := text.NewVocabulary(text.Multilingual())
	for _, s := range append(texts, "", "a  container \u00e9, container\u00e9 - "+strings.Repeat("container", 5)+"\n container", " ", "  two  spaces ", "\x00\xff\xfe", strings.Repeat("long", 100), strings.Repeat("ế", 100), "日本語のテキスト") {
		packed := b.pack(nil, s)
		got, err := again.unpack(packed)
		if err != nil || got != s {
			t.Fatalf("unpack(pack(%q)) = %q, %v", s, got, err)
		}
		if r, _ := v.Read(nil, s); !bytes.Equal(again.packRead(nil, &r), packed) {
			t.Fatalf("%q that was read is packed as %q, want %q", s, again.packRead(nil, &r), packed)
		}
		before, after = before+len(s), after+len(packed)
	}
	if after*2 > before {
		t.Errorf("%d bytes are packed to %d, more than half", before, after)
	}
	if b := trainCodebook([]string{"all words but once"}); b != nil {
		t.Errorf("a codebook of words that save nothing: %q", wordsOf(b))
	}
}

// BenchmarkUnpack unpacks a text of a hundred words.
func BenchmarkUnpack(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	var texts []string
	for range 200 {
		texts = append(texts, prose(r, 100))
	}
	book := trainCodebook(texts)
	var packed [][]byte
	for _, s := range texts {
		packed = append(packed, book.pack(nil, s))
	}
	b.SetBytes(int64(len(texts[0])))
	for i := 0; b.Loop(); i++ {
		if _, err := book.unpack(packed[i%len(packed)]); err != nil {
			b.Fatal(err)
		}
	}
}

func FuzzPackedTexts(tf *testing.F) {
	f := mutate.New(tf)
	b := newCodebook([]string{" the", "the", " tế", "語", "word", " and"})
	for _, s := range []string{"the word and the tế 語語", "\xf8\x80\xff", strings.Repeat("é", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		packed := b.pack(nil, s)
		if got, err := b.unpack(packed); err != nil || got != s {
			t.Fatalf("unpack(pack(%q)) = %q, %v", s, got, err)
		}
		most := 2 * len(s) // each rune beyond ASCII, of two bytes and more, as a word of its own
		if !utf8.ValidString(s) {
			most = 3 * len(s)
		}
		if len(packed) > most {
			t.Fatalf("%d bytes are packed to %d", len(s), len(packed))
		}
		if got, err := b.unpack([]byte(s)); err != nil && (!errors.Is(err, errPacked) || got != "") { // damage is told, and nothing worse
			t.Fatalf("unpack(%q) = %q, %v", s, got, err)
		}
		if c, err := decodeCodebook([]byte(s)); err == nil && string(c.encode()) != s && len(c.encode()) > len(s) {
			t.Fatalf("decodeCodebook(%q) has words %q", s, wordsOf(c))
		}
	})
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

// TestCodebooks: texts of another kind get another codebook, and all are read by
// who wrote them, by other processes and from snapshots.
func TestCodebooks(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	db, err := Open(ctx, dir+"/index.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	want := map[string]string{}
	put := func(root string, entries []Entry) {
		t.Helper()
		for _, e := range entries {
			for _, c := range e.Chunks {
				want[c.ID] = c.Text
			}
		}
		if err := db.Put(ctx, root, entries); err != nil {
			t.Fatal(err)
		}
	}
	small := []Entry{{File: File{Source: "a.md"}, Chunks: []state.Chunk{{ID: "d6d8515b-68ce-5717-bf69-ed38c7d52679", Text: "before there is a codebook"}}}}
	put("/docs", small)
	put("/docs", large(r, "b", 4))
	put("/docs", large(r, "b", 4)) // again: the same book
	put("/docs", large(r, "qx", 4))
	small[0].File.Source, small[0].Chunks = "z.md", []state.Chunk{{ID: "D6D8515B-68CE-5717-BF69-ED38C7D52679", Text: strings.ReplaceAll(prose(r, 50), " ", " qx")}}
	put("/docs", small)
	if got := count(t, db, `SELECT count(*) FROM codebooks`); got != 2 {
		t.Errorf("%d codebooks, not 2", got)
	}
	if got := count(t, db, `SELECT count(*) FROM chunks WHERE book = 0`); got != 1 {
		t.Errorf("%d chunks are not packed, not 1", got)
	}
	if err := db.Publish(ctx, "/docs", nil); err != nil {
		t.Fatal(err)
	}
	var snapshot bytes.Buffer
	if _, err := db.Snapshot(ctx, &snapshot); err != nil {
		t.Fatal(err)
	}
	other, err := Open(ctx, dir+"/index.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Open(ctx, dir+"/restored.db", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.Put(ctx, "/other", large(r, "other", 2)); err != nil { // has a codebook of its own
		t.Fatal(err)
	}
	for range 2 { // the second time its codebooks are there
		if _, err := restored.Restore(ctx, bytes.NewReader(snapshot.Bytes()), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := count(t, restored, `SELECT count(*) FROM codebooks`); got != 3 {
		t.Errorf("%d codebooks after restoring, not 3", got)
	}
	for name, db := range map[string]*DB{"writer": db, "other": other, "restored": restored} {
		s, err := db.Searcher(ctx, "/docs")
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for id := range want {
			ids = append(ids, id)
		}
		chunks, err := s.Chunks(ctx, ids)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, c := range chunks {
			got[c.ID] = c.Text
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("texts read by %s (-want +got):\n%s", name, diff)
		}
		found, err := db.Verify(ctx, VerifyOptions{})
		if err != nil || len(found) > 0 {
			t.Errorf("findings of %s: %v, %v", name, found, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPrepare makes batches ready before the first of them is saved: they share its
// codebook, which is saved once, or with the next where the first could not be.
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
	if files, books := count(t, db, `SELECT count(*) FROM files`), count(t, db, `SELECT count(*) FROM codebooks`); files != 4 || books != 1 {
		t.Errorf("%d files and %d codebooks, want 4 and 1", files, books)
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
