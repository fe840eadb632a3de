package ingest

import (
	"strings"

	"example.com/ragflow/internal/load"
)

// Report is the result of a sync. Its JSON is the schema of `ragflow index --json`.
type Report struct {
	Roots     []string      `json:"roots"`     // absolute paths
	Files     int           `json:"files"`     // in the index now
	Indexed   int           `json:"indexed"`   // files in the index now that hold chunks
	Chunks    int           `json:"chunks"`    // in the index now
	Added     int           `json:"added"`     // files
	Changed   int           `json:"changed"`   // files
	Removed   int           `json:"removed"`   // files
	Unchanged int           `json:"unchanged"` // files
	Skipped   []FileProblem `json:"skipped"`   // files without text that can be read: binary, too large
	Failed    []FileProblem `json:"failed"`    // files that could not be read
	Warned    []FileProblem `json:"warned"`    // files that were read, but not as they are: broken front matter, another encoding
	Changes   []Change      `json:"changes"`   // new, changed and removed files by name, the first 1,000
	ElapsedMS float64       `json:"elapsed_ms"`
	Dense     *DenseReport  `json:"dense,omitempty"` // nil without an embedder
}

// newReport returns an empty report; its lists are not nil, for JSON.
func newReport() *Report {
	return &Report{Roots: []string{}, Skipped: []FileProblem{}, Failed: []FileProblem{}, Warned: []FileProblem{}, Changes: []Change{}}
}

const maxChanges = 1000

// Change says what became of a file.
type Change struct {
	Source string `json:"source"`
	Kind   string `json:"kind"`   // added, changed or removed
	Chunks int    `json:"chunks"` // that it has now
}

// note counts a change.
func (r *Report) note(kind, source string, chunks int) {
	*map[string]*int{"added": &r.Added, "changed": &r.Changed, "removed": &r.Removed}[kind]++
	if len(r.Changes) < maxChanges {
		r.Changes = append(r.Changes, Change{source, kind, chunks})
	}
}

// FileProblem says why a file was left out, or how it differs from what its kind should be.
type FileProblem struct {
	Source string `json:"source"`
	Reason string `json:"reason"`
}

// OtherKind reports whether a file was left out because no loader reads its kind, nor another format of it.
func (p FileProblem) OtherKind() bool {
	return strings.HasPrefix(p.Reason, load.ErrNoLoader.Error()) && !strings.Contains(p.Reason, ": save it as ")
}

// StageEmbedding is the stage of [Progress] that counts passages.
const StageEmbedding = "embedding"

// Progress says how far a job is.
type Progress struct {
	Stage string `json:"stage"` // scanning, indexing, publishing or embedding
	Done  int    `json:"done"`  // files; passages while embedding
	Total int    `json:"total"` // of the same; 0 while unknown
	Bytes int64  `json:"bytes"` // read so far
}
