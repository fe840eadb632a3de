package graph

import (
	"context"
	"fmt"
	"slices"
)

// Moment is the state of a thread after one of its commits.
type Moment[S any] struct {
	Commit Commit `json:"commit"` // with its deltas
	State  S      `json:"state"`
}

// History returns up to n moments of a thread, newest first. It starts at the head or, for
// the next page, before the last commit of the previous page. An empty page means that
// there are no older moments. A page costs one state and its updates. An unknown thread
// is [ErrNotFound].
func (r *Runner[S, U]) History(ctx context.Context, thread string, before CommitID, n int) (page []Moment[S], err error) {
	defer wrap(&err, "history of thread %q", thread)
	if r.o.Store == nil {
		return nil, errNoStore
	}
	for c, err := range r.o.Store.Walk(ctx, thread, before) {
		if err != nil {
			return nil, err
		}
		if len(page) >= n {
			break
		}
		if c.ID != before {
			page = append(page, Moment[S]{Commit: c})
		}
	}
	if len(page) == 0 {
		return nil, nil
	}
	s, _, _, err := r.stateAt(ctx, thread, page[len(page)-1].Commit)
	if err != nil {
		return nil, err
	}
	page[len(page)-1].State = s
	for i := range slices.Backward(page[:len(page)-1]) {
		if _, err = r.mayFold(page[i].Commit); err != nil {
			return nil, err
		}
		if s, err = r.fold(s, "", page[i].Commit.Deltas); err != nil {
			return nil, err
		}
		page[i].State = s
	}
	return page, nil
}

// fold applies the updates at a path; it is empty for the root graph.
func (r *Runner[S, U]) fold(s S, path string, deltas []Delta) (S, error) {
	for _, d := range deltas {
		if d.Error != "" || d.Path != path {
			continue
		}
		u, err := decode[U](d.Body)
		if err == nil {
			s, err = callApply(r.plan.apply, s, u)
		}
		if err != nil {
			return s, fmt.Errorf("update of node %q: %w", d.Node, err)
		}
	}
	return s, nil
}
