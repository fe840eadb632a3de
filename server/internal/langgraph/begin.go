package langgraph

import (
	"cmp"
	"context"
	"errors"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// begin starts a run of a thread. Without one it has a thread of its own, which is deleted at the end unless it shall be kept.
func (s *service) begin(ctx context.Context, thread string, q *runRequest) (*run, error) {
	alone := thread == ""
	if alone {
		thread, q.IfNotExists, q.OnDisconnect = newID(), "create", cmp.Or(q.OnDisconnect, "cancel")
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	name, g, err := s.graphOf(q.Assistant)
	if err != nil {
		return nil, invalid("%v", err)
	}
	options, from, err := q.options(thread)
	if err == nil {
		ctx, err = configured(ctx, g, options)
	}
	if err != nil {
		return nil, err
	}
	owner, err := s.ready(ctx, thread, name, q.IfNotExists == "create")
	if err != nil {
		return nil, err
	}
	r := &run{
		id: newID(), thread: thread, graph: name, runner: g, owner: owner, strategy: q.Strategy,
		modes: q.Modes, subgraphs: q.Subgraphs, resumable: q.Resumable, metadata: merged(q.Config.Metadata, q.Metadata),
	}
	req, head, err := q.engine(ctx, r, graph.CommitID(from))
	if err == nil {
		err = s.runs.start(ctx, r, head, req, &brakes{before: q.Before, after: q.After, limit: q.Config.RecursionLimit, resumed: req.Resume})
	}
	if err != nil {
		return nil, err
	}
	if alone && q.OnCompletion == "delete" {
		go func() {
			<-r.ended
			_ = s.remove(context.WithoutCancel(ctx), thread) // a later prune removes it otherwise
		}()
	}
	return r, nil
}

// ready returns the owner of a thread that a graph may run on. It makes the thread, if it shall.
func (s *service) ready(ctx context.Context, thread, name string, create bool) (owner string, err error) {
	t, err := s.find(ctx, thread)
	switch {
	case err == nil && t.Store() != s.graphs[name].Store():
		t, err = s.moved(ctx, t, name)
	case errors.Is(err, graph.ErrNotFound) && create:
		t, err = s.create(ctx, thread, map[string]any{"graph_id": name})
	}
	if err != nil {
		return "", err
	}
	return cmp.Or(t.Owner, graph.OwnerOf(ctx)), nil
}

// engine returns the request to the engine, and the head of the thread. A call that continues a run of the engine gets its id.
func (q *runRequest) engine(ctx context.Context, r *run, from graph.CommitID) (req untyped.Request, head graph.CommitID, err error) {
	req = untyped.Request{
		Thread: r.thread, From: from, Modes: graph.Values | graph.Updates | graph.Tasks | graph.Tokens | graph.Customs, Resume: isNull(q.Input),
		OnBusy: map[string]graph.OnBusy{"interrupt": graph.Interrupt, "rollback": graph.Rollback, "enqueue": graph.Enqueue}[r.strategy],
	}
	last, err := commitAt(ctx, r.runner, r.thread, 0)
	switch {
	case err != nil:
	case !req.Resume:
		req.Input, req.Metadata = inputOf(q.Input), packed(merged(r.metadata, map[string]any{"graph_id": r.graph}))
	default:
		r.id = callID(last)
		if !isNull(q.Command.Update) {
			req.Updates, err = updates(q.Command.Update)
		}
		if err == nil {
			req.Answers, err = answers(q.Command.Resume, questions(last))
		}
	}
	req.Run = r.id
	return req, last.ID, err
}

// commitAt returns a commit of a thread; 0 is the newest one, which is zero in a thread without any.
func commitAt(ctx context.Context, g untyped.Runner, thread string, at graph.CommitID) (c graph.Commit, err error) {
	for c, err = range g.Store().Walk(ctx, thread, at) {
		break
	}
	if at == 0 && errors.Is(err, graph.ErrNotFound) {
		err = nil
	}
	return c, err
}
