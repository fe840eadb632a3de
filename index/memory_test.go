package index_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/index"
	"example.com/ragflow/state"
)

// memoryChild makes the test binary open the index at a path, search it by words
// and by meaning, and tell how much memory that took at most.
const memoryChild = "RAGFLOW_TEST_MEMORY"

// memoryDimension is that of the vectors of BenchmarkMemory.
const memoryDimension = 768

// randomVectors embeds a text as a vector that is the same for the same text.
func randomVectors(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		r := rand.New(rand.NewPCG(uint64(len(text)), 1))
		for _, b := range []byte(text) {
			r = rand.New(rand.NewPCG(r.Uint64(), uint64(b)))
		}
		out[i] = randomVector(r, memoryDimension)
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
	v, err := s.Vectors(ctx, index.Embedder{Model: "random"})
	if err != nil {
		return err
	}
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

// BenchmarkMemory is T08: 21,624 small documents with vectors of 768 numbers, as
// one process has them that was started to search. It reports the resident memory
// after fifty searches by words and fifty by meaning, and the most there was.
func BenchmarkMemory(b *testing.B) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		b.Skip("the system does not tell the memory of a process in /proc")
	}
	const documents = 21_624
	path := filepath.Join(b.TempDir(), "index.db")
	db := open(b, path, index.Options{})
	r := rand.New(rand.NewPCG(5, 6))
	var batch []index.Entry
	for i := range documents {
		batch = append(batch, file(fmt.Sprintf("%05d.go", i), fmt.Sprintf("Pattern %d", i), fmt.Sprintf("pattern number%d %s", i, randomText(r, 120))))
		if len(batch) == 500 || i == documents-1 {
			put(b, db, "/patterns", batch...)
			batch = batch[:0]
		}
	}
	if _, err := db.Embed(b.Context(), index.Embedder{Model: "random"}, []string{"/patterns"}, index.EmbedOptions{Embed: randomVectors, Batch: 256}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), memoryChild+"="+path)
		out, err := cmd.Output()
		if err != nil {
			b.Fatal(err)
		}
		for name, unit := range map[string]string{"VmRSS": "RSS-MB", "VmHWM": "peak-MB"} {
			found := regexp.MustCompile(name + `:\s*(\d+) kB`).FindStringSubmatch(string(out))
			if found == nil {
				b.Fatal("no " + name)
			}
			kilobytes, err := strconv.Atoi(found[1])
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(kilobytes)*1024/1e6, unit)
		}
	}
	for _, name := range []string{path, path + ".segments"} {
		b.ReportMetric(float64(sizeOf(b, name))/1e6, strings.TrimPrefix(filepath.Ext(name), ".")+"-MB")
	}
}

// sizeOf returns the bytes of a file, or of the files in a folder.
func sizeOf(b *testing.B, name string) (n int64) {
	b.Helper()
	if err := filepath.WalkDir(name, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return n
}
