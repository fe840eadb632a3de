package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// errDead is the error of a process that has died.
var errDead = errors.New("dead")

// mortal is a store whose process dies at one of its writes: before the write, or after it and before its
// result arrives. Then nothing works but the release of the lease, which would expire.
type mortal struct {
	graph.Store

	mu    sync.Mutex
	left  int // writes before the death
	after bool
	dead  bool
}

func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	if m.left--; m.left >= 0 {
		return do()
	}
	m.dead = true
	if m.after {
		_ = do()
	}
	return errDead
}

func (m *mortal) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	return m.write(func() error { return m.Store.Pend(ctx, l, r) })
}

func (m *mortal) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (id graph.CommitID, err error) {
	err = m.write(func() error { id, err = m.Store.Commit(ctx, l, b); return err })
	return id, err
}

// deed is what is known outside of a call.
type deed struct {
	keys map[string]bool
	runs int
	done bool
	edit bool
	told string // by the first request to the model that tells it
}

// world is a life of one agent: its tools, its model, and the person who writes, answers, cancels and interrupts.
type world struct {
	t      *testing.T
	store  *memstore.Store
	events func() // called within a tool, outside of mu; may be nil

	mu       sync.Mutex
	rand     *rand.Rand
	deeds    []*deed // by number, of calls that the model made
	troubles int     // deaths, cancellations and interruptions so far
	speaks   int     // how often the model may still call tools
	faults   []string
}

func (w *world) chance(n int) bool { return w.number(n) == 0 }

func (w *world) number(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

func (w *world) faultf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

type numberedDeed struct {
	N      int  `json:"n"`
	Edited bool `json:"edited,omitempty"` // by a person
}

// do is a deed of a tool: it may be done, be done and fail, or not be done, and the person may step in before or after.
func (w *world) do(ctx context.Context, in numberedDeed) (string, error) {
	kind := w.number(12)
	event := func() {
		w.mu.Lock()
		f := w.events
		w.events = nil
		w.mu.Unlock()
		if f != nil {
			f()
		}
	}
	if kind < 3 {
		event()
	}
	w.mu.Lock()
	d := w.deeds[in.N]
	if d.keys[agent.IdempotencyKey(ctx)] = true; len(d.keys) > 1 {
		w.faults = append(w.faults, fmt.Sprintf("deed %d was done with %d keys", in.N, len(d.keys)))
	}
	if d.told != "" && !strings.Contains(d.told, "may have been") {
		w.faults = append(w.faults, fmt.Sprintf("deed %d ran after the model was told %q", in.N, d.told))
	}
	if d.runs > w.troubles {
		w.faults = append(w.faults, fmt.Sprintf("deed %d ran %d times with %d interruptions", in.N, d.runs+1, w.troubles))
	}
	d.runs++
	d.done, d.edit = true, in.Edited
	w.mu.Unlock()
	if kind > 3 {
		event()
	}
	switch {
	case kind == 10:
		panic("after the deed")
	case kind == 11:
		return "", errors.New("no receipt")
	case kind%2 == 0 && ctx.Err() != nil:
		return "", ctx.Err() // the deed is done, but this is all that is known
	}
	return fmt.Sprintf("receipt of %d.", in.N), nil
}

// Model implements llm.Chat.
func (*world) Model() string { return "world" }

// Complete implements llm.Chat. It checks what the model is told, and calls some tools or none.
func (w *world) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	w.check(r.Messages)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.speaks--; w.speaks < 0 || w.rand.IntN(4) == 0 {
		return llm.Response{Text: "Well."}, nil
	}
	var calls []llm.ToolCall
	for range 1 + w.rand.IntN(4) {
		c := llm.ToolCall{ID: []string{"", "x", fmt.Sprint("c", len(w.deeds))}[w.rand.IntN(3)], Name: []string{"mail", "pay", "pay", "nothing"}[w.rand.IntN(4)]}
		c.Arguments = fmt.Sprintf(`{"n":%d}`, len(w.deeds))
		calls, w.deeds = append(calls, c), append(w.deeds, &deed{keys: map[string]bool{}})
	}
	return llm.Response{Calls: calls}, nil
}

// check compares what a request tells with what was done.
func (w *world) check(messages []llm.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fault := func(format string, args ...any) { w.faults = append(w.faults, fmt.Sprintf(format, args...)) }
	told := map[string]string{}
	for i, m := range messages {
		for at, c := range m.Calls {
			var in numberedDeed
			if err := json.Unmarshal([]byte(c.Arguments), &in); err != nil {
				fault("arguments %s: %v", c.Arguments, err)
			}
			if i+1+at >= len(messages) || messages[i+1+at].CallID != c.ID || told[c.ID] != "" {
				fault("call %q of %d has no result of its own at its place", c.ID, in.N)
				continue
			}
			content := messages[i+1+at].Content
			told[c.ID] = content
			d := w.deeds[in.N]
			denied := strings.Contains(content, "not carried out") || strings.Contains(content, "refused") || strings.Contains(content, "There is no tool")
			receipt := strings.Contains(content, fmt.Sprintf("receipt of %d.", in.N))
			unsure := strings.Contains(content, "may have been") || strings.Contains(content, "The tool failed")
			switch {
			case d.told != "" && d.told != content:
				fault("deed %d was told as %q, and then as %q", in.N, d.told, content)
			case denied && d.done:
				fault("deed %d was done, and denied: %q", in.N, content)
			case receipt && !d.done:
				fault("deed %d was not done, and told: %q", in.N, content)
			case d.edit && !strings.Contains(content, `A person changed the arguments of this call to {"n":`):
				fault("deed %d was edited, and told as %q", in.N, content)
			case !denied && !receipt && !unsure:
				fault("deed %d was told as %q", in.N, content)
			case unsure && !d.done && w.troubles == 0:
				fault("deed %d never began: %q", in.N, content)
			}
			d.told = content
		}
		if m.Role == llm.ToolResult && told[m.CallID] == "" {
			fault("result of no call %q", m.CallID)
		}
	}
}

// runner is a new process, which dies at some write or never.
func (w *world) runner() (runner, *mortal) {
	m := &mortal{Store: w.store, left: 1 << 30, after: w.chance(2)}
	if w.chance(3) {
		m.left = w.number(12)
	}
	pay := agent.Func("pay", "", w.do)
	pay.Approve = agent.Always
	a := agent.Agent{Chat: w, Tools: []agent.Tool{agent.Func("mail", "", w.do), pay}, Parallel: 1 + w.number(3), Limits: agent.Limits{Steps: 4}}
	return compiled(w.t, graph.Options{Store: m, OnBusy: graph.Interrupt}, a), m
}

// act is one thing that the person does; it returns the questions that are open then.
func (w *world) act(open []graph.Question) []graph.Question {
	r, m := w.runner()
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	trouble := func(do func()) func() {
		return func() {
			w.mu.Lock()
			w.troubles++
			w.mu.Unlock()
			do()
		}
	}
	var events func()
	switch w.number(5) {
	case 0:
		events = trouble(cancel)
	case 1:
		events = trouble(func() { w.ask(w.t.Context(), r, graph.Request[agent.Update]{Input: agent.Say("Stop that.")}) })
	}
	w.mu.Lock()
	w.events = events
	w.mu.Unlock()
	req := graph.Request[agent.Update]{Resume: true, Answers: map[string]any{}}
	switch {
	case open == nil && w.chance(2) || w.chance(5):
		req = graph.Request[agent.Update]{Input: agent.Say("Go on.")}
	case w.chance(6):
		req.Updates = []agent.Update{agent.Say("By the way.")}
		fallthrough
	default:
		for _, q := range open {
			if w.chance(2) {
				edited := json.RawMessage(fmt.Sprintf(`{"n":%s,"edited":true}`, strings.Trim(string(q.Ask[bytes.LastIndexByte(q.Ask, ':')+1:]), "{}")))
				req.Answers[q.ID()] = []agent.Decision{{Verdict: "approve"}, {Verdict: "reject", Reason: "No."}, {Verdict: "edit", Arguments: edited}}[w.number(3)]
			}
		}
	}
	open = w.ask(ctx, r, req)
	w.mu.Lock()
	w.events = nil
	if m.dead {
		w.troubles++
	}
	w.mu.Unlock()
	return open
}

// ask runs a request and returns the open questions.
func (w *world) ask(ctx context.Context, r runner, req graph.Request[agent.Update]) []graph.Question {
	req.Thread = "t"
	_, err := r.Invoke(ctx, req)
	waits, asks := errors.AsType[*graph.InterruptError](err)
	_, answers := errors.AsType[*graph.AnswerError](err)
	if !asks {
		if err != nil && !answers && !errors.Is(err, errDead) && !errors.Is(err, context.Canceled) && !errors.Is(err, graph.ErrSuperseded) && !errors.Is(err, graph.ErrNothingToDo) {
			w.faultf("%v", err)
		}
		return nil
	}
	for _, q := range waits.Questions {
		if _, again := req.Answers[q.ID()]; again {
			w.faultf("the question %s is open after its answer", q.ID())
		}
	}
	return waits.Questions
}

// TestDeedsAreTold lets agents live at random: their process dies, their runs are cancelled and interrupted, and
// approvals are answered in any order, or not. Each deed is told once, none is denied, and none has two keys.
func TestDeedsAreTold(t *testing.T) {
	lives := 1000
	if testing.Short() {
		lives = 100
	}
	var done, calls, unsure, again, troubles int
	for seed := range lives {
		w := &world{t: t, store: memstore.New(), rand: rand.New(rand.NewPCG(uint64(seed), 35)), speaks: 1 << 30}
		var open []graph.Question
		for range 3 + w.number(10) {
			open = w.act(open)
		}
		w.speaks = 0
		w.events = nil
		healthy := compiled(t, graph.Options{Store: w.store}, agent.Agent{Chat: w})
		s := say(t, healthy, "What did you do?")
		if s.Reply() != "Well." {
			w.faultf("reply %q", s.Reply())
		}
		saved := map[string]int{}
		for _, m := range s.Messages {
			if m.Role == state.Tool {
				saved[m.Result.Call]++
			}
		}
		for id, n := range saved {
			if n > 1 {
				w.faultf("%d results of the call %q", n, id)
			}
		}
		for n, d := range w.deeds {
			calls++
			if d.done {
				done++
			}
			if d.runs > 1 {
				again++
			}
			if strings.Contains(d.told, "may have been") {
				unsure++
			}
			if d.done && d.told == "" {
				w.faultf("deed %d was never told", n)
			}
		}
		troubles += w.troubles
		if len(w.faults) > 0 {
			slices.Sort(w.faults)
			t.Fatalf("life %d:\n%s", seed, strings.Join(slices.Compact(w.faults), "\n"))
		}
	}
	t.Logf("%d lives, %d times cut short: %d deeds of %d calls, %d told as uncertain, %d begun again with their key", lives, troubles, done, calls, unsure, again)
	if done < lives || unsure == 0 || again == 0 {
		t.Error("these lives are too quiet")
	}
}
