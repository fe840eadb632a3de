package ragflow

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// EventKind is the kind of an [Event].
type EventKind string

// The kinds of events. The Text of all events since the last Withdrawn, put together, is safe
// to show at every moment, as Markdown and on a terminal; at the end it is Reply.Answer.
const (
	StepBegan EventKind = "step_began" // Node has begun
	StepEnded EventKind = "step_ended" // Node has ended and its change is saved; Notes say what it did
	Text      EventKind = "text"       // a piece of the answer
	Withdrawn EventKind = "withdrawn"  // all text so far is taken back; with Settings.Checked only if a run is resumed
	Asked     EventKind = "asked"      // the run waits for answers to Questions
	Done      EventKind = "done"       // the last event of a question that was answered: Reply
)

// Event is one thing that happened while a question was answered. The events are the same
// for a run under way and for one that is read back from the log, except that the answer
// then comes in one piece.
type Event struct {
	Kind     EventKind `json:"kind"`
	Position Position  `json:"position"` // of a reader who has seen this event
	Thread   string    `json:"thread_id"`
	Run      string    `json:"run_id"`

	Node      string           `json:"node,omitempty"`      // of StepBegan and StepEnded
	Path      string           `json:"path,omitempty"`      // of the subgraph of Node; empty for the nodes of the flow
	Notes     graph.Notes      `json:"notes,omitzero"`      // of StepEnded: what the step did
	Error     string           `json:"error,omitempty"`     // of StepEnded: why an attempt failed
	Text      string           `json:"text,omitempty"`      // of Text
	Questions []graph.Question `json:"questions,omitempty"` // of Asked
	Reply     *Reply           `json:"reply,omitempty"`     // of Done; read-only
}

// Position is a place in the events of a run, from which [Runs.Events] continues. Empty is the
// beginning.
type Position string

// position is what a Position says: the number of events seen in the buffer of one process,
// and, for the log, the step and the text seen.
type position struct {
	buffer string // identifies the buffer
	seq    int    // events of it
	step   int64  // number of the last saved event that was seen completely
	began  int    // events StepBegan seen since then
	done   int    // events StepEnded seen since then
	ended  bool   // all was seen
	shown  int    // bytes of the answer
	hash   uint32 // of those bytes
}

// end is the Position of the last event.
const end = "end"

func (p position) String() string {
	if p.ended {
		return end
	}
	return fmt.Sprintf("%s.%d.%d.%d.%d.%d.%08x", p.buffer, p.seq, p.step, p.began, p.done, p.shown, p.hash)
}

// parsePosition is the inverse of String. The zero position stands for an empty text.
func parsePosition(s Position) (p position, err error) {
	if s == "" || s == end {
		return position{ended: s == end}, nil
	}
	i := strings.IndexByte(string(s), '.')
	if i < 0 {
		i = len(s)
	}
	p.buffer = string(s[:i])
	_, err = fmt.Sscanf(string(s[i:]), ".%d.%d.%d.%d.%d.%08x", &p.seq, &p.step, &p.began, &p.done, &p.shown, &p.hash)
	if err != nil || min(int64(p.seq), p.step, int64(p.began), int64(p.done), int64(p.shown)) < 0 {
		return position{}, fmt.Errorf("%q is not a position of an event", s)
	}
	return p, nil
}

// narrator turns what happens in a run into events. It keeps the text that is shown.
type narrator struct {
	at    position
	shown strings.Builder
	hash  hash.Hash32 // of shown
	tell  func(Event)

	before      *position // of a reader who has seen text of an answer that is not known yet; else nil
	thread, run string
}

func newNarrator(buffer string, tell func(Event)) *narrator {
	return &narrator{at: position{buffer: buffer}, hash: fnv.New32a(), tell: tell}
}

// event hands out an event with its position.
func (n *narrator) event(e Event) {
	e.Thread, e.Run = n.thread, n.run
	n.at.seq++
	if n.at.shown, n.at.hash = n.shown.Len(), n.hash.Sum32(); n.before != nil {
		n.at.shown, n.at.hash = n.before.shown, n.before.hash
	}
	e.Position = Position(n.at.String())
	n.tell(e)
}

// token tells a piece of the answer.
func (n *narrator) token(t nodes.Token) {
	if t.Void && n.shown.Len() > 0 {
		n.shown.Reset()
		n.hash.Reset()
		n.event(Event{Kind: Withdrawn})
	}
	if t.Text != "" {
		n.shown.WriteString(t.Text)
		_, _ = n.hash.Write([]byte(t.Text)) // never fails
		n.event(Event{Kind: Text, Text: t.Text})
	}
}

// answer reports the missing rest of an answer, or all of it if something else is shown.
func (n *narrator) answer(text string) {
	if n.before != nil {
		n.remember(text, *n.before)
		n.before = nil
	}
	rest, begins := strings.CutPrefix(text, n.shown.String())
	n.token(nodes.Token{Text: rest, Void: !begins})
}

// step reports what readers do not know yet of a superstep: that its tasks began, the rest of the
// answer, and that they ended.
func (n *narrator) step(seq int64, tasks []graph.Delta, answer string) {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(d graph.Delta) bool { return d.Node == "" })
	for _, d := range tasks[min(n.at.began, len(tasks)):] {
		n.began(d.Node, d.Path)
	}
	for _, d := range tasks {
		if d.Node == nodes.GenerateID && d.Path == "" && d.Error == "" {
			n.answer(answer)
		}
	}
	for _, d := range tasks[min(n.at.done, len(tasks)):] {
		if n.at.done++; n.at.done == len(tasks) {
			n.at.step, n.at.began, n.at.done = seq, 0, 0
		}
		n.event(Event{Kind: StepEnded, Node: d.Node, Path: d.Path, Notes: d.Notes, Error: d.Error})
	}
}

// done tells the end of a run that has an answer.
func (n *narrator) done(reply *Reply) {
	n.at.ended = true
	n.event(Event{Kind: Done, Reply: reply})
}

func (n *narrator) began(node, path string) {
	n.at.began++
	n.event(Event{Kind: StepBegan, Node: node, Path: path})
}

// take tells an event of the engine.
func (n *narrator) take(e graph.Event[state.State]) {
	n.thread, n.run = e.Thread, e.Run
	switch e.Kind {
	case graph.RunStarted:
		n.at.step, n.at.began, n.at.done = max(n.at.step, e.Seq), 0, 0
	case graph.TaskStarted:
		n.began(e.Node, e.Path)
	case graph.Custom:
		if t, ok := e.Value.(nodes.Token); ok {
			n.token(t)
		}
	case graph.StepDone:
		n.step(e.Seq, e.Tasks, e.State.Turn.Answer)
	case graph.RunEnded:
		n.step(e.Seq, e.Tasks, "") // the tasks that failed
		if e.Interrupt != nil {
			n.event(Event{Kind: Asked, Questions: e.Interrupt.Questions})
		}
	default: // the others say nothing to a person
	}
}

// pollEvery is how often the log is read of a run that another process works on, and
// silentFor how long such a run may save nothing before it counts as stopped.
const (
	pollEvery = 250 * time.Millisecond
	silentFor = 2 * time.Minute
)

// logged yields the events of a run after a position from the log. While another process
// works on the run, it waits for more.
func (a *Assistant) logged(ctx context.Context, run string, from position) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for changed := time.Now(); ; {
			events, at, err := a.readEvents(ctx, run, from, 0)
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if len(events) > 0 {
				from, changed = at, time.Now()
			}
			if errors.Is(err, errUnfinished) && time.Since(changed) < silentFor {
				select {
				case <-time.After(pollEvery):
					continue
				case <-ctx.Done():
					err = context.Cause(ctx)
				}
			}
			if err != nil {
				yield(Event{}, err)
			}
			return
		}
	}
}

var errUnfinished = errors.New("the run has not ended; if no process works on it, it can be resumed")

// readEvents returns the events of a run in the log after a position, and the position after
// them. The error is errUnfinished if the run has not ended, or says how it ended early. With upTo, which is
// the number of a saved event, it reads no further, and how the run ended is no error.
func (a *Assistant) readEvents(ctx context.Context, run string, from position, upTo int64) (events []Event, at position, err error) {
	thread, head, err := a.store.FindRun(ctx, run)
	if err != nil {
		return nil, from, err
	}
	n := newNarrator("log", func(e Event) { events = append(events, e) })
	n.at, n.before = from, &from
	n.at.buffer = "log"
	var last graph.Event[state.State]
	for e, err := range a.runner.Events(ctx, thread, run, from.step, 0) {
		if err != nil {
			return events, n.at, err
		}
		if upTo > 0 && e.Seq > upTo {
			break
		}
		n.take(e)
		last = e
	}
	if upTo > 0 {
		return events, n.at, nil
	}
	if last.Kind == "" { // the reader may have seen the end, with the tasks that failed
		for c, err := range a.store.Walk(ctx, thread, head) {
			if err != nil {
				return events, n.at, err
			}
			if c.Source == graph.SourceClose {
				last.Kind, last.Status = graph.RunEnded, c.Status
			}
			break
		}
	}
	switch {
	case last.Kind != graph.RunEnded:
		return events, n.at, errUnfinished
	case last.Status != graph.Completed:
		return events, n.at, endedEarly(run, last.Status)
	}
	reply, err := a.Reply(ctx, run)
	if err == nil {
		n.done(reply)
	}
	return events, n.at, err
}

// endedEarly returns the error of a run that ended without an answer.
func endedEarly(run string, status graph.Status) error {
	cause := map[graph.Status]error{graph.Cancelled: ErrCancelled, graph.Superseded: ErrSuperseded, graph.Interrupted: ErrDrained}[status]
	if cause == nil {
		return fmt.Errorf("run %q ended as %s", run, status)
	}
	return fmt.Errorf("run %q: %w", run, cause)
}

// remember sets the text that a reader at a position has seen of an answer. If it is not how
// the answer begins, the whole answer will be reported again.
func (n *narrator) remember(answer string, p position) {
	seen := strings.Repeat("\x00", p.shown) // begins no answer
	if p.shown <= len(answer) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(answer[:p.shown])) // never fails
		if h.Sum32() == p.hash {
			seen = answer[:p.shown]
		}
	}
	n.shown.WriteString(seen)
	_, _ = n.hash.Write([]byte(seen)) // never fails
}
