package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// AgentID is the node in which a model searches.
const AgentID = "agent"

const (
	searchTool = "search" // the tool of the agent
	agentHits  = 4        // passages of one of its searches
	agentBytes = 8 << 10  // of the result of one of its searches
)

// Agent returns the node in which the model reads the sources of a task and searches for
// more as often as it likes. Its answer is in the state's turn; see [Quoting.Answered].
func (o Setup) Agent(engine *search.Engine, words *offline.Rewriter, trusting bool, task func(state.State) state.Task, newID func() string) (graph.Task[state.State, state.Update], error) {
	bytes := agentBytes
	if w := o.Answers.Window; w > 0 {
		bytes = min(bytes, w/2) // an eighth of the window, at four bytes per token
	}
	tokens, _, _ := o.Answers.Fit(0, 0)
	plan, err := agent.Compile(agent.Agent{
		Chat:      llm.Each(o.Models.Task(TaskAnswer).Chat, func(c llm.Chat) llm.Chat { return shownChat{c} }),
		MaxTokens: tokens, Temperature: *cmp.Or(o.Answers.Temperature, new(AnswerTemperature)),
		Tools:  []agent.Tool{agent.Search(searchTool, prompts.SearchTool, agentRetriever{engine, words, trusting})},
		Limits: agent.Limits{Result: bytes},
	})
	if err != nil {
		return graph.Task[state.State, state.Update]{}, err
	}
	sub := graph.Sub(plan, func(s state.State) agent.Update { return agentInput(task(s), o.Own, newID) }, agentResult)
	run := sub.Run
	sub.Run = func(ctx context.Context, s state.State) (state.Update, error) {
		if s.Turn.Route != state.RouteSearch {
			graph.Skip(ctx, "small talk is answered without a model")
			return state.Update{}, nil
		}
		u, err := run(context.WithValue(ctx, researchKey{}, &research{task: task(s)}), s)
		if failed, ok := errors.AsType[*llm.Error](err); ok {
			return state.Update{}, fellBack(ctx, o.Models.Task(TaskAnswer).Model(), offline.Name, "the answer was written", failed)
		}
		return u, err
	}
	return sub, nil
}

// research has the texts from which a run of the agent may show addresses.
type research struct {
	task  state.Task
	mu    sync.Mutex
	found []state.Source // by its searches
}

type researchKey struct{}

// shownChat is a model of an agent. It emits what the model writes as Tokens, harmless, and discards them where
// the step is no answer: it calls tools, or the model fails. What looks like a call in words is not shown.
type shownChat struct{ llm.Chat }

// Complete implements llm.Chat.
func (c shownChat) Complete(ctx context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	by, _ := ctx.Value(researchKey{}).(*research)
	known := func(address string) bool {
		by.mu.Lock()
		defer by.mu.Unlock()
		return Holds(by.task.Question, slices.Concat(by.task.Sources, by.found), address)
	}
	said, isCall := false, false
	piece, done := Filter(known, by.task.Language).Pieces(func(safe string) {
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

// Answered is the answerer of an answer that an agent wrote, or of none.
func (a Quoting) Answered(t state.Turn) nodes.Answerer {
	if t.Answer == "" {
		return a.Quotes
	}
	return answered{a, t.Answer, t.Model}
}

// agentInput is what a model is sent to answer a task with, as in the plain way, and how it may
// search.
func agentInput(t state.Task, own prompts.Set, newID func() string) agent.Update {
	u := agent.Update{Sources: t.Sources, Turn: &agent.Turn{}}
	for _, m := range Messages(t, own) {
		role := map[llm.Role]state.Role{llm.System: state.System, llm.User: state.Human, llm.Assistant: state.AI}[m.Role]
		if role == state.System {
			m.Content += "\n\n" + prompts.SearchRules
		}
		u.Messages = append(u.Messages, state.MessageOp{Put: &state.Message{ID: newID(), Role: role, Content: m.Content}})
	}
	return u
}

// agentResult is how the end of an agent changes the turn. Of what it found, the turn keeps
// what the answer cites, and of the rest as many sources as the plain way has.
func agentResult(s state.State, end agent.State) state.Update {
	queries := slices.Clone(s.Turn.Queries)
	for _, m := range end.Messages {
		for _, call := range m.Calls {
			var asked struct{ Query string }
			if call.Name == searchTool && json.Unmarshal([]byte(call.Arguments), &asked) == nil && asked.Query != "" {
				queries = append(queries, state.Query{Text: asked.Query, Weight: 1, Why: AgentID, Attempt: max(1, s.Turn.Attempts)})
			}
		}
	}
	text, sources := keepCited(end.Reply(), end.Sources)
	return state.Update{Answer: &text, Sources: &sources, Queries: &queries, Model: &end.Turn.Model}
}

var sourceMark = regexp.MustCompile(`\[Source (\d+)\]`)

// keepCited drops sources that a text does not cite, above [nodes.MaxSources], and numbers the
// text's marks anew.
func keepCited(text string, sources []state.Source) (string, []state.Source) {
	checked := cite.Validate(text, len(sources))
	order := slices.Clone(checked.Cited)
	for n := 1; n <= len(sources) && len(order) < nodes.MaxSources; n++ {
		if !slices.Contains(order, n) {
			order = append(order, n)
		}
	}
	kept := []state.Source{}
	for _, n := range order {
		kept = append(kept, sources[n-1])
	}
	return sourceMark.ReplaceAllStringFunc(checked.Text, func(mark string) string {
		n, _ := strconv.Atoi(sourceMark.FindStringSubmatch(mark)[1])
		if i := slices.Index(order, n); i >= 0 {
			return cite.Marker(i + 1)
		}
		return mark
	}), kept
}

// answered is the answerer of an answer that an agent wrote, and streamed.
type answered struct {
	Quoting

	text, model string
}

// Answer implements nodes.Answerer.
func (w answered) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	return w.Written(ctx, w.text, w.model, t)
}

// AnswerStream implements nodes.StreamAnswerer.
func (w answered) AnswerStream(ctx context.Context, t state.Task, _ func(nodes.Token)) (state.Answer, error) {
	return w.Answer(ctx, t)
}

// agentRetriever searches for an agent.
type agentRetriever struct {
	engine   *search.Engine
	words    *offline.Rewriter
	trusting bool // keep passages that read like instructions
}

// Retrieve implements agent.Retriever.
func (r agentRetriever) Retrieve(ctx context.Context, query string) ([]state.Source, error) {
	q := state.Query{Text: query, Weight: 1, Attempt: 1, Boosts: r.words.Boosts(query, nil)}
	list, err := r.engine.List(ctx, q, search.Request{K: agentHits})
	if err != nil {
		return nil, err
	}
	for _, w := range list.Warnings {
		graph.Warn(ctx, w)
	}
	var out []state.Source
	for _, h := range list.Hits {
		out = append(out, state.Source{Chunk: h.Chunk, Score: h.Score})
	}
	out = nodes.WithoutInjections(ctx, out, r.trusting)
	if by, ok := ctx.Value(researchKey{}).(*research); ok {
		by.mu.Lock()
		defer by.mu.Unlock()
		by.found = append(by.found, out...)
	}
	return out, nil
}
