package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/graphtest"
	"example.com/ragflow/graph/memstore"
)

// A store of your own passes the suite that all stores pass.
func TestStore(t *testing.T) {
	graphtest.Run(t, func(*testing.T) graph.Store { return &Audited{Store: memstore.New(), out: io.Discard} })
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestRun(t *testing.T) {
	var audit strings.Builder
	s, err := run(t.Context(), filepath.Join(t.TempDir(), "jobs.db"), &audit)
	if got := audit.String(); err != nil || s != "hello world" || strings.Count(got, "\n") != 3 || !strings.Contains(got, `"step":2,"status":"completed","nodes":["name"]`) {
		t.Errorf("%q %v\n%s", s, err, got)
	}
	if _, err := run(t.Context(), filepath.Join(t.TempDir(), "jobs.db"), full{}); err == nil {
		t.Error("a run without its audit did not fail")
	}
}
