package graph

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/internal/active"
	"example.com/ragflow/internal/address"
)

// session is shared by all tasks of a run and its subgraphs. Its ledger contains everything
// that must not be repeated during the current superstep: finished tasks of subgraphs, results
// of [Once] and answers of people. The store has them as pending results. The commit of the
// step clears both.
type session struct {
	o      *Options
	modes  Mode
	pause  <-chan struct{}
	thread string
	run    string
	save   func(context.Context, TaskResult) error // nil without a store

	mu     sync.Mutex
	from   origins // of the tasks of the current superstep of the root
	ledger map[place]Delta
	open   []Question          // open questions in the log
	closed time.Time           // when the run that is resumed was closed
	busy   active.Turns[place] // places that Once is working on
	stale  bool                // a saved result must not be used on resume
	frozen bool                // nothing is asked or done; see [Task].OnSupersede
}

// place identifies an entry of the ledger. Names of nodes do not begin with __.
type place struct {
	path, node string
	turn       int // step of the subgraph; for an answer, the number of earlier answers
}

const (
	onceNode   = "__once__:"
	answerNode = "__answer__:"
	partNode   = "__part__:"
	breakNode  = "__break__:" // a breakpoint of a subgraph at which the run stopped
	editMark   = "#"          // an edit of a subgraph, which the commit keeps; see [Edit].Path
)

// beginStep starts a superstep of the root with an empty ledger.
func (s *session) beginStep(run string, step int, log *threadLog) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.run != run { // an early task may read it
		s.run = run
	}
	s.from, s.ledger, s.open, s.stale = origins{base: Commit{Step: step - 1}}, nil, nil, false
	if log != nil {
		s.from.base.ID = log.head.ID
	}
}

// recall loads the pending results of the unfinished superstep at a head, and returns the commits since its base; see
// findOrigins. It leaves out parts of another graph, which may split its state in another way.
func (s *session) recall(ctx context.Context, store Store, head Commit, fingerprint string) (since []Commit, err error) {
	pending, err := store.Pending(ctx, s.thread)
	if err != nil {
		return nil, fmt.Errorf("read pending results: %w", err)
	}
	if s.from, since, err = findOrigins(ctx, store, s.thread, head); err != nil {
		return nil, err
	}
	for _, r := range pending {
		if head.Fingerprint != fingerprint && strings.HasPrefix(r.Delta.Node, partNode) {
			continue
		}
		p := place{r.Delta.Path, r.Delta.Node, r.Attempt}
		if p.path == "" {
			p.turn = 0
		}
		if r.Run == s.run && r.Step == s.from.of(p).Step+1 && r.Delta.Error == "" {
			s.enter(p, r.Delta)
		}
	}
	return since, nil
}

// result returns a pending result of the current step.
func (s *session) result(p place, attempt int, d Delta) TaskResult {
	return TaskResult{Run: s.run, Step: s.from.of(p).Step + 1, Attempt: attempt, Delta: d}
}

func (s *session) enter(p place, d Delta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ledger == nil {
		s.ledger = map[place]Delta{}
	}
	s.ledger[p] = d
}

func (s *session) get(p place) (Delta, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.ledger[p]
	return d, ok
}

// put saves an entry and adds it to the ledger.
func (s *session) put(ctx context.Context, p place, d Delta) error {
	if s.save != nil {
		if err := s.save(ctx, s.result(p, p.turn, d)); err != nil {
			return err
		}
	}
	s.enter(p, d)
	return nil
}

// empty reports whether the step has no entries and no open questions, as most steps.
func (s *session) empty() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ledger) == 0 && len(s.open) == 0
}

// drop removes an entry that cannot be used, and the parts of its task.
func (s *session) drop(p place, task string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	delete(s.ledger, p)
	maps.DeleteFunc(s.ledger, func(p place, _ Delta) bool {
		return strings.HasPrefix(p.node, partNode) && address.Within(p.path, task)
	})
}

// entries returns the results in the ledger, except those of tasks of the root.
func (s *session) entries() []TaskResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []TaskResult
	for p, d := range s.ledger {
		if p.path != "" {
			out = append(out, s.result(p, p.turn, d))
		}
	}
	return out
}

// stopping returns an error if the run must stop between two steps.
func (s *session) stopping() error {
	switch {
	case closed(s.o.Drain):
		return ErrDrained
	case closed(s.pause):
		return ErrPaused
	}
	return nil
}

// closed reports whether a channel is closed. Nobody sends on it.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// unanswered returns the open questions without an answer of a task, or of a part of its [FanOut]. If a place in
// it has answers to all its questions, it can go on, and unanswered returns nil.
func (s *session) unanswered(task string) (open []Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits := func(q Question) bool { _, answered := s.ledger[q.place()]; return !answered }
	for _, q := range s.open {
		if rest, ok := strings.CutPrefix(q.At, task); !ok || rest != "" && rest[0] != '[' {
			continue
		}
		if !slices.ContainsFunc(s.open, func(o Question) bool { return o.At == q.At && waits(o) }) {
			return nil
		}
		if waits(q) {
			open = append(open, q)
		}
	}
	return open
}

// address identifies a task in its run: path, node and, in a subgraph, step; in a worker of a
// [FanOut] also the part. It is the same each time the task runs.
func (b *taskContext) address() string {
	part := ""
	for ; b.up != nil; b = b.up {
		part = "[" + strconv.Itoa(b.part) + "]" + part
	}
	return address.Of(b.path, b.node, b.turn) + part
}
