// Command search measures the search of this project beside others, as described in bench/search/README.md.
//
//	search generate DATA FOLDER N             makes the large corpus and its vectors
//	search compare [-rounds 3] …              runs all engines in turn and prints tables
//	search ENGINE PHASE CORPUS FOLDER         one phase of one engine, prints one JSON object
//	search figures CORPUS RUN                 the quality of a TREC run, as one JSON object
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// metrics are the results of a phase, by name.
type metrics map[string]float64

// depth is the number of documents that every engine returns for a query.
const depth = 100

// engine is a search library under test.
type engine struct {
	index func(ctx context.Context, c corpus, dir string) error // builds from nothing, on disk
	words func(ctx context.Context, c corpus, dir string) (search, error)
	// documents converts found words to the documents of a run, for engines with passages; not measured, like
	// the lookup of a row's name.
	documents func(ctx context.Context, dir string, found [][]hit) error
	texts     func(ctx context.Context, c corpus, dir string) (search, error) // words, and reads the texts of the results
	embed     func(ctx context.Context, c corpus, dir string) error           // adds the vectors, if the index does not
	vectors   func(ctx context.Context, c corpus, dir string) (vectorSearch, error)
	fused     func(ctx context.Context, c corpus, dir string) (search, error) // words and vectors
	hybrid    func(ctx context.Context, c corpus, dir string) (search, error) // the same, reranked
}

// search returns ids and scores of the best k documents for words.
type search func(ctx context.Context, query string, k int) ([]hit, error)

// vectorSearch returns the rows of the best k vectors.
type vectorSearch func(ctx context.Context, query []float32, k int) ([]string, error)

type hit struct {
	id    string
	score float64
}

func engines() map[string]engine {
	return map[string]engine{"ours": ours(), "bleve": bleveEngine(), "fts5": fts5(), "chromem": chromemEngine(), "sqlite-vec": sqliteVec()}
}

func main() {
	ctx := context.Background()
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 4 && args[0] == "generate":
		err = generate(args[1], args[2], args[3])
	case len(args) > 0 && args[0] == "compare":
		err = compare(ctx, args[1:])
	case len(args) == 3 && args[0] == "figures":
		m := metrics{}
		if err = m.quality(corpus(args[1]), args[2]); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(m)
		}
	case len(args) == 4:
		var m metrics
		if m, err = phase(ctx, args[0], args[1], corpus(args[2]), args[3]); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(m)
		}
	default:
		err = errors.New("usage: search generate DATA FOLDER N | search compare … | search ENGINE PHASE CORPUS FOLDER")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// phase runs one phase. A phase that an engine lacks has no metrics.
func phase(ctx context.Context, name, what string, c corpus, dir string) (metrics, error) {
	e, ok := engines()[name]
	if !ok {
		return nil, fmt.Errorf("there is no engine %q", name)
	}
	build := map[string]func(context.Context, corpus, string) error{"index": e.index, "embed": e.embed}[what]
	searches := map[string]struct {
		open func(context.Context, corpus, string) (search, error)
		k    int
	}{"words": {e.words, depth}, "ids": {e.words, 10}, "texts": {e.texts, 10}, "fused": {e.fused, 10}, "hybrid": {e.hybrid, 10}}[what]
	switch {
	case build != nil:
		watch := begin()
		if err := build(ctx, c, dir); err != nil {
			return nil, err
		}
		m := watch.per(1)
		n, err := c.size()
		return metrics{"per_second": n / m["wall"], "per_cpu_second": n / m["cpu"], "bytes": size(dir) / n}, err
	case searches.open != nil:
		s, err := searches.open(ctx, c, dir)
		if err != nil {
			return nil, err
		}
		run := name + "-" + what + ".trec"
		documents := func([][]hit) error { return nil }
		if e.documents != nil && (what == "words" || what == "ids") {
			documents = func(found [][]hit) error { return e.documents(ctx, dir, found) }
		}
		return measureWords(ctx, s, c, searches.k, filepath.Join(dir, run), documents)
	case what == "vectors" && e.vectors != nil:
		s, err := e.vectors(ctx, c, dir)
		if err != nil {
			return nil, err
		}
		return measureVectors(ctx, s, c, filepath.Join(dir, name+".rows"))
	}
	return metrics{}, nil
}

const (
	atLeast = 3 * time.Second // queries are repeated for this time
	atMost  = 50              // repetitions
)

// measureWords searches for every query once, measured separately, and keeps the documents found; then
// repeatedly.
func measureWords(ctx context.Context, s search, c corpus, k int, run string, documents func([][]hit) error) (metrics, error) {
	queries, err := c.queries()
	if err != nil {
		return nil, err
	}
	out, err := os.Create(run)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	found, took := make([][]hit, len(queries)), make([]float64, len(queries))
	watch := begin()
	for i, q := range queries {
		begun := time.Now()
		if found[i], err = s(ctx, q.Text, k); err != nil {
			return nil, err
		}
		took[i] = time.Since(begun).Seconds() * 1000
	}
	first := watch.per(len(queries))
	slices.Sort(took)
	m, err := repeat(len(queries), func(i int) error {
		_, err := s(ctx, queries[i].Text, k)
		return err
	})
	if err == nil {
		m["first_per_cpu_second"] = 1 / first["cpu"]
		m["first_p50"] = took[len(took)/2]
		err = documents(found)
	}
	for i, q := range queries {
		for rank, h := range found[i] {
			fmt.Fprintf(out, "%s Q0 %s %d %.9g x\n", q.ID, h.id, rank+1, h.score)
		}
	}
	return m, err
}

// measureVectors does the same with vectors.
func measureVectors(ctx context.Context, s vectorSearch, c corpus, run string) (metrics, error) {
	queries, err := c.vectorsOf("queries")
	if err != nil {
		return nil, err
	}
	queries = queries[:min(100, len(queries))]
	found := make([][]string, len(queries))
	for i, q := range queries {
		if found[i], err = s(ctx, q, 10); err != nil {
			return nil, err
		}
	}
	data, err := json.Marshal(found)
	if err == nil {
		err = os.WriteFile(run, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	return repeat(len(queries), func(i int) error {
		_, err := s(ctx, queries[i], 10)
		return err
	})
}

// repeat does n things repeatedly and measures each round. Processor time is that of the fastest round, which
// other load disturbed least.
func repeat(n int, do func(i int) error) (metrics, error) {
	var took []float64
	watch, least := begin(), math.Inf(1)
	for round := 0; round == 0 || round < atMost && time.Since(watch.wall) < atLeast; round++ {
		begun := processor()
		for i := range n {
			begun := time.Now()
			if err := do(i); err != nil {
				return nil, err
			}
			took = append(took, time.Since(begun).Seconds()*1000)
		}
		least = min(least, processor()-begun)
	}
	m := watch.per(len(took))
	slices.Sort(took)
	return metrics{
		"per_cpu_second": float64(n) / least, "per_second": 1 / m["wall"],
		"p50": took[len(took)/2], "p99": took[len(took)*99/100],
	}, nil
}

// watch measures from its start.
type watch struct {
	wall time.Time
	cpu  float64
}

func begin() watch { return watch{time.Now(), processor()} }

// per returns the time of each of n things, in seconds.
func (w watch) per(n int) metrics {
	return metrics{"wall": time.Since(w.wall).Seconds() / float64(n), "cpu": (processor() - w.cpu) / float64(n)}
}

// processor returns the user and system time of the process.
func processor() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it cannot fail for the process itself
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// size returns the bytes of the files in a folder.
func size(dir string) float64 {
	sum := 0.0
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			sum += float64(info.Size())
		}
		return nil
	})
	return sum
}
