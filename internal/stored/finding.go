package stored

import (
	"fmt"

	"example.com/ragflow/graph"
)

// Finding is a problem in a store.
type Finding struct {
	Thread  string         `json:"thread"` // empty if it is about the file
	Commit  graph.CommitID `json:"commit"` // 0 if it is not about one commit
	Problem string         `json:"problem"`
}

func (f Finding) String() string {
	switch {
	case f.Thread == "":
		return f.Problem
	case f.Commit == 0:
		return fmt.Sprintf("thread %q: %s", f.Thread, f.Problem)
	}
	return fmt.Sprintf("thread %q, commit %d: %s", f.Thread, f.Commit, f.Problem)
}
