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

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/nodes"
	"example.com/ragflow/server/internal/door"
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
	Fault       fault
	FellBack    bool           // a model failed, and its work was done without it
	Reply       *ragflow.Reply // nil before the end
	Last        bool           // of its thread
	Rating      *ragflow.Feedback
	Admin       bool // the reader may add it to a dataset
	Upload      bool // the reader may let later questions find a better answer
}

// step is one of the seven steps of a turn.
type step struct {
	ID    string
	State string // "", running, done
	open  int    // tasks of it under way
}

// may sets what a reader may do with the turn.
func (t *turn) may(who *door.Principal) {
	t.Admin, t.Upload = who.May(tokens.Admin), who.May(tokens.Upload)
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
		t.step(e, 1)
	case ragflow.StepEnded:
		t.step(e, -1)
		t.FellBack = t.FellBack || slices.ContainsFunc(e.Notes.Details, func(d graph.Detail) bool { return d.Key == "fallback" })
	case ragflow.Text:
		t.Text += e.Text
	case ragflow.Withdrawn:
		t.Text = ""
	case ragflow.Asked:
		t.State, t.Questions = asked, nil
		for _, q := range e.Questions {
			t.Questions = append(t.Questions, newForm(q))
		}
	case ragflow.Done:
		t.State, t.Reply, t.Text, t.Questions = done, e.Reply, e.Reply.Answer, nil
	}
}

// step counts the tasks of a step that are under way.
func (t *turn) step(e ragflow.Event, more int) {
	for i := range t.Steps {
		if s := &t.Steps[i]; s.ID == e.Node && e.Path == "" {
			s.State = done
			if s.open += more; s.open > 0 {
				s.State = running
			}
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
		t.State, t.Fault = failed, newFault(err)
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
