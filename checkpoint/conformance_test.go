package checkpoint_test

import (
	"path/filepath"
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/checkpointtest"
	"example.com/ragflow/graph"
)

func open(tb testing.TB, path string) *checkpoint.SQLite {
	tb.Helper()
	s, err := checkpoint.Open(tb.Context(), path, checkpoint.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestMemory(t *testing.T) {
	checkpointtest.Run(t, func(*testing.T) graph.Store { return checkpoint.NewMemory() })
}

func TestSQLite(t *testing.T) {
	checkpointtest.RunPersistent(t, func(t *testing.T, dir string) graph.Store {
		t.Helper()
		return open(t, filepath.Join(dir, "threads.db"))
	})
}

func TestSQLiteInMemory(t *testing.T) {
	checkpointtest.Run(t, func(t *testing.T) graph.Store {
		t.Helper()
		return open(t, ":memory:")
	})
}

func TestKeeper(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		checkpointtest.RunKeeper(t, func(*testing.T) checkpoint.Store { return checkpoint.NewMemory() })
	})
	t.Run("SQLite", func(t *testing.T) {
		checkpointtest.RunKeeper(t, func(t *testing.T) checkpoint.Store {
			t.Helper()
			return open(t, filepath.Join(t.TempDir(), "threads.db"))
		})
	})
	t.Run("SQLite in memory", func(t *testing.T) {
		checkpointtest.RunKeeper(t, func(t *testing.T) checkpoint.Store {
			t.Helper()
			return open(t, ":memory:")
		})
	})
}
