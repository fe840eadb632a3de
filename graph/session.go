package graph

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// session is what all tasks of a run share, those of its subgraphs too. Its
// ledger holds what must not be done twice while the superstep is under way:
// finished tasks of subgraphs, results of [Once], answers of people. The store
// keeps them as pending results, which end with the step's commit as they do.
type session struct {
	o      *Options
	modes  Mode
	pause  <-chan struct{}
	thread string
	run    string
	save   func(context.Context, TaskResult) error // nil without a store

	mu     sync.Mutex
	step   int // the superstep of the root that is under way
	ledger map[place]Delta
	open   []Question              // that the log says are open
	busy   map[place]chan struct{} // entries being made, by Once
	stale  bool                    // a result that was saved must not be used on resume
}

// place names an entry of the ledger. The names of nodes do not begin with __.
type place struct {
	path, node string
	turn       int // the step of the subgraph; of an answer, how many came before
}

const (
	onceNode   = "__once__:"
	answerNode = "__answer__:"
)

// at begins a superstep of the root, of which nothing is known yet.
func (s *session) at(run string, step int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.run, s.step, s.ledger, s.open, s.stale = run, step, nil, nil, false
}

// recall takes over what an earlier attempt at the step left behind.
func (s *session) recall(results []TaskResult) {
	for _, r := range results {
		if r.Run != s.run || r.Step != s.step || r.Delta.Error != "" {
			continue
		}
		p := place{r.Delta.Path, r.Delta.Node, r.Attempt}
		if p.path == "" {
			p.turn = 0
		}
		s.enter(p, r.Delta)
	}
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

// put saves an entry, then makes it.
func (s *session) put(ctx context.Context, p place, d Delta) error {
	if s.save != nil {
		if err := s.save(ctx, TaskResult{Run: s.run, Step: s.step, Attempt: p.turn, Delta: d}); err != nil {
			return err
		}
	}
	s.enter(p, d)
	return nil
}

// fresh says whether nothing is known of the step, as in most.
func (s *session) fresh() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ledger) == 0 && len(s.open) == 0
}

// spoil makes the end of the run drop what was saved, and save anew what stands.
func (s *session) spoil() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
}

// drop forgets an entry that cannot be used.
func (s *session) drop(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stale = true
	delete(s.ledger, p)
}

// entries lists the ledger's results but for those of the root's own tasks.
func (s *session) entries() []TaskResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []TaskResult
	for p, d := range s.ledger {
		if p.path != "" {
			out = append(out, TaskResult{Run: s.run, Step: s.step, Attempt: p.turn, Delta: d})
		}
	}
	return out
}

// stopping says whether someone outside wants the run to stop between two steps.
func (s *session) stopping() error {
	switch {
	case closed(s.o.Drain):
		return ErrDrained
	case closed(s.pause):
		return ErrPaused
	}
	return nil
}

// closed reports whether a channel that nobody sends on was closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// held lists the questions of a task that keep it from running: all it asked,
// as long as one of them has no answer.
func (s *session) held(address string) []Question {
	s.mu.Lock()
	defer s.mu.Unlock()
	var asked []Question
	waits := false
	for _, q := range s.open {
		if rest, ok := strings.CutPrefix(q.At, address); ok && (rest == "" || rest[0] == '[') {
			asked = append(asked, q)
			_, answered := s.ledger[q.place()]
			waits = waits || !answered
		}
	}
	if !waits {
		return nil
	}
	return asked
}

// address names a task in its run: its path, node and, in a subgraph, step; in
// a worker of a [FanOut], the part, too. It is the same whenever the task runs.
func (b *notebook) address() string {
	part := ""
	for ; b.up != nil; b = b.up {
		part = "[" + strconv.Itoa(b.part) + "]" + part
	}
	return address(b.path, b.node, b.turn) + part
}

func address(path, node string, turn int) string {
	if path == "" {
		return node
	}
	return fmt.Sprintf("%s/%s#%d", path, node, turn)
}
