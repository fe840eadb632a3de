package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Agent is a model with tools.
type Agent struct {
	Name        string   // required with several agents; letters, digits, _ and -
	Description string   // what the agent is for; agents that may hand over to it see it
	Chat        llm.Chat // several models in turn: see llm.Fallback
	// ChatFor, if set, chooses the model of each call instead of Chat, for example by a value of the context.
	ChatFor  func(context.Context) llm.Chat
	System   string // system prompt; may be empty
	Tools    []Tool
	HandOver []string // names of agents that this one may hand the conversation over to
	// Answer makes the agent end a turn with an answer of this form, see [AnswerOf]; nil:
	// a text.
	Answer      json.RawMessage
	Temperature float64 // 0 is the most repeatable
	MaxTokens   int     // of each answer of the model; 0: the default of the provider
	Parallel    int     // tool calls that run side by side; default 8
	Limits      Limits
	// Messages selects the messages that the model sees, for example the newest; nil: all.
	// It must be pure.
	Messages func([]state.Message) []state.Message
}

// Limits bound a turn. A zero field has its default.
type Limits struct {
	// Steps is how often the model may be called; default 10. The last of these calls gets no tools,
	// so that it answers with what there is; tools that it calls all the same do not run. A structured
	// answer takes up to three calls more. A run takes two supersteps for each of them, and graph.Options.MaxSteps
	// ends it after 50 by default.
	Steps int
	// Faults is how many steps in a row may have no usable tool call; default 3. Then
	// the model answers without tools.
	Faults    int
	Tokens    int64   // input and output tokens; default no limit
	USD       float64 // cost; default no limit. A model without a known price is refused then
	Arguments int     // bytes of the arguments of a call; default 64 KiB
	Result    int     // bytes of a result, with its sources, that are saved and that the model sees; default 16 KiB
}

// LimitError is the error of a turn that used up its tokens or its cost. Everything is saved; with
// greater [Limits] the run can be resumed.
type LimitError struct {
	Limit string // "tokens" or "cost"
	Used  string
	Max   string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the limit of %s of a turn is %s, and %s are used", e.Limit, e.Max, e.Used)
}

// AnswerOf returns the form of a structured answer for Agent.Answer: the JSON schema of a
// struct. It panics if T has none.
func AnswerOf[T any]() json.RawMessage {
	s, err := schemaOf[T]()
	if err != nil {
		panic(fmt.Sprintf("agent.AnswerOf: %v", err))
	}
	return s
}

// member is a checked Agent.
type member struct {
	Agent
	tools  map[string]Tool
	offers []llm.Tool // in the order of the agent
	answer *jsonschema.Resolved
}

// Nodes of the graph.
const (
	modelNode  = "model"
	toolsNode  = "tools"
	answerNode = "answer"
)

// Compile returns the graph of one agent, or of several that share a conversation; the first one begins.
// The error joins all faults. The plan is safe for concurrent use if chats and tools are.
func Compile(agents ...Agent) (*graph.Plan[State, Update], error) {
	if len(agents) == 0 {
		return nil, errors.New("agent: no agents")
	}
	t := team{members: map[string]*member{}, first: agents[0].Name}
	var faults []error
	structured := false
	for _, a := range agents {
		m, err := newMember(a, agents)
		if t.members[a.Name] != nil {
			err = errors.Join(err, errors.New("another agent has the same name"))
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("agent %q: %w", a.Name, err))
		}
		t.members[a.Name] = m
		structured = structured || a.Answer != nil
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return graph.Compile(t.graph(structured))
}

func newMember(a Agent, all []Agent) (*member, error) {
	preset(&a.Limits.Steps, 10)
	preset(&a.Limits.Faults, 3)
	preset(&a.Limits.Arguments, 64<<10)
	preset(&a.Limits.Result, 16<<10)
	preset(&a.Parallel, 8)
	m := &member{Agent: a, tools: map[string]Tool{}}
	var faults []error
	if a.Chat == nil && a.ChatFor == nil {
		faults = append(faults, errors.New("it has no Chat"))
	}
	if l := a.Limits; l.Steps < 0 || l.Faults < 0 || l.Arguments < 0 || l.Result < 0 || l.Tokens < 0 || l.USD < 0 || a.Parallel < 0 {
		faults = append(faults, errors.New("limits must not be negative"))
	}
	if a.Answer != nil {
		var err error
		if m.answer, err = resolve(a.Answer); err != nil {
			faults = append(faults, fmt.Errorf("answer: %w", err))
		}
	}
	tools := slices.Clone(a.Tools)
	for _, name := range a.HandOver {
		i := slices.IndexFunc(all, func(o Agent) bool { return o.Name == name })
		if i < 0 || name == a.Name {
			faults = append(faults, fmt.Errorf("it cannot hand over to %q: there is no other agent of that name", name))
			continue
		}
		tools = append(tools, handOver(all[i]))
	}
	for _, given := range tools {
		t, err := given.prepared()
		if err == nil && m.tools[t.Name].Run != nil {
			err = fmt.Errorf("two tools have the name %q", t.Name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		m.tools[t.Name] = t
		m.offers = append(m.offers, t.offer())
	}
	return m, errors.Join(faults...)
}

func preset(v *int, to int) {
	if *v == 0 {
		*v = to
	}
}

// team is the agents of a graph.
type team struct {
	members map[string]*member
	first   string
}

// active returns the agent that speaks. An agent that was since taken away is replaced by the
// first one.
func (t team) active(s State) *member {
	if m := t.members[s.Agent]; m != nil && s.Agent != "" {
		return m
	}
	return t.members[t.first]
}

func (t team) graph(structured bool) graph.Graph[State, Update] {
	g := graph.Graph[State, Update]{
		Name:  "agent",
		Apply: Apply,
		Restore: func(_, then State) ([]Update, error) {
			return []Update{{State: &then}}, nil
		},
		Nodes: map[string]graph.Task[State, Update]{
			modelNode: {Run: t.ask},
			toolsNode: {Run: t.call(false), OnSupersede: t.call(true)},
		},
		Edges: []graph.Edge{{From: graph.Start, To: modelNode}, {From: toolsNode, To: modelNode}},
		Branches: []graph.Branch[State]{{
			From: modelNode, Route: t.next, To: []string{toolsNode, graph.End},
			Label: map[string]string{toolsNode: "the model calls tools", graph.End: "the model answers"},
		}},
	}
	if structured {
		g.Nodes[answerNode] = graph.Task[State, Update]{Run: t.structure}
		g.Edges = append(g.Edges, graph.Edge{From: answerNode, To: graph.End})
		g.Branches[0].To = append(g.Branches[0].To, answerNode)
	}
	return g
}

// next returns the node after a message of the model.
func (t team) next(s State) string {
	switch n := len(s.Messages); {
	case n > 0 && len(s.Messages[n-1].Calls) > 0:
		return toolsNode
	case t.active(s).answer != nil:
		return answerNode
	}
	return graph.End
}
