package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// onlyCalled is the reply if the model gave none.
const onlyCalled = "The model gave no answer: it called the tool %s again, although no more tools can be called."

// Messages that models read in place of a person's.
const (
	answerNow = "Answer now, with what you know so far. No more tools can be called."
	saidNone  = "You wrote nothing. Answer the question in words, with what the tools returned."
	formNow   = "Give your final answer as JSON that matches the schema, and nothing else."
	notRun    = "This call was not carried out."
	lost      = "This call may have been carried out. Its result was lost."
)

// ask is the node that calls the model.
func (t team) ask(ctx context.Context, s State) (Update, error) {
	m := t.active(s)
	r := m.request(s)
	if s.Turn.Steps+1 < m.Limits.Steps && s.Turn.Faults < m.Limits.Faults {
		r.Tools = m.offers
	} else if len(m.offers) > 0 {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: answerNow})
	}
	out, turn, err := m.complete(ctx, s.Turn, r)
	if empty(err) && turn.Steps < m.Limits.Steps { // small models say nothing after a result, or call tools although there are none
		graph.Note(ctx, "empty answer", "the model is asked once more")
		r.Tools = nil
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: saidNone})
		out, turn, err = m.complete(ctx, turn, r)
	}
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Called != "" {
		out.Text, err = fmt.Sprintf(onlyCalled, e.Called), nil
	}
	if err != nil {
		return Update{}, err
	}
	message := state.Message{ID: uuid.NewString(), Role: state.AI, Content: out.Text, Time: now()}
	if calls := m.callsIn(out.Text); len(out.Calls) == 0 && len(r.Tools) > 0 && len(calls) > 0 {
		graph.Note(ctx, "call read from text", brief(out.Text))
		out.Calls, out.Text, message.Content = calls, "", ""
	}
	message.Calls = withIDs(s, out.Calls)
	for _, c := range message.Calls {
		graph.Note(ctx, "call", c.Name+" "+brief(c.Arguments))
	}
	if out.Text != "" {
		graph.Note(ctx, "text", brief(out.Text))
	}
	return Update{Messages: []state.MessageOp{{Put: &message}}, Turn: &turn}, nil
}

// callsIn reads the tool calls from a text that is nothing but calls, as JSON objects with the
// name of a tool and its arguments. Small models write them so, in a code fence or in the tags
// of another model's template, and their servers do not recognise them.
func (m *member) callsIn(text string) (calls []llm.ToolCall) {
	text = strings.NewReplacer("<tool_call>", "", "</tool_call>", "").Replace(withoutFence(text))
	text = strings.TrimSpace(text)
	if once, found := strings.CutPrefix(text, "{{"); found { // the template of Qwen 2.5 shows calls with doubled braces
		text = "{" + once
		for strings.HasSuffix(text, "}}") && !json.Valid([]byte(text)) {
			text = text[:len(text)-1]
		}
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var c struct {
			Name                  string
			Arguments, Parameters json.RawMessage
		}
		err := d.Decode(&c)
		if errors.Is(err, io.EOF) {
			return calls
		}
		given := append(c.Arguments, c.Parameters...)
		if _, known := m.tools[c.Name]; err != nil || !known || len(given) == 0 || given[0] != '{' {
			return nil
		}
		calls = append(calls, llm.ToolCall{Name: c.Name, Arguments: string(given)})
	}
}

// withIDs gives each call an ID that no other call of the conversation has, if the model gave none, or one
// that is taken or unfit for the key of a question.
func withIDs(s State, made []llm.ToolCall) (out []state.ToolCall) {
	taken := map[string]bool{"": true}
	for _, m := range s.Messages {
		for _, c := range m.Calls {
			taken[c.ID] = true
		}
	}
	for _, c := range made {
		for n := len(taken); taken[c.ID] || graph.CheckName("id", c.ID) != nil; n++ {
			c.ID = fmt.Sprintf("call_%d", n)
		}
		taken[c.ID] = true
		out = append(out, state.ToolCall(c))
	}
	return out
}

func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// complete calls the model within the limits and counts what it used.
func (m *member) complete(ctx context.Context, turn Turn, r llm.Request) (llm.Response, Turn, error) {
	if err := m.withinLimits(turn); err != nil {
		return llm.Response{}, turn, err
	}
	r.Temperature, r.MaxTokens = m.Temperature, m.MaxTokens
	r.Calling = func(c llm.ToolCall) { graph.Emit(ctx, c) }
	streamed, mute := false, false
	r.Fall = func(f llm.Fall) bool {
		graph.Warn(ctx, fmt.Sprintf("The model %s failed (%v); %s goes on.", f.Model, f.Err, f.Next))
		mute = streamed // its text would follow a half one of the other model
		return true
	}
	chat := m.Chat
	if m.ChatFor != nil {
		chat = m.ChatFor(ctx)
	}
	out, err := llm.Observe(chat, count).Complete(ctx, r, func(piece string) {
		streamed = true
		if !mute {
			graph.EmitToken(ctx, piece)
		}
	})
	turn.Model = cmp.Or(out.By, chat.Model())
	if len(r.Tools) == 0 && len(out.Calls) > 0 { // the text is the answer
		if out.Text == "" && err == nil {
			err = &llm.Error{
				Provider: out.Provider, Model: out.Model, Kind: llm.ErrBadResponse, Empty: true,
				Called: out.Calls[0].Name, Detail: "it wants to call a tool, and none was offered",
			}
		}
		out.Calls = nil
	}
	if err == nil || empty(err) {
		turn.Steps++
	}
	if err != nil {
		return out, turn, fmt.Errorf("ask the model: %w", err)
	}
	turn.InputTokens += out.Usage.Input
	turn.OutputTokens += out.Usage.Output
	if out.Priced {
		turn.CostNanoUSD += llm.NanoUSD(out.CostUSD)
	}
	if m.Limits.USD > 0 && !out.Priced {
		return out, turn, fmt.Errorf("Limits.USD cannot be kept: the price of the model %q is not known; see llm.Price", turn.Model)
	}
	return out, turn, nil
}

// count notes a call of a model with the task.
func count(ctx context.Context, c llm.Call) {
	noted := graph.Call{Name: c.Model, Duration: c.Duration, Counts: c.Counts}
	if c.Err != nil {
		noted.Error = c.Err.Error()
	}
	graph.Count(ctx, noted)
}

// empty reports whether the error is that of a model that gave no answer.
func empty(err error) bool {
	e, ok := errors.AsType[*llm.Error](err)
	return ok && e.Empty && !e.Thought
}

func (m *member) withinLimits(t Turn) error {
	l := m.Limits
	switch used := t.InputTokens + t.OutputTokens; {
	case l.Tokens > 0 && used >= l.Tokens:
		return &LimitError{"tokens", strconv.FormatInt(used, 10), strconv.FormatInt(l.Tokens, 10)}
	case l.USD > 0 && float64(t.CostNanoUSD) >= l.USD*1e9:
		return &LimitError{"cost", fmt.Sprintf("%.6f USD", float64(t.CostNanoUSD)/1e9), fmt.Sprintf("%.6f USD", l.USD)}
	}
	return nil
}

// request returns the conversation as the model sees it. Providers want the results of calls right after them and no
// result without a call. So a person's message that came before the results follows them, a missing result is
// added, for example after the state was edited, and a result without a call is left out.
func (m *member) request(s State) llm.Request {
	var out []llm.Message
	if m.System != "" {
		out = append(out, llm.Message{Role: llm.System, Content: m.System})
	}
	messages := s.Messages
	if m.Messages != nil {
		messages = m.Messages(messages)
	}
	for i, message := range messages {
		switch message.Role {
		case state.System:
			out = append(out, llm.Message{Role: llm.System, Content: message.Content})
		case state.Human:
			out = append(out, llm.Message{Role: llm.User, Content: message.Content})
		case state.AI:
			said := llm.Message{Role: llm.Assistant, Content: message.Content}
			for _, c := range message.Calls {
				if !json.Valid([]byte(c.Arguments)) {
					c.Arguments = "{}" // servers that parse the history would refuse it
				}
				said.Calls = append(said.Calls, llm.ToolCall(c))
			}
			out = append(append(out, said), resultsOf(message.Calls, messages[i+1:])...)
		case state.Tool: // it stands after its call
		}
	}
	return llm.Request{Messages: out}
}

// resultsOf returns the results of calls, which are among later messages.
func resultsOf(calls []state.ToolCall, later []state.Message) (out []llm.Message) {
	if i := slices.IndexFunc(later, func(m state.Message) bool { return len(m.Calls) > 0 }); i >= 0 {
		later = later[:i] // old conversations may have the same IDs in several messages
	}
	results := map[string][]string{}
	for _, m := range later {
		if m.Role == state.Tool && m.Result != nil {
			results[m.Result.Call] = append(results[m.Result.Call], m.Content)
		}
	}
	for _, c := range calls {
		content := lost
		if found := results[c.ID]; len(found) > 0 {
			content, results[c.ID] = found[0], found[1:]
		}
		out = append(out, llm.Message{Role: llm.ToolResult, CallID: c.ID, Content: content})
	}
	return out
}

// formTries is how often the model may write the structured answer.
const formTries = 3

// structure is the node that asks for the structured answer. A reply that does not match the schema is
// returned to the model, which tries again.
func (t team) structure(ctx context.Context, s State) (Update, error) {
	m, turn := t.active(s), s.Turn
	r := m.request(s)
	var form map[string]any
	if err := json.Unmarshal(m.Answer, &form); err != nil {
		return Update{}, err
	}
	r.Schema = &llm.Schema{Name: "answer", JSON: form}
	r.Messages = append(r.Messages, llm.Message{Role: llm.User, Content: formNow + "\n" + string(m.Answer)})
	var fault error
	for range formTries {
		out, used, err := m.complete(ctx, turn, r)
		if err != nil {
			return Update{}, err
		}
		turn = used
		text := withoutFence(out.Text)
		if fault = valid(m.answer, []byte(text)); fault == nil {
			return Update{Answer: &text, Turn: &turn}, nil
		}
		graph.Note(ctx, "fault", brief(fault.Error()))
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: out.Text},
			llm.Message{Role: llm.User, Content: "That does not match the schema: " + fault.Error() + "\n" + formNow})
	}
	return Update{}, errors.Join(errors.New("the model gave no answer that matches the schema"), fault)
}

// withoutFence takes away the code fence that models like to write around JSON.
func withoutFence(text string) string {
	text = strings.TrimSpace(text)
	if rest, found := strings.CutPrefix(text, "```"); found {
		_, rest, _ = strings.Cut(rest, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "```"))
	}
	return text
}

// brief shortens a text for a note.
func brief(s string) string {
	const most = 200
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
