package web

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/nodes"
)

// States of a turn on a page.
const (
	running   = "running"
	done      = "done"
	asked     = "asked"     // it waits for a person
	cancelled = "cancelled" // and so can be resumed
	failed    = "failed"
	forgotten = "forgotten" // its log was pruned
)

// turn is a question with its answer as a page shows it. Fold makes one of the events of a run.
type turn struct {
	Thread, Run string
	Question    string
	State       string
	Text        string // of the answer, so far; Markdown
	Steps       []step
	Questions   []form
	Fault       string
	Reply       *ragflow.Reply // nil before the end
	Language    string
	Last        bool // of its thread
	Rating      *ragflow.Feedback
	Admin       bool // the reader may add it to a dataset
	Upload      bool // the reader may let later questions find a better answer
}

// step is one of the seven steps of a turn.
type step struct {
	ID    string
	State string // "", running, done
	Time  time.Duration
	Notes []graph.Detail
	// Warnings are told while the step is new; at the end the reply has them all.
	Warnings []string
	begun    int // tasks of it
	ended    int
}

func newTurn(thread, run, question string) *turn {
	t := &turn{Thread: thread, Run: run, Question: question, State: running}
	for _, id := range nodes.Order() {
		t.Steps = append(t.Steps, step{ID: id})
	}
	return t
}

// take adds an event. The same events, read again, make the same turn.
func (t *turn) take(e ragflow.Event) {
	switch e.Kind {
	case ragflow.StepBegan:
		if s := t.step(e); s != nil {
			s.begun++
			s.State = running
		}
	case ragflow.StepEnded:
		if s := t.step(e); s != nil {
			s.ended++
			s.Time = max(s.Time, e.Notes.Duration) // of workers the slowest
			s.Notes = append(s.Notes, e.Notes.Details...)
			s.Warnings = append(s.Warnings, e.Notes.Warnings...)
			if s.ended >= s.begun {
				s.State = done
			}
		}
	case ragflow.Text:
		t.Text += e.Text
	case ragflow.Withdrawn:
		t.Text = ""
	case ragflow.Asked:
		t.State = asked
		t.Questions = nil
		for _, q := range e.Questions {
			t.Questions = append(t.Questions, newForm(q))
		}
	case ragflow.Done:
		t.finish(e.Reply)
	}
}

func (t *turn) step(e ragflow.Event) *step {
	if e.Path != "" {
		return nil
	}
	i := slices.IndexFunc(t.Steps, func(s step) bool { return s.ID == e.Node })
	if i < 0 {
		return nil
	}
	return &t.Steps[i]
}

// finish makes a turn of its reply.
func (t *turn) finish(r *ragflow.Reply) {
	t.State, t.Reply, t.Text, t.Questions = done, r, r.Answer, nil
	for i := range t.Steps {
		s := &t.Steps[i]
		if ms, ok := r.LatencyMS[s.ID]; ok {
			s.State, s.Time = done, time.Duration(ms*float64(time.Millisecond))
		}
	}
}

// fail says why a run has no answer.
func (t *turn) fail(err error) {
	switch {
	case t.State == asked: // the run waits, as its last event said
	case errors.Is(err, context.Canceled), errors.Is(err, ragflow.ErrCancelled), errors.Is(err, ragflow.ErrDrained):
		t.State = cancelled
	default:
		t.State, t.Fault = failed, err.Error()
	}
}

// states are those of the steps by name.
func (t *turn) states() map[string]string {
	out := map[string]string{}
	for _, s := range t.Steps {
		out[s.ID] = s.State
	}
	return out
}

// Running says whether the turn may still change.
func (t *turn) Running() bool { return t.State == running }

// Answer is the answer with its citations as links.
func (t *turn) Answer() template.HTML {
	return answerHTML(t.Text, func(n string) (address, label string) {
		if t.Reply == nil {
			return t.address("cite", n), n
		}
		for i, c := range t.Reply.Citations {
			if strconv.Itoa(c.N) == n {
				return t.address("cite", strconv.Itoa(i)), n + ": " + c.Source
			}
		}
		return "", ""
	})
}

// address is that of a source of the turn: the kind is cite or other.
func (t *turn) address(kind, i string) string {
	return "/t/" + url.PathEscape(t.Thread) + "/" + kind + "/" + url.PathEscape(t.Run) + "/" + i
}

// Cite and Other are the addresses of the sources of the answer.
func (t *turn) Cite(i int) string  { return t.address("cite", strconv.Itoa(i)) }
func (t *turn) Other(i int) string { return t.address("other", strconv.Itoa(i)) }

// Place names the lines or pages of a source.
func place(start, end int, pages string) string {
	switch {
	case pages != "":
		return ", " + pages
	case start == 0:
		return ""
	case start == end:
		return fmt.Sprintf(":%d", start)
	}
	return fmt.Sprintf(":%d–%d", start, end)
}

// sentences returns the whole sentences of the answer after the first from bytes, as text for people
// who listen, and how many bytes they end at.
func (t *turn) sentences(from int) (said string, to int) {
	from = min(from, len(t.Text))
	rest := t.Text[from:]
	end := len(rest)
	if t.State == running {
		end = max(strings.LastIndex(rest, ". "), strings.LastIndex(rest, ".\n"), strings.LastIndex(rest, "? "), strings.LastIndex(rest, "\n\n")) + 1
	}
	marks := strings.NewReplacer("**", "", "`", "", "\\", "") // would be read aloud
	return marks.Replace(citation.ReplaceAllString(rest[:end], "")), from + end
}
