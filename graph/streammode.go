package graph

import "context"

// Mode says what a [Runner.Stream] tells beside the beginning, the steps and the end
// of its run. Modes are joined by |; what nobody wants is not made.
type Mode uint

// The modes of a stream.
const (
	Values  Mode = 1 << iota // the state in every durable event
	Updates                  // what tasks returned, as JSON in the Body of StepDone's Tasks
	Tasks                    // TaskStarted, TaskRetried and TaskDone
	Tokens                   // what nodes send with EmitToken
	Customs                  // what nodes send with Emit
)

// usual is what a stream tells that names no modes.
const usual = Values | Tasks | Tokens | Customs

// of is the mode that a live event belongs to.
func (k EventKind) of() Mode {
	switch k {
	case Token:
		return Tokens
	case Custom:
		return Customs
	default:
		return Tasks
	}
}

// EmitToken sends a piece of a text that is being written, as a live event of
// kind [Token]. It is [Emit] in all else.
func EmitToken(ctx context.Context, text string) { emit(ctx, Token, text) }

func emit(ctx context.Context, kind EventKind, payload any) {
	b := bookOf(ctx)
	if b == nil {
		return
	}
	b.alive()
	if b.emit != nil && b.of.modes&kind.of() != 0 {
		b.emit(pulse{kind: kind, path: b.path, node: b.node, value: payload})
	}
}
