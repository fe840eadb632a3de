package ingest_test

import (
	"context"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// library is a library over an embedded index that tests can search.
type library struct {
	*ingest.Library
	index search.Backend
}

// open opens a library whose index is a file in data; in memory if data is empty.
func open(t *testing.T, data string, o ingest.Options) library {
	t.Helper()
	path := ""
	if data != "" {
		path = filepath.Join(data, "index.db")
	}
	db, err := index.Open(t.Context(), path, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return over(t, db, o)
}

func over(t *testing.T, db search.Backend, o ingest.Options) library {
	t.Helper()
	if o.Clock == nil {
		o.Clock = time.Now
	}
	l := library{ingest.New(db, o), db}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func syncAll(t *testing.T, l library, paths ...string) *ingest.Report {
	t.Helper()
	r, err := l.Sync(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found returns the chunks of the view that hold a word.
func found(tb testing.TB, l library, word string) []state.Chunk {
	tb.Helper()
	snapshot, err := l.index.Snapshot(tb.Context(), l.View().Roots...)
	if err != nil {
		tb.Fatal(err)
	}
	hits, err := snapshot.SearchWords(tb.Context(), state.Query{Text: word, Weight: 1}, 10)
	if err != nil {
		tb.Fatal(err)
	}
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.Chunk)
	}
	chunks, err := snapshot.Chunks(tb.Context(), ids)
	if err != nil {
		tb.Fatal(err)
	}
	return chunks
}

// finds reports whether a search for a word finds a source.
func finds(t *testing.T, l library, word, source string) bool {
	t.Helper()
	for _, c := range found(t, l, word) {
		if c.Source == source && strings.Contains(c.Text, word) {
			return true
		}
	}
	return false
}

// meaning is an embedder of word hashes that counts the texts it was given.
type meaning struct {
	model string
	mu    sync.Mutex
	texts int
	fail  func(ctx context.Context, texts int) error
}

func (m *meaning) Model() string { return m.model }

func (m *meaning) Embed(ctx context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	m.mu.Lock()
	m.texts += len(texts)
	n, fail := m.texts, m.fail
	m.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, n); err != nil {
			return llm.Embeddings{}, err
		}
	}
	out := llm.Embeddings{Calls: 1}
	for _, text := range texts {
		v := make([]float32, 32)
		for w := range strings.FieldsSeq(text) {
			h := fnv.New32a()
			h.Write([]byte(w))
			v[h.Sum32()%32]++
		}
		v[0]++
		out.Vectors = append(out.Vectors, v)
		out.Usage.Input += int64(len(strings.Fields(text)))
	}
	return out, nil
}

// embedded counts the texts since the last call.
func (m *meaning) embedded() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.texts
	m.texts = 0
	return n
}
