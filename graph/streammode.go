package graph

import (
	"context"
	"slices"
)

// Mode selects the events and event fields of [Runner.Stream], in addition to RunStarted, StepDone and
// RunEnded. Modes are combined with |. With Tokens or Customs alone, TaskRetried and the TaskDone of a failed task are
// yielded too: what their node, at their path, emitted before belongs to an attempt that does not count.
type Mode uint

// The modes of a stream.
const (
	Values  Mode = 1 << iota // the state in every durable event
	Updates                  // the updates of tasks, as JSON in the Body of the Tasks of StepDone and TaskDone
	Tasks                    // TaskStarted, TaskRetried and TaskDone
	Tokens                   // values from EmitToken
	Customs                  // values from Emit
)

// defaultModes are the modes of a stream if none are set.
const defaultModes = Values | Tasks | Tokens | Customs

// shown returns a copy of the tasks of a durable event, with bodies only for Updates.
func (m Mode) shown(tasks []Delta) []Delta {
	tasks = slices.Clone(tasks)
	for i := range tasks {
		if m&Updates == 0 {
			tasks[i].Body = nil
		}
	}
	return tasks
}

// mode returns the modes that select a live event.
func (e liveEvent) mode() Mode {
	switch {
	case e.kind == Token:
		return Tokens
	case e.kind == Custom:
		return Customs
	case e.kind == TaskRetried, e.kind == TaskDone && (e.tasks[0].Error != "" || e.tasks[0].Notes.Caught != ""):
		return Tasks | Tokens | Customs
	default:
		return Tasks
	}
}

// EmitToken sends a piece of text as a live event of kind [Token]. Otherwise it is like [Emit].
func EmitToken(ctx context.Context, text string) { emit(ctx, Token, text) }

// TokenOf returns the text that a node sent with [EmitToken]; ok is false for every other event.
func TokenOf[S any](e Event[S]) (text string, ok bool) {
	if e.Kind == Token {
		text, ok = e.Value.(string)
	}
	return text, ok
}

func emit(ctx context.Context, kind EventKind, payload any) {
	b := taskContextOf(ctx)
	if b == nil {
		return
	}
	e := liveEvent{kind: kind, path: b.path, node: b.node, value: payload}
	if b.emit != nil && b.of.modes&e.mode() != 0 {
		b.emit(e)
	}
}
