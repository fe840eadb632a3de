package kills_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/ragflow/agent"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
)

// turns is the number of turns of a complete thread.
const turns = 2

// witness prints what happens in a process that may be killed. Before each line it waits for a byte on
// standard input.
type witness struct {
	in  io.Reader
	out io.Writer
}

func (w witness) say(words ...any) {
	if w.out == nil {
		return // only the plan is of interest
	}
	line := fmt.Appendln(nil, words...)
	if _, err := w.out.Write(line); err != nil {
		panic(err)
	}
	var leave [1]byte
	if _, err := io.ReadFull(w.in, leave[:]); err != nil {
		panic(err)
	}
}

// start reports the begin of work that must not run again once its result is saved.
func (w witness) start(ctx context.Context, name string) { w.say("start", graph.Info(ctx).Run, name) }

// deed does something outside the process that must be done once. The witness is the service that does it and
// stores the idempotency key.
func (w witness) deed(ctx context.Context, name, key string) {
	w.start(ctx, name)
	w.say("deed", graph.Info(ctx).Run, name, key)
}

// witnessed is a store that reports its commits.
type witnessed struct {
	store
	witness
}

func (s witnessed) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	err := s.store.Pend(ctx, l, r)
	if err == nil {
		s.saved(r.Run, r.Delta)
	}
	return err
}

func (s witnessed) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	id, err := s.store.Commit(ctx, l, b)
	if err == nil {
		s.say("commit", id)
		for _, d := range b.Deltas {
			s.saved(b.Run, d)
		}
	}
	return id, err
}

// saved reports the work that a result ends: a node, its parts, or Once.
func (s witnessed) saved(run string, d graph.Delta) {
	switch what, key, _ := strings.Cut(strings.TrimPrefix(d.Node, "__"), "__:"); {
	case d.Error != "" || d.Node == "":
	case what == "once":
		s.say("saved", run, task(d.Path, key))
	case what == "part":
		for i := range 6 {
			if strings.Contains(string(d.Body), fmt.Sprintf(`{"part":%d,`, i)) {
				s.say("saved", run, task(fmt.Sprintf("%s[%d]", d.Path, i), ""))
			}
		}
	case what == d.Node:
		s.say("saved", run, d.Node)
	}
}

// task identifies work by the end of its address, which is unique in the graph.
func task(address, key string) string {
	if i := strings.LastIndexAny(address, "/"); i >= 0 {
		address = address[i+1:]
	}
	if i := strings.Index(address, "#"); i >= 0 {
		_, part, _ := strings.Cut(address[i:], "[")
		address = address[:i] + "[" + part
	}
	return strings.TrimSuffix(address+":"+key, ":")
}

// shape is a graph under construction.
type shape struct {
	graph.Graph[string, string]
	witness
}

// line adds nodes in sequence.
func (g *shape) line(from string, names ...string) {
	for _, name := range names {
		g.add(name, g.node(name))
		g.Edges = append(g.Edges, graph.Edge{From: from, To: name})
		from = name
	}
}

func (g *shape) add(name string, task graph.Task[string, string]) {
	if g.Nodes == nil {
		g.Nodes = map[string]graph.Task[string, string]{}
		g.Apply = func(s, u string) (string, error) { return s + u, nil }
	}
	if _, known := g.Nodes[name]; !known {
		g.Order = append(g.Order, name)
	}
	g.Nodes[name] = task
}

// node fails at its first attempt.
func (g *shape) node(name string) graph.Task[string, string] {
	return graph.Task[string, string]{Retry: graph.Retry{Attempts: 2, First: 1}, Run: func(ctx context.Context, _ string) (string, error) {
		g.start(ctx, name)
		if graph.Info(ctx).Attempt == 1 {
			return "", errors.New("the first attempt fails")
		}
		return " " + name, nil
	}}
}

func into(string) string { return "" }

// flowPlan has one of each kind.
func flowPlan(w witness) (*graph.Plan[string, string], error) {
	deep := shape{graph.Graph[string, string]{Name: "deep"}, w}
	deep.line(graph.Start, "u", "v")
	deep.Edges = append(deep.Edges, graph.Edge{From: "v", To: graph.End})
	deepPlan, err := graph.Compile(deep.Graph)
	if err != nil {
		return nil, err
	}
	middle := shape{graph.Graph[string, string]{Name: "middle"}, w}
	middle.line(graph.Start, "x", "deep", "y")
	middle.add("deep", graph.Sub(deepPlan, into, outOf))
	middle.Edges = append(middle.Edges, graph.Edge{From: "y", To: graph.End})
	middlePlan, err := graph.Compile(middle.Graph)
	if err != nil {
		return nil, err
	}
	agentPlan, err := agentOf(w)
	if err != nil {
		return nil, err
	}

	g := shape{graph.Graph[string, string]{Name: "flow"}, w}
	g.line(graph.Start, "a", "split")
	for _, name := range []string{"p", "q", "r"} {
		g.line("split", name)
		g.Edges = append(g.Edges, graph.Edge{From: name, To: "join"})
	}
	join := g.node("join")
	join.Wait = graph.Join
	g.add("join", join)
	g.line("join", "guess")
	g.line("early", "fan", "sub", "agent", "fails", "asks", "z")
	guesses(&g)
	g.Edges = append(g.Edges, graph.Edge{From: "z", To: graph.End})
	g.add("fan", graph.Task[string, string]{Run: fan(w), Retry: graph.Retry{Attempts: 3, First: 1}})
	g.add("sub", graph.Sub(middlePlan, into, outOf))
	g.add("agent", graph.Sub(agentPlan,
		func(string) agent.Update { return agent.Say("pay") },
		func(_ string, s agent.State) string { return " [" + s.Reply() + "]" }))
	g.add("fails", graph.Task[string, string]{
		Run: func(ctx context.Context, _ string) (string, error) {
			w.start(ctx, "fails")
			return "", errors.New("no luck")
		},
		OnError: graph.OnError[string, string]{Update: func(_ string, f graph.Failure) string { return " " + f.Err.Error() }, To: "asks"},
	})
	g.add("asks", graph.Task[string, string]{Run: func(ctx context.Context, _ string) (string, error) {
		paid, err := once(ctx, w, "asks", "bill")
		if err != nil {
			return "", err
		}
		name, err := graph.Ask[string](ctx, "name", "Who are you?")
		if err != nil {
			return "", err
		}
		w.start(ctx, "asks") // after the question, to report it once
		return paid + " " + name, nil
	}})
	return graph.Compile(g.Graph)
}

// guesses adds a node that two others speculate on: early guesses right and never guesses wrong.
func guesses(g *shape) {
	deed := func(name string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(ctx context.Context, _ string) (string, error) {
			g.start(ctx, name)
			return once(ctx, g.witness, name, "deed")
		}}
	}
	for _, name := range []string{"guess", "early"} {
		task, early := deed(name), map[string]string{"guess": "early", "early": "never"}[name]
		run := task.Run
		task.Speculate.Nodes = []string{early}
		task.Run = func(ctx context.Context, s string) (string, error) {
			u, err := run(ctx, s)
			time.Sleep(time.Millisecond)
			return u, err
		}
		g.add(name, task)
	}
	g.add("never", deed("never"))
	g.Edges = append(g.Edges, graph.Edge{From: "never", To: graph.End})
	g.Branches = []graph.Branch[string]{
		{From: "guess", To: []string{"early", "never"}, Route: func(string) string { return "early" }},
		{From: "early", To: []string{"fan", "never"}, Route: func(string) string { return "fan" }},
	}
}

func outOf(_, sub string) string { return " [" + sub + "]" }

// fan has six parts, each with a deed. The second asks, and the fifth fails at its first attempt.
func fan(w witness) graph.Node[string, string] {
	return graph.FanOut(2,
		func(string) []int { return []int{0, 1, 2, 3, 4, 5} },
		func(ctx context.Context, _ string, n int) (string, error) {
			w.start(ctx, fmt.Sprintf("fan[%d]", n))
			did, err := once(ctx, w, fmt.Sprintf("fan[%d]", n), "deed")
			if err != nil {
				return "", err
			}
			time.Sleep(time.Duration(n%3) * time.Millisecond) // some are saved before others end
			if n == 4 && graph.Info(ctx).Attempt == 1 {
				return "", errors.New("the first attempt fails")
			}
			if n == 1 {
				name, err := graph.Ask[string](ctx, "part", "May I?")
				return did + name, err
			}
			return did, nil
		},
		func(_ string, us []string) (string, error) { return strings.Join(us, ""), nil },
	)
}

// once does something that must not be done twice.
func once(ctx context.Context, w witness, address, key string) (string, error) {
	name := task(address, key)
	return graph.Once(ctx, key, func(ctx context.Context, idempotency string) (string, error) {
		w.deed(ctx, name, idempotency)
		return " " + name, nil
	})
}

// agentOf returns an agent whose model calls two tools at once; a person must approve one of them.
func agentOf(w witness) (*graph.Plan[agent.State, agent.Update], error) {
	tool := func(name, address string) agent.Tool {
		return agent.Func(name, "", func(ctx context.Context, _ struct{}) (string, error) {
			w.deed(ctx, address, agent.IdempotencyKey(ctx))
			return name + " is done", nil
		})
	}
	pay := tool("pay", "tools[0]:call")
	pay.Approve = agent.Always
	return agent.Compile(agent.Agent{Chat: clerk{}, Tools: []agent.Tool{pay, tool("write", "tools[1]:call")}})
}

// clerk is a model that calls both tools and reports their results.
type clerk struct{}

func (clerk) Model() string { return "clerk" }

func (clerk) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	var results []string
	for _, m := range r.Messages {
		if m.Role == llm.ToolResult {
			results = append(results, m.Content)
		}
	}
	if len(results) > 0 {
		return llm.Response{Model: "clerk", Finish: llm.FinishStop, Text: strings.Join(results, ", ")}, nil
	}
	calls := []llm.ToolCall{{ID: "1", Name: "pay", Arguments: "{}"}, {ID: "2", Name: "write", Arguments: "{}"}}
	return llm.Response{Model: "clerk", Finish: llm.FinishTools, Calls: calls}, nil
}

// runFlow continues after the last killed process until all turns have ended.
func runFlow(ctx context.Context, s store, w witness) error {
	plan, err := flowPlan(w)
	if err != nil {
		return err
	}
	r := plan.Runner(graph.Options{Store: witnessed{s, w}, Owner: checkpoint.ProcessOwner(), Parallel: 2, LeaseTTL: time.Hour})
	for {
		req := graph.Request[string]{Thread: "t"}
		switch state, head, err := r.State(ctx, "t"); {
		case errors.Is(err, graph.ErrNotFound):
			req.Input = "turn:"
		case err != nil:
			return err
		case len(head.Frontier) > 0:
			req.Resume = true
		case strings.Count(state, "turn:") == turns:
			return nil
		default:
			req.Input = " turn:"
		}
		for {
			_, err := r.Invoke(ctx, req)
			waits, asked := errors.AsType[*graph.InterruptError](err)
			if !asked {
				if err != nil && !errors.Is(err, graph.ErrNothingToDo) { // the last commit of a dead process may arrive late
					return err
				}
				break
			}
			req = graph.Request[string]{Thread: "t", Resume: true, Answers: map[string]any{}}
			for _, q := range waits.Questions {
				req.Answers[q.ID()] = "Ann"
				if strings.HasPrefix(q.Key, "approve") {
					req.Answers[q.ID()] = agent.Decision{Verdict: "approve"}
				}
			}
		}
	}
}
