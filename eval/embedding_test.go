package eval_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// embeddingCache is an embedder that caches the vectors of another one in a file, because the vectors of a
// set take an hour. A record of the file is the key of a text, the length of its vector, and its numbers in
// little endian.
type embeddingCache struct {
	next llm.Embedder

	mu    sync.Mutex
	known map[[sha256.Size]byte][]float32
	file  *os.File // new vectors are appended to it
}

// cachedEmbedder returns the embedder that scripts/models starts, with a cache file in the folder that
// RAGFLOW_TEST_EMBEDDING_CACHE names. It skips the test if both are missing.
func cachedEmbedder(t *testing.T) llm.Embedder {
	t.Helper()
	url, model, folder := os.Getenv("RAGFLOW_TEST_EMBEDDING_BASE_URL"), os.Getenv("RAGFLOW_TEST_EMBEDDING_MODEL"), os.Getenv("RAGFLOW_TEST_EMBEDDING_CACHE")
	if url == "" || model == "" {
		t.Skip("no embedding server: run scripts/models start, and set the variables it writes")
	}
	if folder == "" {
		t.Skip("embedding all sets takes an hour of one processor: RAGFLOW_TEST_EMBEDDING_CACHE must name a folder that keeps the vectors")
	}
	client, err := openai.New(openai.Config{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}
	// This server adds the prefixes of E5 and recognizes queries by the model name.
	next := llm.RetryEmbedder(client.Embedder(openai.EmbedderConfig{Model: model, QueryModel: model + "-query"}), llm.RetryOptions{})
	c, err := openEmbeddingCache(filepath.Join(folder, model+".bin"), next)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.file.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// openEmbeddingCache reads or creates a file. An incomplete last record is overwritten.
func openEmbeddingCache(path string, next llm.Embedder) (*embeddingCache, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	c := &embeddingCache{next: next, known: map[[sha256.Size]byte][]float32{}, file: f}
	r := bufio.NewReader(f)
	end := int64(0)
	for {
		var key [sha256.Size]byte
		var n uint32
		if _, err = io.ReadFull(r, key[:]); err == nil {
			err = binary.Read(r, binary.LittleEndian, &n)
		}
		var v []float32
		if err == nil {
			v = make([]float32, n)
			err = binary.Read(r, binary.LittleEndian, v)
		}
		if err != nil {
			break
		}
		c.known[key] = v
		end += int64(len(key)) + 4 + 4*int64(n)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		_, err = f.Seek(end, io.SeekStart)
	}
	return c, err
}

// Model implements llm.Embedder.
func (c *embeddingCache) Model() string { return c.next.Model() }

// Embed implements llm.Embedder. The caller owns the vectors.
func (c *embeddingCache) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	out := llm.Embeddings{Model: c.Model(), Vectors: make([][]float32, len(texts)), Calls: 1}
	var missing []int
	var list []string
	c.mu.Lock()
	for i, t := range texts {
		v, ok := c.known[embeddingKey(t, p)]
		if !ok {
			missing, list = append(missing, i), append(list, t)
		}
		out.Vectors[i] = append([]float32(nil), v...)
	}
	c.mu.Unlock()
	if len(list) == 0 {
		return out, nil
	}
	made, err := c.next.Embed(ctx, list, p)
	if err != nil {
		return made, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var body []byte
	for j, i := range missing {
		key, v := embeddingKey(texts[i], p), made.Vectors[j]
		out.Vectors[i], c.known[key] = v, append([]float32(nil), v...)
		body = append(body, key[:]...)
		body = binary.LittleEndian.AppendUint32(body, uint32(len(v)))
		for _, x := range v {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(x))
		}
	}
	_, err = c.file.Write(body)
	return out, err
}

func embeddingKey(text string, p llm.Purpose) [sha256.Size]byte {
	return sha256.Sum256([]byte(strconv.Itoa(int(p)) + text))
}

// fixed embeds a text as its length, and counts the requests.
type fixed struct{ asked int }

func (*fixed) Model() string { return "fixed" }

func (f *fixed) Embed(_ context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	var out llm.Embeddings
	for _, t := range texts {
		f.asked++
		out.Vectors = append(out.Vectors, []float32{float32(len(t)), float32(p)})
	}
	return out, nil
}

// TestEmbeddingCache checks that saved vectors survive an incomplete record, and that only the missing ones
// are requested.
func TestEmbeddingCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vectors", "fixed.bin")
	for round, want := range []int{3, 1} {
		model := &fixed{}
		c, err := openEmbeddingCache(path, model)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time nothing is requested
			got, err := c.Embed(t.Context(), []string{"three", "to"}, llm.Passage)
			if diff := cmp.Diff([][]float32{{5, 0}, {2, 0}}, got.Vectors); diff != "" || err != nil {
				t.Errorf("round %d: %v, vectors (-want +got):\n%s", round, err, diff)
			}
			got, err = c.Embed(t.Context(), []string{"three"}, llm.Query)
			if diff := cmp.Diff([][]float32{{5, 1}}, got.Vectors); diff != "" || err != nil {
				t.Errorf("round %d: %v, vector of a query (-want +got):\n%s", round, err, diff)
			}
		}
		if model.asked != want {
			t.Errorf("round %d: asked for %d texts, want %d", round, model.asked, want)
		}
		info, err := c.file.Stat()
		if err == nil {
			err = errors.Join(c.file.Close(), os.Truncate(path, info.Size()-1))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
