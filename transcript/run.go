package transcript

import (
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Run is a run as its thread's log holds it. The functions of this package
// read it only.
type Run struct {
	Thread string
	ID     string
	// Commits are the commits of the run with their deltas, newest first, as
	// [graph.Store] yields them from Walk. Those of other runs are left out of
	// account, so a whole thread may be given.
	Commits []graph.Commit
	// State is the state after the newest commit of the run.
	State state.State
}

// visit is one task of a superstep, or one failed attempt at it.
type visit struct {
	graph.Delta
	step int
}

// ordered returns the run's commits, oldest first.
func (r Run) ordered() []graph.Commit {
	out := make([]graph.Commit, 0, len(r.Commits))
	for _, c := range slices.Backward(r.Commits) {
		if c.Run == r.ID {
			out = append(out, c)
		}
	}
	return out
}

// visits flattens commits into what ran, in order. Inputs and edits name no
// node and are no visits.
func visits(commits []graph.Commit) []visit {
	var out []visit
	for _, c := range commits {
		step := c.Step
		if c.Source == graph.SourceClose { // it stands at the last step done; what failed is the next one
			step++
		}
		for _, d := range c.Deltas {
			if d.Node != "" {
				out = append(out, visit{d, step})
			}
		}
	}
	return out
}

// question returns what was asked: the newest message of a person, or the
// cleaned query where summarising or an early failure left no message.
func (r Run) question() string {
	if m, ok := state.LastHuman(r.State.Messages); ok {
		return m.Content
	}
	return r.State.Turn.Query
}

// status returns how the run stands, and why where it ended early.
func status(commits []graph.Commit) (graph.Status, string) {
	if len(commits) == 0 {
		return graph.Pending, ""
	}
	last := commits[len(commits)-1]
	return last.Status, last.Error
}

// elapsed is the time from the run's first commit to the last of its own work,
// pauses before a resume included. That a later question closed the run is no
// work.
func elapsed(commits []graph.Commit) time.Duration {
	for _, c := range slices.Backward(commits) {
		if c.Status != graph.Superseded {
			return c.Time.Sub(commits[0].Time)
		}
	}
	return 0
}

// byKey is the detail by which a node says itself what did its work. It counts
// more than the calls: a node may have fallen back after a call that failed.
const byKey = "by"

// by names what did the work of a task: what the node says, or else the models
// it called, in order of the first call, or else "offline".
func by(n graph.Notes) string {
	for _, d := range n.Details {
		if d.Key == byKey && d.Value != "" {
			return d.Value
		}
	}
	if len(n.Calls) == 0 {
		return offline
	}
	var names []string
	for _, c := range n.Calls {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return strings.Join(names, ", ")
}

const offline = "offline"

// Keys of [graph.Call.Counts] that the totals show.
const (
	inputTokens  = "input_tokens"
	outputTokens = "output_tokens"
)

// total sums what one model, or no model, did in a run.
type total struct {
	name    string
	calls   int
	failed  int
	in, out int64
	time    time.Duration
}

// totals returns a row for the work without a model and one for each model, in
// order of their first call. The offline row has the time of the nodes less the
// time of their calls.
func totals(vs []visit) []total {
	rows := []total{{name: offline}}
	for _, v := range vs {
		rows[0].time += v.Notes.Duration
		for _, c := range v.Notes.Calls {
			i := slices.IndexFunc(rows, func(t total) bool { return t.name == c.Name })
			if i <= 0 {
				i = len(rows)
				rows = append(rows, total{name: c.Name})
			}
			row := &rows[i]
			row.calls++
			if c.Error != "" {
				row.failed++
			}
			row.in += c.Counts[inputTokens]
			row.out += c.Counts[outputTokens]
			row.time += c.Duration
			rows[0].time -= c.Duration
		}
	}
	rows[0].time = max(rows[0].time, 0) // calls made side by side take more time than their node
	return rows
}
