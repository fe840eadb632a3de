package ingest

import (
	"context"
	"sync"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Verification is what checking an index found. Its JSON is the schema of `ragflow index verify --json`.
type Verification struct {
	Files    int       `json:"files"`  // that the index holds
	Chunks   int       `json:"chunks"` // of them
	Findings []Finding `json:"findings"`
}

// Finding is something in the index that is wrong.
type Finding struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	What   string `json:"what"`
}

// Verify checks the whole index: the database, its segments, and every chunk against its
// checksum. Nothing is changed, and no document is read.
func (l *Library) Verify(ctx context.Context) (*Verification, error) {
	v := &Verification{Findings: []Finding{}}
	if l.o.Notice != "" {
		v.Findings = append(v.Findings, Finding{Source: "index.db", What: l.o.Notice})
	}
	var counting sync.Mutex
	found, err := l.index.Verify(ctx, search.VerifyOptions{
		Check: func(_ string, _ search.File, chunks []state.Chunk) []string {
			counting.Lock()
			defer counting.Unlock()
			v.Files++
			v.Chunks += len(chunks)
			return nil
		},
		Progress: func(done, total int) { l.progress(Progress{Stage: "verifying", Done: done, Total: total}) },
	})
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		v.Findings = append(v.Findings, Finding(f))
	}
	return v, nil
}
