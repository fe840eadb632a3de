package transcript

import (
	"encoding/json"

	"example.com/ragflow/graph"
)

// Report is a run for programs. Its JSON is the schema of `ragflow trace --json`.
type Report struct {
	Thread    string       `json:"thread_id"`
	Run       string       `json:"run_id"`
	Question  string       `json:"question"`
	Status    graph.Status `json:"status"`
	Error     string       `json:"error,omitempty"`
	ElapsedMS float64      `json:"elapsed_ms"`
	Model     string       `json:"model"`
	Abstained bool         `json:"abstained"`
	Answer    string       `json:"answer"`
	Tasks     []TaskReport `json:"tasks"` // and failed attempts, in order
}

// TaskReport is one visit of a node.
type TaskReport struct {
	Commit graph.CommitID  `json:"commit"`
	Step   int             `json:"step"`
	Node   string          `json:"node"`
	Path   string          `json:"path,omitempty"`
	By     string          `json:"by"`
	Notes  graph.Notes     `json:"notes"`
	Error  string          `json:"error,omitempty"`
	Update json.RawMessage `json:"update,omitempty"`
}

// NewReport returns the facts that [AnswerMD] and [FlowTraceMD] show.
func NewReport(r Run) Report {
	commits := r.ordered()
	turn := r.State.Turn
	out := Report{
		Thread: r.Thread, Run: r.ID, Question: r.question(), ElapsedMS: float64(elapsed(commits).Microseconds()) / 1e3,
		Model: turn.Model, Abstained: turn.Abstained, Answer: turn.Answer, Tasks: []TaskReport{},
	}
	out.Status, out.Error = status(commits)
	for _, v := range visits(commits) {
		out.Tasks = append(out.Tasks, TaskReport{v.commit, v.step, v.Node, v.Path, madeBy(v.Notes), v.Notes, v.Error, v.Body})
	}
	return out
}
