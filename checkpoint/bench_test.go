package checkpoint_test

import (
	"path/filepath"
	"testing"
)

// BenchmarkCommit is one durable superstep of one task.
func BenchmarkCommit(b *testing.B) {
	s := open(b, filepath.Join(b.TempDir(), "threads.db"))
	defer func() { _ = s.Close() }()
	c := newConversation(b, s)
	commits := 0
	for b.Loop() {
		c.turn()
		commits += 8
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(commits), "µs/commit")
}

func BenchmarkLongThread(b *testing.B) {
	s := openWithViews(b, filepath.Join(b.TempDir(), "threads.db"), messagesView())
	c := summarised(b, s, 10_000)
	b.Run("Load", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := c.s.Load(b.Context(), c.thread, c.head); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Head", func(b *testing.B) {
		for b.Loop() {
			if _, err := c.s.Head(b.Context(), c.thread); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Walk", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n = 0
			for _, err := range c.s.Walk(b.Context(), c.thread, 0) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		}
		if n != 80_000 {
			b.Errorf("%d commits, want 80,000", n)
		}
	})
}

// BenchmarkVerify looks through a file of 8,000 commits.
func BenchmarkVerify(b *testing.B) {
	s := openWithViews(b, filepath.Join(b.TempDir(), "threads.db"), messagesView())
	summarised(b, s, 1_000)
	for b.Loop() {
		if found, err := s.Verify(b.Context()); err != nil || len(found) > 0 {
			b.Fatal(found, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*8_000), "µs/commit")
}
