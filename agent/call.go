package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Approval is the question whether a tool may be called. A person answers it with a [Decision].
type Approval struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// Decision is a person's answer to an [Approval].
type Decision struct {
	Verdict   string          `json:"verdict" enum:"approve,edit,reject"`
	Arguments json.RawMessage `json:"arguments,omitempty" doc:"for edit: the arguments to call with instead"`
	Reason    string          `json:"reason,omitempty" doc:"for reject: what the model is told"`
}

// Validate checks a decision.
func (d Decision) Validate() error {
	if (d.Verdict == "edit") != (len(d.Arguments) > 0) {
		return errors.New("arguments belong to the verdict edit, and to no other")
	}
	return nil
}

// outcome is what became of one call.
type outcome struct {
	Text      string         `json:"text"`
	Sources   []state.Source `json:"sources,omitempty"`
	Failed    bool           `json:"failed,omitempty"`
	Malformed bool           `json:"malformed,omitempty"` // the call could not be used at all
	HandOver  string         `json:"hand_over,omitempty"`
}

// handed is the error with which the tool of a handover says who goes on.
type handed struct{ to string }

func (h handed) Error() string { return "handed over to " + h.to }

// handOver is the tool that hands the conversation over to an agent.
func handOver(to Agent) Tool {
	type task struct {
		Task string `json:"task" jsonschema:"what the other agent should do"`
	}
	return Func("hand_over_to_"+to.Name, "Hands the conversation over to the agent "+to.Name+". "+to.Description,
		func(context.Context, task) (string, error) { return "", handed{to.Name} })
}

// call is the node that runs the tools. All calls of the newest message run side by side, and the result
// of each is saved when it finishes.
func (t team) call(ctx context.Context, s State) (Update, error) {
	m := t.active(s)
	graph.Note(ctx, "by", "tools")
	run := graph.FanOut(m.Parallel,
		func(s State) []state.ToolCall { return s.Messages[len(s.Messages)-1].Calls },
		func(ctx context.Context, _ State, c state.ToolCall) (results, error) {
			o, err := m.run(ctx, c)
			return results{o}, err
		},
		func(_ State, each []results) (results, error) { return slices.Concat(each...), nil },
	)
	outcomes, err := run(ctx, s)
	if err != nil {
		return Update{}, err
	}
	return m.collect(ctx, s, outcomes), nil
}

// results are the outcomes of calls, in order.
type results []outcome

// run carries out a call. The error is only that of a run that ends or waits for a person.
func (m *member) run(ctx context.Context, c state.ToolCall) (out outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			graph.Warn(ctx, fmt.Sprintf("The tool %s panicked: %v", c.Name, p))
			out, err = outcome{Text: fmt.Sprintf("The tool failed: %v", p), Failed: true}, nil
		}
	}()
	malformed := func(format string, a ...any) (outcome, error) {
		return outcome{Text: fmt.Sprintf(format, a...), Failed: true, Malformed: true}, nil
	}
	tool, known := m.tools[c.Name]
	if !known {
		return malformed("There is no tool %q. The tools are: %s.", c.Name, strings.Join(slices.Sorted(maps.Keys(m.tools)), ", "))
	}
	if len(c.Arguments) > m.Limits.Arguments {
		return malformed("The arguments have %d bytes; at most %d are allowed.", len(c.Arguments), m.Limits.Arguments)
	}
	with := arguments(c.Arguments)
	if err := valid(tool.resolved, with); err != nil {
		return malformed("The arguments do not match the schema of %s: %v. Correct them and call it again.", c.Name, err)
	}
	if tool.Approve != nil && tool.Approve(with) {
		decision, err := graph.Ask[Decision](ctx, "approve "+c.ID, Approval{c.Name, with})
		if err != nil {
			return outcome{}, err
		}
		graph.Note(ctx, "decision", decision.Verdict)
		switch decision.Verdict {
		case "reject":
			return outcome{Text: strings.TrimSpace("A person refused this call. " + decision.Reason), Failed: true}, nil
		case "edit":
			if err := valid(tool.resolved, decision.Arguments); err != nil {
				return outcome{Text: "A person changed the arguments, but they do not match the schema: " + err.Error(), Failed: true}, nil
			}
			with = decision.Arguments
		}
	}
	return graph.Once(ctx, "call", func(ctx context.Context, key string) (outcome, error) {
		return tool.once(context.WithValue(ctx, idempotencyKey{}, key), with)
	})
}

// once runs a tool. Its error and a timeout become an outcome.
func (t Tool) once(parent context.Context, with json.RawMessage) (outcome, error) {
	ctx := parent
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(parent, t.Timeout)
		defer cancel()
	}
	r, err := t.Run(ctx, with)
	if h, ok := errors.AsType[handed](err); ok {
		return outcome{Text: h.Error(), HandOver: h.to}, nil
	}
	_, asks := errors.AsType[*graph.InterruptError](err)
	switch {
	case err == nil:
		return outcome{Text: r.Text, Sources: r.Sources}, nil
	case asks || parent.Err() != nil:
		return outcome{}, err
	case ctx.Err() != nil:
		return outcome{Text: fmt.Sprintf("The tool did not finish within %v.", t.Timeout), Failed: true}, nil
	}
	return outcome{Text: "The tool failed: " + err.Error(), Failed: true}, nil
}

// collect makes messages of the outcomes of the newest message's calls.
func (m *member) collect(ctx context.Context, s State, outcomes []outcome) Update {
	calls := s.Messages[len(s.Messages)-1].Calls
	u, turn := Update{}, s.Turn
	known := slices.Clip(s.Sources)
	malformed := 0
	for i, o := range outcomes {
		if o.HandOver != "" && u.Agent != "" {
			o.Text, o.Failed = "Another agent was handed over to already.", true
		} else if o.HandOver != "" {
			u.Agent = o.HandOver
		}
		if o.Malformed {
			malformed++
		}
		var text string
		text, known = numbered(o.Text, o.Sources, known)
		message := &state.Message{
			ID: uuid.NewString(), Role: state.Tool, Content: cut(text, m.Limits.Result), Time: now(),
			Result: &state.Result{Call: calls[i].ID, Tool: calls[i].Name, Failed: o.Failed},
		}
		graph.Note(ctx, "result", calls[i].Name+": "+brief(message.Content))
		graph.Emit(ctx, *message)
		u.Messages = append(u.Messages, state.MessageOp{Put: message})
	}
	u.Sources = known[len(s.Sources):]
	turn.Faults++
	if malformed < len(outcomes) {
		turn.Faults = 0
	}
	u.Turn = &turn
	return u
}

// numbered adds sources to a text, each below its number, and to the known ones. A known source
// keeps its number, and its text is not repeated. A number that a source itself contains is
// escaped, so that it cannot be taken for one of ours.
func numbered(text string, found, known []state.Source) (string, []state.Source) {
	var b strings.Builder
	b.WriteString(text)
	for _, source := range found {
		i := slices.IndexFunc(known, func(k state.Source) bool { return k.ID == source.ID })
		body := "(as above)"
		if i < 0 {
			i, body = len(known), strings.ReplaceAll(source.Text, "[Source", `\[Source`)
			known = append(known, source)
		}
		title := strings.Join(append([]string{source.Title}, source.Headings...), " > ")
		fmt.Fprintf(&b, "\n\n[Source %d] %s (%s)\n%s", i+1, title, source.Source, body)
	}
	return strings.TrimSpace(b.String()), known
}

// cut shortens a text to a number of bytes, and says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("\n(cut: %d of %d bytes)", most, len(text))
}
