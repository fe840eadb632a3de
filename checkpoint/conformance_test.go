package checkpoint_test

import (
	"path/filepath"
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/graphtest"
)

func open(tb testing.TB, path string) *checkpoint.SQLite {
	tb.Helper()
	s, err := checkpoint.Open(tb.Context(), path, checkpoint.Options{Texts: graphtest.Texts})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestSQLite(t *testing.T) {
	graphtest.RunPersistent(t, func(t *testing.T, dir string) graph.Store {
		t.Helper()
		return open(t, filepath.Join(dir, "threads.db"))
	})
}

func TestSQLiteInMemory(t *testing.T) {
	graphtest.Run(t, func(t *testing.T) graph.Store {
		t.Helper()
		return open(t, ":memory:")
	})
}

func TestKeeper(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		runKeeper(t, func(t *testing.T) *checkpoint.SQLite {
			t.Helper()
			return open(t, filepath.Join(t.TempDir(), "threads.db"))
		})
	})
	t.Run("SQLite in memory", func(t *testing.T) {
		runKeeper(t, func(t *testing.T) *checkpoint.SQLite {
			t.Helper()
			return open(t, ":memory:")
		})
	})
}
