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

	Tasks []task
	Flow  *flow
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
func (s *site) traced(r *http.Request) (answer, error) {
	run, reply, err := s.answered(r)
	if err != nil {
		return answer{}, err
	}
	p := tracePage{Reply: reply}
	var total time.Duration
	states := map[string]string{}
	for _, c := range slices.Backward(run.Commits) {
		for _, d := range c.Deltas {
			if d.Node == "" {
				continue
			}
			if d.Path == "" {
				states[d.Node] = done
			}
			t := newTask(d, reply.Begun)
			total = max(total, t.Begin+t.Duration)
			p.Tasks = append(p.Tasks, t)
		}
	}
	p.Flow = draw(s.a.Graph().Shape(), states)
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.X, t.Width = share(t.Begin, total), max(6, share(t.Duration, total))
	}
	return answer{name: "trace", data: p}, nil
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
