package transcript

import (
	"encoding/json"
	"fmt"
	"io"

	"example.com/ragflow/graph"
)

// runLine and taskLine are the lines that WriteJSON writes.
type runLine struct {
	Type      string       `json:"type"` // run
	Thread    string       `json:"thread_id"`
	Run       string       `json:"run_id"`
	Question  string       `json:"question"`
	Status    graph.Status `json:"status"`
	Error     string       `json:"error,omitempty"`
	ElapsedMS float64      `json:"elapsed_ms"`
	Model     string       `json:"model"`
	Abstained bool         `json:"abstained"`
	Answer    string       `json:"answer"`
}

type taskLine struct {
	Type   string          `json:"type"` // task
	Commit graph.CommitID  `json:"commit"`
	Step   int             `json:"step"`
	Node   string          `json:"node"`
	Path   string          `json:"path,omitempty"`
	By     string          `json:"by"`
	Notes  graph.Notes     `json:"notes"`
	Error  string          `json:"error,omitempty"`
	Update json.RawMessage `json:"update,omitempty"`
}

// WriteJSON writes a run as JSON lines: one of type "run", then one of type "task" for
// each task and each failed attempt, in order. It fails only if w fails or a delta is not
// JSON.
func WriteJSON(w io.Writer, r Run) error {
	commits := r.ordered()
	st, why := status(commits)
	turn := r.State.Turn
	enc := json.NewEncoder(visibleWriter{w})
	enc.SetEscapeHTML(false)
	err := enc.Encode(runLine{
		Type: "run", Thread: r.Thread, Run: r.ID, Question: r.question(), Status: st, Error: why,
		ElapsedMS: float64(elapsed(commits).Microseconds()) / 1e3, Model: turn.Model, Abstained: turn.Abstained, Answer: turn.Answer,
	})
	if err != nil {
		return fmt.Errorf("write run %s: %w", r.ID, err)
	}
	for _, v := range visits(commits) {
		if err := enc.Encode(taskLine{"task", v.commit, v.step, v.Node, v.Path, madeBy(v.Notes), v.Notes, v.Error, v.Body}); err != nil {
			return fmt.Errorf("write task %q of commit %d: %w", v.Node, v.commit, err)
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
