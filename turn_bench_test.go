package ragflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/golden"
)

// dockerPages returns the folder of the Docker pages; the test skips without.
func dockerPages(tb testing.TB) string {
	tb.Helper()
	return golden.Public(tb, "docker-docs")
}

// turnQuestions are asked one after the other; every second follows up.
func turnQuestions() []string {
	return []string{
		"How do I create a volume?", "and how do I back it up?", "What is a bind mount?", "When should I use one?",
		"How do I limit the memory of a container?", "and its CPUs?", "How do I build a multi-platform image?", "Which builder does it need?",
	}
}

// BenchmarkTurn asks over the Docker pages, offline and checkpointed in files:
// questions nobody asked before, then the same few again and again, whose
// passages are remembered, in one thread alone and in a hundred at once. The goal
// on two free cores is a p50 of 15 ms and a p99 of 100 ms for a turn alone.
func BenchmarkTurn(b *testing.B) {
	docs, data := dockerPages(b), b.TempDir()
	a, err := ragflow.Open(b.Context(), ragflow.Config{Docs: []string{docs}, DataDir: data})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if _, err := a.Library().Sync(b.Context()); err != nil {
		b.Fatal(err)
	}
	asked := turnQuestions()
	turn := func(ctx context.Context, thread string, i int) time.Duration {
		begun := time.Now()
		if _, err := a.Ask(ctx, ragflow.Question{Thread: thread, Text: asked[i%len(asked)]}); err != nil {
			b.Error(err)
		}
		return time.Since(begun)
	}
	turn(b.Context(), "warm", 0) // what is read into memory once
	b.Run("new questions", func(b *testing.B) {
		fresh, i := freshQuestions(b, docs), 0
		var took []time.Duration
		for b.Loop() {
			begun := time.Now()
			if _, err := a.Ask(b.Context(), ragflow.Question{Thread: fmt.Sprint("new-", i), Text: fresh[i%len(fresh)]}); err != nil {
				b.Error(err)
			}
			took = append(took, time.Since(begun))
			i++
		}
		percentiles(b, took[:min(len(took), len(fresh))]) // the first time of each
	})
	b.Run("alone", func(b *testing.B) {
		b.ReportAllocs()
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			took = append(took, turn(b.Context(), fmt.Sprint("alone-", i/len(asked)), i))
		}
		percentiles(b, took)
	})
	b.Run("100 threads", func(b *testing.B) {
		const threads = 100
		var took []time.Duration
		for i := 0; b.Loop(); i++ {
			round := make([]time.Duration, threads)
			var asking sync.WaitGroup
			for n := range threads {
				asking.Go(func() { round[n] = turn(b.Context(), fmt.Sprint("crowd-", n), i+n) })
			}
			asking.Wait()
			took = append(took, round...)
		}
		percentiles(b, took)
		b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "turns/s")
	})
}

// freshQuestions are those of the evaluation set that lies beside the pages.
func freshQuestions(b *testing.B, docs string) []string {
	b.Helper()
	set, err := os.Open(filepath.Join(docs, "..", "docker-eval", "dev.jsonl"))
	if err != nil {
		b.Skip("no questions: ", err)
	}
	defer set.Close()
	var out []string
	for lines := json.NewDecoder(set); ; {
		var q struct{ Question string }
		if err := lines.Decode(&q); err != nil {
			return out
		}
		out = append(out, q.Question)
	}
}

func percentiles(b *testing.B, took []time.Duration) {
	b.Helper()
	slices.Sort(took)
	at := func(p float64) float64 {
		return float64(took[min(len(took)-1, int(p*float64(len(took))))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
