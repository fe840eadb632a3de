package transcript

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"example.com/ragflow/graph"
)

// runLine, commitLine and taskLine are the lines that WriteJSON writes.
type runLine struct {
	Type      string       `json:"type"` // run
	Thread    string       `json:"thread_id"`
	Run       string       `json:"run_id"`
	Question  string       `json:"question"`
	Status    graph.Status `json:"status"`
	Error     string       `json:"error,omitempty"`
	Started   time.Time    `json:"started,omitzero"`
	ElapsedMS float64      `json:"elapsed_ms"`
	Model     string       `json:"model"`
	Abstained bool         `json:"abstained"`
	Answer    string       `json:"answer"`
}

type commitLine struct {
	Type     string         `json:"type"` // commit
	ID       graph.CommitID `json:"id"`
	Parent   graph.CommitID `json:"parent"`
	Step     int            `json:"step"`
	Source   graph.Source   `json:"source"`
	Status   graph.Status   `json:"status"`
	Time     time.Time      `json:"time"`
	Frontier []string       `json:"frontier"`
	Error    string         `json:"error,omitempty"`
}

type taskLine struct {
	Type       string          `json:"type"` // task
	Commit     graph.CommitID  `json:"commit"`
	Step       int             `json:"step"`
	Node       string          `json:"node"`
	Path       string          `json:"path,omitempty"`
	Rank       int             `json:"rank"`
	By         string          `json:"by"`
	Start      time.Time       `json:"start,omitzero"`
	DurationMS float64         `json:"duration_ms"`
	Details    []graph.Detail  `json:"details"`
	Calls      []graph.Call    `json:"calls"`
	Warnings   []string        `json:"warnings"`
	Skipped    string          `json:"skipped,omitempty"`
	Error      string          `json:"error,omitempty"`
	Update     json.RawMessage `json:"update,omitempty"`
}

// WriteJSON writes a run as JSON lines: one of type "run", then one of type
// "commit" for each commit, oldest first, each followed by one of type "task"
// for each of its tasks and failed attempts. Times are in UTC. It fails only
// if w fails or a delta is not JSON.
func WriteJSON(w io.Writer, r Run) error {
	commits := r.ordered()
	st, why := status(commits)
	turn := r.State.Turn
	first := runLine{
		Type: "run", Thread: r.Thread, Run: r.ID, Question: r.question(), Status: st, Error: why,
		ElapsedMS: milliseconds(elapsed(commits)), Model: turn.Model, Abstained: turn.Abstained, Answer: turn.Answer,
	}
	if len(commits) > 0 {
		first.Started = commits[0].Time.UTC()
	}
	enc := json.NewEncoder(visibleWriter{w})
	enc.SetEscapeHTML(false)
	if err := enc.Encode(first); err != nil {
		return fmt.Errorf("write run %s: %w", r.ID, err)
	}
	for _, c := range commits {
		line := commitLine{"commit", c.ID, c.Parent, c.Step, c.Source, c.Status, c.Time.UTC(), list(c.Frontier), c.Error}
		if err := enc.Encode(line); err != nil {
			return fmt.Errorf("write commit %d: %w", c.ID, err)
		}
		for _, v := range visits([]graph.Commit{c}) {
			n := v.Notes
			line := taskLine{
				"task", c.ID, v.step, v.Node, v.Path, v.Rank, madeBy(n), n.Start.UTC(), milliseconds(n.Duration),
				list(n.Details), list(n.Calls), list(n.Warnings), n.Skipped, v.Error, json.RawMessage(v.Body),
			}
			if err := enc.Encode(line); err != nil {
				return fmt.Errorf("write task %q of commit %d: %w", v.Node, c.ID, err)
			}
		}
	}
	return nil
}

// visibleWriter makes JSON safe for a terminal. Each Write must contain whole values.
type visibleWriter struct{ io.Writer }

func (w visibleWriter) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(VisibleJSON(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// list returns an empty list for nil, so that JSON has [] and not null.
func list[T any](xs []T) []T {
	if xs == nil {
		return []T{}
	}
	return xs
}

func milliseconds(d time.Duration) float64 {
	return float64(d.Microseconds()) / 1e3
}
