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

// longThread is a conversation of 10,000 turns whose live state holds 20
// messages, as summarising leaves it.
func longThread(b *testing.B) *conversation {
	b.Helper()
	s := openWithViews(b, filepath.Join(b.TempDir(), "threads.db"), messagesView())
	c := newConversation(b, s)
	for c.turns < 10_000 {
		if c.turns%10 == 0 {
			c.state.Reset()
			c.kept = 0
		}
		c.turn()
	}
	return c
}

func BenchmarkLongThread(b *testing.B) {
	c := longThread(b)
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
