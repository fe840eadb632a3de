package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"sync"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

const (
	searchTool  = "search" // the tool of the agent
	resultBytes = 8 << 10  // of one of its searches
)

// Research configures the node agent of package nodes. All fields but Tools are required.
type Research struct {
	Task   func(state.State) state.Task
	Custom func(state.State) prompts.Set
	NewID  func() string
	Tools  []agent.Tool // what the model may call beside the search
	// Of returns the researcher of the turn in the context.
	Of func(context.Context) *Researcher
}

// Researcher is the model of one turn that reads sources and searches for more.
type Researcher struct {
	chat   llm.Chat
	search func(ctx context.Context, query string) ([]state.Source, error)
	bytes  int  // of the result of a search
	silent bool // nothing is shown before it was checked

	mu      sync.Mutex // guards the fields below
	task    state.Task
	sources []state.Source // of the task, and found by its searches
}

// Researcher returns the model that answers, with a search.
func (o Setup) Researcher(search func(ctx context.Context, query string) ([]state.Source, error)) *Researcher {
	r := &Researcher{search: search, bytes: resultBytes, silent: o.Checked}
	if w := o.Answers.Window; w > 0 {
		r.bytes = min(r.bytes, w/2) // an eighth of the window, at four bytes per token
	}
	tokens, _, _ := o.Answers.Fit(0, 0)
	r.chat = llm.Task{
		Chat:        llm.Each(o.Models.Task(TaskAnswer).Chat, func(c llm.Chat) llm.Chat { return shownChat{c, r} }),
		Temperature: cmp.Or(o.Answers.Temperature, new(AnswerTemperature)), Tokens: tokens,
	}
	return r
}

// Node returns the node in which the researcher of a turn works. Its answer is in the state's turn; see
// [Setup.Answered].
func (o Research) Node() (graph.Task[state.State, state.Update], error) {
	tools := []agent.Tool{agent.Search(searchTool, prompts.SearchTool, o)}
	for _, t := range o.Tools {
		tools = append(tools, o.noted(t))
	}
	plan, err := agent.Compile(agent.Agent{
		ChatFor: func(ctx context.Context) llm.Chat { return o.Of(ctx).chat },
		Tools:   tools,
		Limits:  agent.Limits{Result: resultBytes},
	})
	if err != nil {
		return graph.Task[state.State, state.Update]{}, err
	}
	sub := graph.Sub(plan, o.input, researched)
	run := sub.Run
	sub.Run = func(ctx context.Context, s state.State) (state.Update, error) {
		if s.Turn.Route != state.RouteSearch {
			graph.Skip(ctx, "small talk is answered without a model")
			return state.Update{}, nil
		}
		r := o.Of(ctx)
		r.read(o.Task(s))
		u, err := run(ctx, s)
		if failed, ok := errors.AsType[*llm.Error](err); ok {
			return state.Update{}, fellBack(ctx, r.chat.Model(), offline.Name, failed)
		}
		return u, err
	}
	return sub, nil
}

// input is what a model is sent to answer a task, as in the plain way, and how it may search.
func (o Research) input(s state.State) agent.Update {
	t := o.Task(s)
	u := agent.Update{Sources: t.Sources, Turn: &agent.Turn{}}
	for _, m := range Messages(t, o.Custom(s)) {
		role := map[llm.Role]state.Role{llm.System: state.System, llm.User: state.Human, llm.Assistant: state.AI}[m.Role]
		if role == state.System {
			m.Content += "\n\n" + prompts.SearchRules
			if len(o.Tools) > 0 {
				m.Content += " " + prompts.ToolRules
			}
		}
		u.Messages = append(u.Messages, state.MessageOp{Put: &state.Message{ID: o.NewID(), Role: role, Content: m.Content}})
	}
	return u
}

// researched returns how the end of an agent changes the turn.
func researched(s state.State, end agent.State) state.Update {
	out := nodes.Research{Answer: end.Reply(), Model: end.Turn.Model, Sources: end.Sources}
	for _, m := range end.Messages {
		for _, call := range m.Calls {
			var asked struct{ Query string }
			if call.Name == searchTool && json.Unmarshal([]byte(call.Arguments), &asked) == nil && asked.Query != "" {
				out.Queries = append(out.Queries, asked.Query)
			}
		}
	}
	return out.Update(s)
}

// Retrieve implements agent.Retriever.
func (o Research) Retrieve(ctx context.Context, query string) ([]state.Source, error) {
	r := o.Of(ctx)
	found, err := r.search(ctx, query)
	return r.note(found), err
}

// note keeps what was found as sources of the task. It returns what fits of them.
func (r *Researcher) note(found []state.Source) []state.Source {
	for i, left := 0, r.bytes; r.bytes < resultBytes && i < len(found); i++ {
		found[i].Text = text.First(found[i].Text, max(0, left))
		left -= len(found[i].Text)
	}
	found = slices.DeleteFunc(found, func(s state.Source) bool { return s.Text == "" })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sources = append(r.sources, found...)
	return found
}

// noted is a tool whose sources are noted, but for those that give orders, as those of a search.
func (o Research) noted(t agent.Tool) agent.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, arguments json.RawMessage) (agent.Result, error) {
		out, err := run(ctx, arguments)
		out.Sources = o.Of(ctx).note(nodes.WithoutInjections(ctx, out.Sources, false))
		return out, err
	}
	return t
}

// Sourced is a tool whose text becomes a source, so that an answer may cite it and is checked against it.
func Sourced(t agent.Tool) agent.Tool {
	run := t.Run
	t.Run = func(ctx context.Context, arguments json.RawMessage) (agent.Result, error) {
		out, err := run(ctx, arguments)
		if out.Text != "" {
			out.Sources = append(out.Sources, ToolSource("tool", t.Name, out.Text))
			out.Text = ""
		}
		return out, err
	}
	return t
}

// ToolSource is a source that no file holds: what a tool gave. It has no root, and no lines.
func ToolSource(from, title, text string) state.Source {
	sum := sha256.Sum256([]byte(from + "\x00" + title + "\x00" + text))
	return state.Source{Chunk: state.Chunk{ID: hex.EncodeToString(sum[:16]), Source: from, Title: title, Text: text, End: len(text)}}
}

// read begins a task.
func (r *Researcher) read(t state.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.task, r.sources = t, slices.Clone(t.Sources)
}

// knows reports whether an address may be shown.
func (r *Researcher) knows(address string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Holds(r.task.Question, r.sources, address)
}

// shownChat is a model of an agent. It emits what the model writes as Tokens, harmless, and discards them if
// the step is no answer: it calls tools, or the model fails. A text that looks like a call is not shown.
type shownChat struct {
	llm.Chat

	of *Researcher
}

// Complete implements llm.Chat.
func (c shownChat) Complete(ctx context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	if c.of.silent {
		return c.Chat.Complete(ctx, r, nil)
	}
	said, isCall := false, false
	piece, done := Filter(c.of.knows, c.of.task.Language).Pieces(func(safe string) {
		if !said {
			said, isCall = true, len(r.Tools) > 0 && callInWords.MatchString(safe)
		}
		if !isCall {
			graph.Emit(ctx, nodes.Token{Text: safe})
		}
	})
	graph.Emit(ctx, nodes.Token{Void: true})
	out, err := c.Chat.Complete(ctx, r, piece)
	if err == nil && len(out.Calls) == 0 {
		done()
	} else {
		graph.Emit(ctx, nodes.Token{Void: true})
	}
	return out, err
}

// callInWords is how a call begins that a small model writes as text, made harmless.
var callInWords = regexp.MustCompile("^(?:\\{|```|\\\\<tool_call)")

// Answered is the writer of an answer that an agent wrote; nil if it wrote none.
func (o Setup) Answered(t state.Turn) nodes.Writer {
	if t.Answer == "" {
		return nil
	}
	return answered{t.Answer, t.Model, o.Stats}
}

// answered is the writer of an answer that an agent wrote.
type answered struct {
	text, model string
	stats       Stats
}

// Write implements nodes.Writer. The draft stays empty: the agent has streamed the answer, or it
// must be checked before it is shown.
func (w answered) Write(_ context.Context, t state.Task, _ nodes.Draft) (state.Answer, error) {
	return withTerms(Written(w.text, w.model, t), w.stats), nil
}
