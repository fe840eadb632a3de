package graph

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"example.com/ragflow/internal/address"
)

// editInside changes the state of the subgraph at e.Path, as far as its finished steps go. The
// update becomes an entry of the ledger, which the next resume applies after the same step.
func (x *run[S, U]) editInside(ctx context.Context, log *threadLog, e Edit[S, U]) (CommitID, error) {
	if e.As != "" || e.From != 0 || e.Source != "" || len(e.Metadata) > 0 {
		return 0, errors.New("an edit with Path cannot have As, From, Source or Metadata")
	}
	head, err := log.readHead(ctx)
	if err != nil {
		return 0, err
	}
	x.session.thread = e.Thread
	x.session.beginStep(head.Run, head.Step+1, log)
	if _, err := x.session.recall(ctx, x.o.Store, head, head.Fingerprint); err != nil { // the graph around it is not known
		return 0, err
	}
	if !x.session.underWay(e.Path) {
		return 0, fmt.Errorf("unfinished call of subgraph %q: %w", e.Path, ErrNotFound)
	}
	x.path = e.Path
	if err := x.enter(ctx, nil, nil); err != nil {
		return 0, err
	}
	for len(x.frontier) > 0 && !x.fresh() {
		if err := x.superstep(ctx); err != nil {
			return 0, err
		}
	}
	updates := e.Updates
	if e.Change != nil {
		updates, err = e.Change(ctx, x.state, head)
	}
	if err != nil || len(updates) == 0 {
		return head.ID, err
	}
	if len(updates) > 1 {
		return 0, errors.New("an edit with Path has one update")
	}
	next, deltas, err := x.changed(updates)
	if err != nil {
		return 0, err
	}
	n := len(x.edits())
	p, d := x.editPlace(n), deltas[0]
	d.Path, d.Node, d.Rank = p.path, p.node, len(x.plan.nodes)+n // after the nodes of the step
	x.session.save = log.pend
	if err := x.session.put(ctx, p, d); err != nil {
		return 0, err
	}
	x.state = next
	return head.ID, nil
}

// editPlace is the place of an edit after the current step of a subgraph.
func (x *run[S, U]) editPlace(n int) place {
	return place{x.path, editMark + strconv.Itoa(n), x.step}
}

// edits returns the edits after the current step of a subgraph, oldest first.
func (x *run[S, U]) edits() []Delta {
	var out []Delta
	for {
		d, ok := x.session.get(x.editPlace(len(out)))
		if !ok {
			return out
		}
		out = append(out, d)
	}
}

// underWay reports whether the call of the subgraph at a path has begun and no task around it has finished.
func (s *session) underWay(path string) bool {
	_, began := s.get(place{path: path})
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.ledger {
		if address.Within(path, address.Of(p.path, p.node, p.turn)) {
			return false
		}
	}
	return began
}
