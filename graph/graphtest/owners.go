package graphtest

import (
	"context"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// ownerClauses are those of [graph.OwnedBy].
func ownerClauses() []clause {
	return append(need[graph.Lister]([]clause{{"a list has the threads of its owner", listOwned}}), []clause{
		{"a thread of another owner is not found", foreignThread},
		{"a thread that is held is not found by another owner, also by force", foreignLease},
		{"a thread that was never written can be begun by another owner", abandonedThread},
	}...)
}

// begin writes the first commit of a thread for an owner and releases it.
func begin(t *testing.T, s graph.Store, thread, owner string) {
	t.Helper()
	ctx := graph.OwnedBy(t.Context(), owner)
	l, err := s.Acquire(ctx, thread, graph.AcquireOptions{TTL: time.Hour})
	if err == nil {
		_, err = s.Commit(ctx, l, input(`{}`, map[string]string{"k": "v"}))
	}
	if err == nil {
		err = s.Pend(ctx, l, result("n", 0))
	}
	if err == nil {
		err = s.Release(ctx, l)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// foreignCalls returns the errors of the calls that name a thread or a run.
func foreignCalls(ctx context.Context, s graph.Store) map[string]error {
	errs := map[string]error{}
	_, errs["Acquire"] = s.Acquire(ctx, "t", graph.AcquireOptions{})
	_, errs["Acquire by force"] = s.Acquire(ctx, "t", graph.AcquireOptions{Force: true})
	_, errs["Head"] = s.Head(ctx, "t")
	_, _, errs["Load"] = s.Load(ctx, "t", 0)
	for _, err := range s.Walk(ctx, "t", 0) {
		errs["Walk"] = err
	}
	if l, ok := s.(graph.Lister); ok {
		_, errs["Info"] = l.Info(ctx, "t")
		errs["Describe"] = l.Describe(ctx, "t", graph.ThreadFacts{Title: "x"})
	}
	if c, ok := s.(graph.Copier); ok {
		errs["Copy"] = c.Copy(ctx, "t", 0, "copy", nil)
	}
	if d, ok := s.(deleter); ok {
		errs["Delete"] = d.Delete(ctx, "t")
	}
	if f, ok := s.(interface {
		FindRun(ctx context.Context, run string) (string, graph.CommitID, error)
	}); ok {
		_, _, errs["FindRun"] = f.FindRun(ctx, "run")
	}
	return errs
}

func foreignThread(t *testing.T, s graph.Store) {
	begin(t, s, "t", "ann")
	ctx := graph.OwnedBy(t.Context(), "bob")
	for call, err := range foreignCalls(ctx, s) {
		wantError(t, call, err, graph.ErrNotFound)
	}
	results, err := s.Pending(ctx, "t")
	wantError(t, "Pending", err, nil)
	wantEqual(t, "pending results of another owner", len(results), 0)
	begin(t, s, "of nobody", "")
	_, err = s.Head(ctx, "of nobody")
	wantError(t, "Head of a thread of nobody", err, graph.ErrNotFound)
	for _, owner := range []string{"ann", ""} {
		ctx := graph.OwnedBy(t.Context(), owner)
		_, err := s.Head(ctx, "t")
		wantError(t, "Head for "+owner, err, nil)
		results, err := s.Pending(ctx, "t")
		wantError(t, "Pending for "+owner, err, nil)
		wantEqual(t, "pending results for "+owner, len(results), 1)
		l, err := s.Acquire(ctx, "t", graph.AcquireOptions{})
		wantError(t, "Acquire for "+owner, err, nil)
		wantError(t, "Release for "+owner, s.Release(ctx, l), nil)
	}
}

func foreignLease(t *testing.T, s graph.Store) {
	ann := graph.OwnedBy(t.Context(), "ann")
	l, err := s.Acquire(ann, "t", graph.AcquireOptions{TTL: time.Hour})
	wantError(t, "Acquire", err, nil)
	for _, o := range []graph.AcquireOptions{{}, {Force: true}} {
		_, err := s.Acquire(graph.OwnedBy(t.Context(), "bob"), "t", o)
		wantError(t, "Acquire before the first commit", err, graph.ErrNotFound)
	}
	_, err = s.Commit(ann, l, input(`{}`, nil))
	wantError(t, "Commit", err, nil)
	for call, err := range foreignCalls(graph.OwnedBy(t.Context(), "bob"), s) {
		wantError(t, call, err, graph.ErrNotFound)
	}
	wantError(t, "Renew", s.Renew(ann, l, time.Hour), nil)
}

func abandonedThread(t *testing.T, s graph.Store) {
	ann := graph.OwnedBy(t.Context(), "ann")
	l, err := s.Acquire(ann, "t", graph.AcquireOptions{TTL: time.Hour})
	wantError(t, "Acquire", err, nil)
	wantError(t, "Release", s.Release(ann, l), nil)
	begin(t, s, "t", "bob")
	_, err = s.Head(ann, "t")
	wantError(t, "Head", err, graph.ErrNotFound)
}

func listOwned(t *testing.T, s graph.Store) {
	for thread, owner := range map[string]string{"1": "ann", "2": "bob", "3": "ann", "4": ""} {
		begin(t, s, thread, owner)
	}
	for _, tt := range []struct {
		owner string
		q     graph.ThreadQuery
		want  int
	}{
		{"ann", graph.ThreadQuery{}, 2},
		{"ann", graph.ThreadQuery{Owner: "ann", Limit: 1}, 2},
		{"ann", graph.ThreadQuery{Status: graph.Running, Metadata: map[string]string{"k": "v"}, Order: graph.ByCreation}, 2},
		{"eve", graph.ThreadQuery{}, 0},
		{"", graph.ThreadQuery{}, 4},
		{"", graph.ThreadQuery{Owner: "bob"}, 1},
	} {
		got := list(t, s, tt.owner, tt.q)
		wantEqual(t, "threads for "+tt.owner+" of "+show(tt.q), len(got), tt.want)
		for _, i := range got {
			if tt.owner != "" && i.Owner != tt.owner {
				t.Errorf("the list of %s has a thread of %s", tt.owner, i.Owner)
			}
		}
	}
	_, err := s.(graph.Lister).Threads(graph.OwnedBy(t.Context(), "ann"), graph.ThreadQuery{Owner: "bob"})
	if err == nil {
		t.Error("a list of the threads of another owner: no error")
	}
}
