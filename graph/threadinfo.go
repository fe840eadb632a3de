package graph

import (
	"fmt"
	"time"
)

// ThreadInfo is what a store knows of a thread without reading its log.
type ThreadInfo struct {
	Thread  string
	Created time.Time // time of the first Acquire, in UTC
	Touched time.Time // time of its newest commit, in UTC
	First   CommitID  // its oldest commit
	Head    CommitID
	Status  Status // status of its last run
	Inputs  int    // turns of the conversation: inputs that were not undone
	Bytes   int64  // size of the bodies of its deltas
}

// Finding is a problem in a store.
type Finding struct {
	Thread  string   `json:"thread"` // empty if it is about the file
	Commit  CommitID `json:"commit"` // 0 if it is not about one commit
	Problem string   `json:"problem"`
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
