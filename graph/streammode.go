package graph

import "context"

// Mode selects the events and event fields of [Runner.Stream], in addition to RunStarted, StepDone and
// RunEnded. Modes are combined with |.
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

// mode returns the mode that selects a kind of live event.
func (k EventKind) mode() Mode {
	switch k {
	case Token:
		return Tokens
	case Custom:
		return Customs
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
	if b.emit != nil && b.of.modes&kind.mode() != 0 {
		b.emit(liveEvent{kind: kind, path: b.path, node: b.node, value: payload})
	}
}
