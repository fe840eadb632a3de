package web

import (
	"net/http"
	"slices"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
)

// tracePage is how a question was answered.
type tracePage struct {
	*ragflow.Reply

	Title  string
	Tasks  []task
	Total  time.Duration
	Flow   *flow
	Height int // of the picture of times
}

// task is one task of a run, on the line of time.
type task struct {
	Node, Path      string
	Begin, Duration time.Duration
	Details         []graph.Detail
	Warnings        []string
	Calls           []call
	Error           string

	X, Width int // of its bar, in thousandths of the whole time
	Y        int
}

// call is a call of a model.
type call struct {
	Model       string
	Duration    time.Duration
	Read, Wrote int64 // tokens
	Cost        float64
	Error       string
}

// traced shows how a question was answered.
func (s *site) traced(w http.ResponseWriter, r *http.Request) {
	run, reply, err := s.answered(r)
	if err != nil {
		s.fault(w, r, err)
		return
	}
	p := tracePage{Reply: reply, Title: cut(reply.Question, 80)}
	states := map[string]string{}
	for _, c := range slices.Backward(run.Commits) {
		for _, d := range c.Deltas {
			if d.Node == "" {
				continue
			}
			if d.Path == "" {
				states[d.Node] = done
			}
			p.Tasks = append(p.Tasks, newTask(d, reply.Begun))
		}
	}
	p.Flow = draw(s.a.Graph().Shape(), states)
	for _, t := range p.Tasks {
		p.Total = max(p.Total, t.Begin+t.Duration)
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.X, t.Width, t.Y = share(t.Begin, p.Total), max(2, share(t.Duration, p.Total)), 22*i
	}
	p.Height = 22 * len(p.Tasks)
	s.show(w, r, http.StatusOK, "trace", p)
}

func share(part, whole time.Duration) int { return int(1000 * part / max(1, whole)) }

func newTask(d graph.Delta, began time.Time) task {
	t := task{Node: d.Node, Path: d.Path, Duration: d.Notes.Duration, Details: d.Notes.Details, Warnings: d.Notes.Warnings, Error: d.Error}
	if !d.Notes.Start.IsZero() {
		t.Begin = max(0, d.Notes.Start.Sub(began))
	}
	for _, c := range d.Notes.Spent() {
		t.Calls = append(t.Calls, call{
			Model: c.Name, Duration: c.Duration, Read: c.Counts[llm.CountInput], Wrote: c.Counts[llm.CountOutput],
			Cost: float64(c.Counts[llm.CountCost]) / 1e9, Error: c.Error,
		})
	}
	return t
}
