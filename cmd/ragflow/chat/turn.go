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

// told is one element of Assistant.Stream.
type told struct {
	event ragflow.Event
	err   error
}

// ask asks a question and shows the answer as it comes. That the person ended
// the turn is no error.
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
	s.answer(reply)
	if s.Size == nil {
		s.say("")
	}
	return nil
}

// stream runs a turn to its end and returns its reply. Ctrl-C cancels
// it; the stream is then waited for, so that what it saved is saved.
func (s *session) stream(ctx context.Context, q ragflow.Question) (reply *ragflow.Reply, err error) {
	if s.Running != nil {
		defer s.Running()()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case <-s.Interrupts: // that came after the turn before
	default:
	}
	events := make(chan told)
	go func() { // ends with the stream, whose every element is received below
		defer close(events)
		for e, err := range s.Assistant.Stream(ctx, q) {
			events <- told{e, err}
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

// progress shows a turn while it goes on: what has been written of the answer,
// and below it what is being done. Without a terminal it shows nothing: what a
// model writes may still be changed before it is the answer.
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
	// quietFor is how long a turn goes on before the line that says what is done
	// appears: what is over sooner needs none.
	quietFor = 150 * time.Millisecond
	// drawEvery is how often the screen changes at most.
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

// take notes what an event tells.
func (p *progress) take(e ragflow.Event) {
	switch e.Kind {
	case ragflow.StepBegan:
		p.doing = doing(e)
	case ragflow.Withdrawn:
		p.answer.Reset()
	case ragflow.Text:
		p.answer.WriteString(e.Text)
	}
}

// doing says what a task does that has started.
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

// draw shows how things stand.
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
	s.screen.show(append(lines, s.dim(s.clip(what+" …", s.width()))))
}
