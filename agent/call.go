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
	Whole     int            `json:"whole,omitempty"` // bytes of text and sources before they were cut; 0: they were not
}

// handed is the error with which the tool of a handover names the next agent.
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

// calls returns the calls of the newest message of a model.
func calls(s State) []state.ToolCall {
	for _, m := range slices.Backward(s.Messages) {
		if m.Role == state.AI {
			return m.Calls
		}
	}
	return nil
}

// call returns the node that runs the tools. All calls of the newest message run side by side, and the result
// of each is saved when it finishes. With settle, no tool runs: the results are those that a superseded run has saved.
func (t team) call(settle bool) graph.Node[State, Update] {
	return func(ctx context.Context, s State) (Update, error) {
		m := t.active(s)
		graph.Note(ctx, "by", "tools")
		run := graph.FanOut(m.Parallel, calls,
			func(ctx context.Context, _ State, c state.ToolCall) (results, error) {
				o, err := m.run(ctx, c)
				if settle && err != nil {
					o, err = unsaved(ctx, c), nil
				}
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
}

// results are the outcomes of calls, in order.
type results []outcome

// begin notes that the tool of a call begins.
func begin(ctx context.Context) error {
	_, err := graph.Once(ctx, "begin", func(context.Context, string) (bool, error) { return true, nil })
	return err
}

// unsaved is the outcome of a call of a superseded run, which has saved none.
func unsaved(ctx context.Context, c state.ToolCall) outcome {
	text := notRun
	if begin(ctx) == nil {
		text = lost
	}
	decision, _ := decide(ctx, c, nil) // a saved one
	if decision.Verdict == "reject" {
		text = ""
	}
	return outcome{Text: decision.told() + text, Failed: true}
}

// decide asks a person about a call.
func decide(ctx context.Context, c state.ToolCall, with json.RawMessage) (Decision, error) {
	return graph.Ask[Decision](ctx, "approve "+c.ID, Approval{c.Name, with})
}

// told returns the text about a decision that the model gets before the result.
func (d Decision) told() string {
	switch d.Verdict {
	case "reject":
		return strings.TrimSpace("A person refused this call. " + d.Reason)
	case "edit":
		return "A person changed the arguments of this call to " + cut(string(d.Arguments), 1<<10, 0) + ". Its result:\n"
	}
	return ""
}

// run carries out a call, once. The error is only that of a run that ends or waits for a person.
func (m *member) run(ctx context.Context, c state.ToolCall) (outcome, error) {
	return graph.Once(ctx, "call", func(ctx context.Context, key string) (out outcome, err error) {
		defer func() { out = out.bounded(m.Limits.Result) }()
		defer caught(ctx, c.Name, &out, &err)
		return m.perform(context.WithValue(ctx, idempotencyKey{}, key), c)
	})
}

// caught turns a panic of a tool into an outcome. It must be deferred directly.
func caught(ctx context.Context, tool string, out *outcome, err *error) {
	if p := recover(); p != nil {
		graph.Warn(ctx, fmt.Sprintf("The tool %s panicked: %s", tool, brief(fmt.Sprint(p))))
		*out, *err = outcome{Text: fmt.Sprintf("The tool failed: %v", p), Failed: true}, nil
	}
}

// perform checks a call, lets a person decide about it and runs the tool.
func (m *member) perform(ctx context.Context, c state.ToolCall) (outcome, error) {
	fail := func(format string, a ...any) (outcome, error) {
		return outcome{Text: fmt.Sprintf(format, a...), Failed: true}, nil
	}
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
	told := "" // before the result
	if tool.Approve != nil && tool.Approve(with) {
		decision, err := decide(ctx, c, with)
		if err != nil {
			return outcome{}, err
		}
		graph.Note(ctx, "decision", decision.Verdict)
		told = decision.told()
		switch decision.Verdict {
		case "reject":
			return fail("%s", told)
		case "edit":
			if err := valid(tool.resolved, decision.Arguments); err != nil {
				return fail("A person changed the arguments, but they do not match the schema: %v", err)
			}
			with = decision.Arguments
		}
	}
	if err := begin(ctx); err != nil {
		return outcome{}, err
	}
	out, err := tool.perform(ctx, with)
	out.Text = told + out.Text
	return out, err
}

// perform runs a tool. Its error and a timeout become an outcome.
func (t Tool) perform(parent context.Context, with json.RawMessage) (out outcome, err error) {
	defer caught(parent, t.Name, &out, &err)
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
		return outcome{Text: fmt.Sprintf("The tool did not finish within %v. It may have been carried out.", t.Timeout), Failed: true}, nil
	}
	return outcome{Text: "The tool failed: " + err.Error(), Failed: true}, nil
}

// collect makes messages of the outcomes of the newest message's calls.
func (m *member) collect(ctx context.Context, s State, outcomes []outcome) Update {
	made := calls(s)
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
			ID: uuid.NewString(), Role: state.Tool, Content: cut(text, m.Limits.Result, o.Whole), Time: now(),
			Result: &state.Result{Call: made[i].ID, Tool: made[i].Name, Failed: o.Failed},
		}
		graph.Note(ctx, "result", made[i].Name+": "+brief(message.Content))
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
		fmt.Fprintf(&b, "\n\n[Source %d] %s\n%s", i+1, caption(source), body)
	}
	return strings.TrimSpace(b.String()), known
}

// caption says where a source is from.
func caption(s state.Source) string {
	return fmt.Sprintf("%s (%s)", strings.Join(append([]string{s.Title}, s.Headings...), " > "), s.Source)
}

// bounded cuts the text and the sources to about most bytes in all, which are what is saved and what the model sees.
func (o outcome) bounded(most int) outcome {
	const mark = 24 // bytes around a caption
	o.Whole = len(o.Text)
	o.Text = clip(o.Text, most)
	left := most - len(o.Text)
	found := o.Sources
	o.Sources = nil
	for _, s := range found {
		size := len(caption(s)) + mark
		o.Whole += size + len(s.Text)
		switch n := len(clip(s.Text, left-size)); {
		case n == 0 && s.Text != "" || left < size:
			left = 0 // neither do later ones fit
			continue
		case n < len(s.Text):
			s.Chunk, left = s.Part(0, n), 0
			s.Text = strings.Clone(s.Text)
		default:
			left -= size + n
		}
		o.Sources = append(o.Sources, s)
	}
	if o.Whole <= most {
		o.Whole = 0
	}
	return o
}

// clip returns at most most bytes of a text, in whole runes.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.Clone(strings.ToValidUTF8(text[:max(most, 0)], "")) // does not keep the rest in memory
}

// cut shortens a text to most bytes, and adds its whole size to it.
func cut(text string, most, whole int) string {
	if whole = max(whole, len(text)); whole <= most {
		return text
	}
	text = clip(text, most)
	return text + fmt.Sprintf("\n(cut: %d of %d bytes)", len(text), whole)
}
