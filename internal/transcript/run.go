package transcript

import (
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Run is a run in the log of its thread. The functions of this package only read
// it.
type Run struct {
	Thread string
	ID     string
	// Commits are the commits of the run with their deltas, newest first, as
	// [graph.Store].Walk yields them. Commits of other runs are ignored, so a whole
	// thread may be given.
	Commits []graph.Commit
	// State is the state after the newest commit of the run.
	State state.State
}

// visit is one task of a superstep, or one failed attempt at it.
type visit struct {
	graph.Delta
	step   int
	commit graph.CommitID
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

// visits flattens commits into tasks, in order. Inputs and edits have no node and
// are skipped.
func visits(commits []graph.Commit) []visit {
	var out []visit
	for _, c := range commits {
		step := c.Step
		if c.Source == graph.SourceClose { // its Step is the last finished one; the next step failed
			step++
		}
		for _, d := range c.Deltas {
			if d.Node != "" {
				out = append(out, visit{d, step, c.ID})
			}
		}
	}
	return out
}

// question returns the newest human message, or the query if there is no such
// message, after a summary or an early failure.
func (r Run) question() string {
	if m, ok := state.LastHuman(r.State.Messages); ok {
		return m.Content
	}
	return r.State.Turn.Query
}

// status returns the status of the run, and the error if it ended early.
func status(commits []graph.Commit) (graph.Status, string) {
	if len(commits) == 0 {
		return graph.Pending, ""
	}
	last := commits[len(commits)-1]
	return last.Status, last.Error
}

// elapsed returns the time from the run's first commit to its last, with the pauses
// before a resume. The commit of a later question that closed the run does not
// count.
func elapsed(commits []graph.Commit) time.Duration {
	for _, c := range slices.Backward(commits) {
		if c.Status != graph.Superseded {
			return c.Time.Sub(commits[0].Time)
		}
	}
	return 0
}

// byKey is the detail that names what did the work of a node. It has priority over the calls, because a node
// may fall back to another skill after a failed call.
const byKey = "by"

// madeBy returns what did the work of a task: the detail "by", else the models in order of their first call,
// else "offline".
func madeBy(n graph.Notes) string {
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

// total sums up the calls of one model, or the work without a model.
type total struct {
	name    string
	calls   int
	failed  int
	in, out int64
	time    time.Duration
}

// totals returns a row for the work without a model and a row for each model, in
// order of their first call. The time of the offline row is the time of the nodes
// minus the time of their calls.
func totals(vs []visit) []total {
	rows := []total{{name: offline}}
	for _, v := range vs {
		rows[0].time += v.Notes.Duration
		for _, c := range v.Notes.Spent() {
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
			row.in += c.Counts[llm.CountInput]
			row.out += c.Counts[llm.CountOutput]
			row.time += c.Duration
			rows[0].time -= c.Duration
		}
	}
	rows[0].time = max(rows[0].time, 0) // concurrent calls may add up to more than the time of their node
	return rows
}
