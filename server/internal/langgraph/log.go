package langgraph

import (
	"context"
	"iter"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// pollEvery is how often the log is read of a run that another process works on.
const pollEvery = 250 * time.Millisecond

// call is one call of a run of the engine in the log.
type loggedCall struct {
	engine string
	after  int64 // number of the event before its first one
}

// calls yields the events of one call in the log. Of a run under way elsewhere it waits for more.
func calls(ctx context.Context, g untyped.Runner, thread string, c loggedCall, r *run) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		last, begun, changed := c.after, false, time.Now()
		for {
			for e, err := range g.Events(ctx, thread, c.engine, last, graph.Values|graph.Updates|graph.Tasks) {
				if err == nil && e.Kind == graph.RunStarted && begun {
					return // the next call
				}
				begun, last, changed = true, e.Seq, time.Now()
				if !yield(event{Event: e, at: position{seq: e.Seq}, run: r}, err) || err != nil || e.Kind == graph.RunEnded {
					return
				}
			}
			if time.Since(changed) > stalled {
				return
			}
			select {
			case <-time.After(pollEvery):
			case <-ctx.Done():
				yield(event{}, context.Cause(ctx))
				return
			}
		}
	}
}

// inLog returns a run that this process does not know, with its call.
func (s *service) inLog(ctx context.Context, t *found, id string) (*run, loggedCall, error) {
	infos, err := t.Runs(ctx, graph.RunQuery{Thread: t.Thread})
	if err != nil {
		return nil, loggedCall{}, err
	}
	for _, info := range infos {
		if info.Run == id {
			return s.closed(ctx, t, info, id), loggedCall{engine: id}, nil
		}
	}
	for _, info := range infos {
		var before int64
		for e, err := range t.Events(ctx, t.Thread, info.Run, 0, graph.Tasks) {
			if err != nil {
				return nil, loggedCall{}, err
			}
			if e.Kind == graph.RunStarted && before > 0 && callID(info.Run, before) == id {
				return s.closed(ctx, t, info, id), loggedCall{info.Run, before}, nil
			}
			before = e.Seq
		}
	}
	return nil, loggedCall{}, failed(404, "there is no run %q", id)
}

// closed is a run that is known from the log alone.
func (s *service) closed(ctx context.Context, t *found, info graph.RunInfo, id string) *run {
	r := &run{
		id: id, thread: t.Thread, graph: t.name, began: info.Began, strategy: "enqueue", modes: modes{"values"}, resumable: true,
		metadata: unpacked(info.Metadata), of: &thread{}, at: info.Ended, ended: make(chan struct{}),
		cancel: func(error) { _ = t.Cancel(context.WithoutCancel(ctx), t.Thread, info.Run) }, // it fails if the run has ended
	}
	close(r.ended)
	if r.graph == "" {
		r.graph = s.names[0]
	}
	switch info.Status {
	case graph.Completed, graph.Interrupted:
		r.status = "success"
	case graph.Cancelled, graph.Superseded:
		r.status = "interrupted"
	case graph.Running, graph.Pending:
		if r.status = "running"; time.Since(info.Ended) > stalled {
			r.status = "error"
		}
	default:
		r.status = "error"
	}
	return r
}

// events yields the events of a run from its beginning, to its end.
func (*service) events(ctx context.Context, t *found, r *run, c loggedCall) iter.Seq2[event, error] {
	if c.engine != "" {
		return calls(ctx, t.Runner, t.Thread, c, r)
	}
	return func(yield func(event, error) bool) {
		for at := (position{}); ; {
			events, more, over := r.of.since(at, r)
			for _, e := range events {
				if at = e.at; !yield(e, nil) {
					return
				}
			}
			if len(events) > 0 {
				continue
			}
			if over {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(event{}, context.Cause(ctx))
				return
			}
		}
	}
}
