package index_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// memoryChild makes the test binary open the index at a path, search it by words
// and by meaning, and tell how much memory that took at most.
const memoryChild = "RAGFLOW_TEST_MEMORY"

// memoryDimension is that of the vectors of TestMemory.
const memoryDimension = 768

// randomVectors embeds a text as a vector that is the same for the same text.
func randomVectors(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		out[i] = randomVector(rand.New(rand.NewPCG(h.Sum64(), 1)), memoryDimension)
	}
	return out, nil
}

func searchInMemory(path string) (err error) {
	ctx := context.Background()
	db, err := index.Open(ctx, path, index.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	s, err := db.Searcher(ctx, "/patterns")
	if err != nil {
		return err
	}
	before := heap()
	v, err := s.Vectors(ctx, search.VectorSpec{Model: "random"})
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "VectorHeap: %d kB\n", (heap()-before)/1024)
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		hits, err := s.Search(ctx, state.Query{Text: randomText(r, 5) + " pattern"}, 50)
		if err != nil {
			return err
		}
		near, err := v.Search(ctx, randomVector(r, memoryDimension), 50, -1)
		if err != nil {
			return err
		}
		for _, list := range [][]state.Hit{hits, near} {
			var ids []string
			for _, h := range list {
				ids = append(ids, h.Chunk)
			}
			if chunks, err := s.Chunks(ctx, ids); err != nil || len(chunks) != 50 {
				return fmt.Errorf("%d chunks, %w", len(chunks), err)
			}
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(status)
	return err
}

// heap is how many bytes are in use that are still needed.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory is T08: 21,624 small documents with vectors of 768 numbers, in one
// process that was started to search. It holds the resident memory after fifty
// searches by words and fifty by meaning, the most there was, and what a vector takes
// in memory and on disk, which depend on nothing but the format.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes and embeds 21,624 documents")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("the system does not tell the memory of a process in /proc")
	}
	const documents = 21_624
	path := filepath.Join(t.TempDir(), "index.db")
	db := open(t, path, index.Options{})
	r := rand.New(rand.NewPCG(5, 6))
	var batch []search.Entry
	for i := range documents {
		batch = append(batch, file(fmt.Sprintf("%05d.go", i), fmt.Sprintf("Pattern %d", i), fmt.Sprintf("pattern number%d %s", i, randomText(r, 120))))
		if len(batch) == 500 || i == documents-1 {
			put(t, db, "/patterns", batch...)
			batch = batch[:0]
		}
	}
	if _, err := db.Embed(t.Context(), search.VectorSpec{Model: "random"}, []string{"/patterns"}, search.EmbedOptions{Embed: randomVectors, Batch: 256}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), memoryChild+"="+path)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	told := func(name string) float64 {
		found := regexp.MustCompile(name + `:\s*(\d+) kB`).FindStringSubmatch(string(out))
		if found == nil {
			t.Fatalf("no %s in:\n%s", name, out)
		}
		kilobytes, err := strconv.Atoi(found[1])
		if err != nil {
			t.Fatal(err)
		}
		return float64(kilobytes) * 1024
	}
	const (
		exact = 4 * memoryDimension // a 32-bit float a dimension
		row   = 4                   // the number of the chunk
	)
	for _, tt := range []struct {
		what string
		got  float64
		most float64
	}{
		{what: "resident memory, MB", got: told("VmRSS") / 1e6, most: 200}, // T08
		{what: "most resident memory, MB", got: told("VmHWM") / 1e6, most: 200},
		{what: "a vector in memory, bytes", got: told("VectorHeap") / documents, most: exact + row + 16}, // and what reading left
	} {
		t.Logf("%s: %.1f", tt.what, tt.got)
		if tt.got > tt.most {
			t.Errorf("%s: %.1f, want at most %.1f", tt.what, tt.got, tt.most)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the database: %.1f MB", float64(info.Size())/1e6)
}
