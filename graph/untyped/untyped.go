// Package untyped shows a [graph.Runner] without its types: states, updates and answers are JSON. So a server can offer any
// compiled graph.
//
//	var g untyped.Runner = untyped.Of(plan.Runner(options))
//	for event, err := range g.Stream(ctx, graph.Request[json.RawMessage]{Thread: "t", Input: body}) { … }
//
// An event is ready for json.Marshal. A question in its Interrupt has the JSON schema of the answer.
package untyped

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/schema"
)

type (
	// Request is a request whose Input and Updates are JSON. An empty Input changes nothing. An unknown field or another
	// type is a [*graph.EntryError], and nothing is saved. Values of Answers are a json.RawMessage or what has a JSON encoding.
	Request = graph.Request[json.RawMessage]
	// Event is an event with the state as JSON.
	Event = graph.Event[json.RawMessage]
	// Edit is an edit whose Updates are JSON.
	Edit = graph.Edit[json.RawMessage, json.RawMessage]
)

// Runner runs one graph. Its methods do the same as those of a [graph.Runner], with the same errors. It is safe for concurrent use.
type Runner interface {
	// Shape returns the structure of the graph, with its name.
	Shape() graph.Shape
	// Schemas returns the JSON schemas of states and updates.
	Schemas() (state, update json.RawMessage, err error)
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
	Events(ctx context.Context, thread, run string, after int64, modes graph.Mode) iter.Seq2[Event, error]
	State(ctx context.Context, thread string) (json.RawMessage, graph.Commit, error)
	StateAt(ctx context.Context, thread string, at graph.CommitID) (json.RawMessage, error)
	History(ctx context.Context, thread string, before graph.CommitID, n int) ([]graph.Moment[json.RawMessage], error)
	Update(ctx context.Context, e Edit) (json.RawMessage, graph.CommitID, error)
	Cancel(ctx context.Context, thread, run string) error
	Fork(ctx context.Context, p graph.Point, to string) error
	Threads(ctx context.Context, q graph.ThreadQuery) (graph.ThreadPage, error)
	Runs(ctx context.Context, q graph.RunQuery) ([]graph.RunInfo, error)
	Prune(ctx context.Context, p graph.Pruning) (graph.Pruned, error)
	// Store returns the store of the threads; nil if they are not saved.
	Store() graph.Store
}

// Of returns a runner without its types.
func Of[S, U any](r *graph.Runner[S, U]) Runner { return runner[S, U]{r} }

// runner has the methods without S and U from the graph.Runner.
type runner[S, U any] struct{ *graph.Runner[S, U] }

func (runner[S, U]) Schemas() (state, update json.RawMessage, err error) {
	if state, err = schema.Of(reflect.TypeFor[S]()); err == nil {
		update, err = schema.Of(reflect.TypeFor[U]())
	}
	return state, update, err
}

func (r runner[S, U]) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	input, err := typed[U]("input", req.Input)
	var updates []U
	if err == nil {
		updates, err = typedAll[U](req.Updates)
	}
	if err != nil {
		return func(yield func(Event, error) bool) { yield(Event{}, err) }
	}
	return erased(r.Runner.Stream(ctx, graph.Request[U]{
		Thread: req.Thread, Run: req.Run, Input: input, Metadata: req.Metadata, Resume: req.Resume, ResumeOrStart: req.ResumeOrStart,
		From: req.From, Updates: updates, Answers: req.Answers, Modes: req.Modes, Pause: req.Pause, Wait: req.Wait, OnBusy: req.OnBusy,
	}), req.Modes == 0 || req.Modes&graph.Values != 0)
}

func (r runner[S, U]) Events(ctx context.Context, thread, run string, after int64, modes graph.Mode) iter.Seq2[Event, error] {
	return erased(r.Runner.Events(ctx, thread, run, after, modes), modes == 0 || modes&graph.Values != 0)
}

// erased encodes the states of events.
func erased[S any](events iter.Seq2[graph.Event[S], error], states bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range events {
			out, fault := EventOf(e, err == nil && states)
			if err == nil {
				err = fault
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// EventOf returns an event without its type. It has the state of a durable one if states is set.
func EventOf[S any](e graph.Event[S], states bool) (Event, error) {
	out := Event{
		Kind: e.Kind, Seq: e.Seq, Live: e.Live, Thread: e.Thread, Run: e.Run, Step: e.Step, Path: e.Path, Node: e.Node, Commit: e.Commit,
		Time: e.Time, Status: e.Status, Next: e.Next, Interrupt: e.Interrupt, Tasks: e.Tasks, Value: e.Value,
	}
	if !states || e.Live {
		return out, nil
	}
	var err error
	out.State, err = encodeUnless(nil, e.State)
	return out, err
}

func (r runner[S, U]) State(ctx context.Context, thread string) (json.RawMessage, graph.Commit, error) {
	s, head, err := r.Runner.State(ctx, thread)
	body, err := encodeUnless(err, s)
	return body, head, err
}

func (r runner[S, U]) StateAt(ctx context.Context, thread string, at graph.CommitID) (json.RawMessage, error) {
	s, err := r.Runner.StateAt(ctx, thread, at)
	return encodeUnless(err, s)
}

func (r runner[S, U]) History(ctx context.Context, thread string, before graph.CommitID, n int) ([]graph.Moment[json.RawMessage], error) {
	page, err := r.Runner.History(ctx, thread, before, n)
	var out []graph.Moment[json.RawMessage]
	for _, m := range page {
		var body json.RawMessage
		if body, err = encodeUnless(err, m.State); err == nil {
			out = append(out, graph.Moment[json.RawMessage]{Commit: m.Commit, State: body})
		}
	}
	return out, err
}

func (r runner[S, U]) Update(ctx context.Context, e Edit) (json.RawMessage, graph.CommitID, error) {
	updates, err := typedAll[U](e.Updates)
	if err != nil {
		return nil, 0, err
	}
	edit := graph.Edit[S, U]{
		Thread: e.Thread, Wait: e.Wait, Source: e.Source, Create: e.Create, From: e.From, As: e.As, Goto: e.Goto, Path: e.Path,
		Metadata: e.Metadata, Updates: updates,
	}
	if e.Change != nil {
		edit.Change = func(ctx context.Context, s S, head graph.Commit) ([]U, error) {
			body, err := encodeUnless(nil, s)
			if err != nil {
				return nil, err
			}
			bodies, err := e.Change(ctx, body, head)
			if err != nil {
				return nil, err
			}
			return typedAll[U](bodies)
		}
	}
	s, at, err := r.Runner.Update(ctx, edit)
	body, err := encodeUnless(err, s)
	return body, at, err
}

// encodeUnless encodes a state unless there is an error.
func encodeUnless(err error, s any) (json.RawMessage, error) {
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(s)
	if err != nil {
		err = fmt.Errorf("encode state: %w", err)
	}
	return body, err
}

// typed decodes JSON of a caller strictly. Empty bytes are the zero value.
func typed[T any](field string, body json.RawMessage) (v T, err error) {
	if len(body) == 0 {
		return v, nil
	}
	defer func() {
		if p := recover(); p != nil { // of UnmarshalJSON
			err = &graph.EntryError{Field: field, Reason: fmt.Sprint("panic: ", p)}
		}
	}()
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err = d.Decode(&v); err == nil && d.InputOffset() < int64(len(bytes.TrimRight(body, " \t\r\n"))) {
		return v, &graph.EntryError{Field: field, Reason: "more than one JSON value"}
	}
	if err != nil {
		err = &graph.EntryError{Field: field, Reason: err.Error()}
	}
	return v, err
}

func typedAll[T any](bodies []json.RawMessage) ([]T, error) {
	var out []T
	for _, body := range bodies {
		v, err := typed[T]("update", body)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}
