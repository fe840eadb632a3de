package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/nodes"
)

// element is one element of Assistant.Stream.
type element struct {
	event ragflow.Event
	err   error
}

// ask asks a question and shows the answer while it is written. A turn that the person stopped
// is no error.
func (s *session) ask(ctx context.Context, question string) error {
	s.echo(question)
	reply, err := s.stream(ctx, ragflow.Question{Text: question, Thread: s.thread, Agent: s.Agent, Filter: s.Filter})
	if err != nil {
		s.screen.end()
		if ctx.Err() == nil && errors.Is(err, context.Canceled) {
			s.hint("stopped")
			fmt.Fprintln(s.Out)
			return nil
		}
		return err
	}
	s.last = reply
	s.answer(reply)
	if s.Size == nil {
		s.say("")
	}
	return nil
}

// stream runs a turn to its end and returns its reply. After Ctrl-C it waits for the
// stream, which saves its last step.
func (s *session) stream(ctx context.Context, q ragflow.Question) (reply *ragflow.Reply, err error) {
	if s.Running != nil {
		defer s.Running()()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-s.Interrupts: // left over from the turn before
	default:
	}
	events := make(chan element)
	go func() { // ends with the stream, for all its elements are received below
		defer close(events)
		for e, err := range s.Assistant.Stream(ctx, q) {
			events <- element{e, err}
		}
	}()
	p := s.newProgress()
	defer p.stop()
	for {
		select {
		case t, ok := <-events:
			if !ok {
				return reply, err
			}
			if t.err != nil {
				err = t.err
				continue
			}
			s.thread = t.event.Thread
			if t.event.Kind == ragflow.Done {
				reply = t.event.Reply
			}
			if s.Observe != nil {
				s.Observe(t.event)
			}
			p.take(t.event)
		case <-p.tick:
			p.draw()
		case <-s.Interrupts:
			p.stopping = true
			cancel()
		}
	}
}

// progress shows a turn while it runs: the text of the answer so far, and below it the current
// step. Without a terminal it shows nothing, for the text may still be withdrawn.
type progress struct {
	session  *session
	begun    time.Time
	tick     <-chan time.Time
	stop     func()
	doing    string
	answer   strings.Builder
	stopping bool
}

const (
	// quietFor is the time before the line with the current step appears.
	quietFor = 150 * time.Millisecond
	// drawEvery is the shortest time between two changes of the screen.
	drawEvery = 33 * time.Millisecond
)

func (s *session) newProgress() *progress {
	p := &progress{session: s, begun: time.Now(), stop: func() {}}
	if s.Size != nil && !s.Still {
		ticker := time.NewTicker(drawEvery)
		p.tick, p.stop = ticker.C, ticker.Stop
	}
	return p
}

// take notes the content of an event.
func (p *progress) take(e ragflow.Event) {
	switch e.Kind {
	case ragflow.StepBegan:
		p.doing = doing(e)
	case ragflow.Withdrawn:
		p.answer.Reset()
	case ragflow.Text:
		p.answer.WriteString(e.Text)
	case ragflow.StepEnded, ragflow.Asked, ragflow.Done: // change nothing on the screen
	}
}

// doing describes the work of a task that has started.
func doing(e ragflow.Event) string {
	switch {
	case e.Path != "" && e.Node == "tools":
		return "searching for more"
	case e.Path != "":
		return "reading and writing"
	}
	switch e.Node {
	case nodes.IngestID, nodes.PreRetrievalID:
		return "reading the question"
	case nodes.RetrievalID:
		return "searching"
	case nodes.CheckAndRefineID:
		return "checking what was found"
	case nodes.PostRetrievalID:
		return "choosing passages"
	case nodes.SummarizeConversationID:
		return "summarising the conversation"
	case nodes.GenerateID:
		return "writing"
	}
	return "working"
}

// draw updates the screen.
func (p *progress) draw() {
	now := time.Now()
	if now.Sub(p.begun) < quietFor {
		return
	}
	s := p.session
	lines := []string{""}
	if p.answer.Len() > 0 {
		lines = append(lines, s.rendered(p.answer.String(), false)...)
		lines = append(lines, "")
	}
	what := p.doing
	if p.stopping {
		what = "stopping"
	}
	if elapsed := now.Sub(p.begun); elapsed >= 2*time.Second {
		what += fmt.Sprintf(" · %d s · Ctrl-C stops", int(elapsed.Seconds()))
	}
	s.screen.show(append(lines, s.Style.Dim(s.clip(what+" …", s.width()))))
}
