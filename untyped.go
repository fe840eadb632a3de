package ragflow

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/state"
)

// Graph returns the flow of the assistant without its types, for servers that offer any graph. The
// Input of its Stream is a [Question] as JSON; everything that a request can say otherwise, such as
// the thread, is taken from there. Such a run is one of [Assistant.Runs], too.
func (a *Assistant) Graph() untyped.Runner { return flowRunner{untyped.Of(a.runner), a} }

type flowRunner struct {
	untyped.Runner

	a *Assistant
}

// Stream answers a question, or continues a run. Breaking the loop cancels the run.
func (f flowRunner) Stream(ctx context.Context, req untyped.Request) iter.Seq2[untyped.Event, error] {
	return func(yield func(untyped.Event, error) bool) {
		r, err := f.request(ctx, req)
		if err != nil {
			yield(untyped.Event{}, err)
			return
		}
		ctx, x, err := f.a.runs.enter(ctx, r)
		if err != nil {
			yield(untyped.Event{}, err)
			return
		}
		left := false
		err = f.a.runs.do(ctx, x, r, func(e graph.Event[state.State]) {
			out, err := untyped.EventOf(e, true)
			if left = left || err != nil || !yield(out, nil); left {
				x.cancel(context.Canceled)
			}
		})
		if err != nil && !left {
			yield(untyped.Event{}, err)
		}
	}
}

// request makes the request of a question as JSON.
func (f flowRunner) request(ctx context.Context, req untyped.Request) (*request, error) {
	q := Question{}
	if len(req.Input) > 0 {
		in := json.NewDecoder(bytes.NewReader(req.Input))
		in.DisallowUnknownFields()
		if err := in.Decode(&q); err != nil {
			return nil, &graph.EntryError{Field: "input", Reason: err.Error()}
		}
	}
	q.Thread, q.Metadata, q.Resume, q.Answers, q.From, q.OnBusy = req.Thread, req.Metadata, req.Resume, req.Answers, req.From, req.OnBusy
	r, err := f.a.prepare(ctx, q)
	if err != nil {
		f.a.recordRefused(ctx, q, err)
		return nil, err
	}
	if req.Run != "" {
		r.graph.Run = req.Run
	}
	r.graph.Modes, r.graph.Pause = req.Modes, req.Pause
	return r, nil
}
