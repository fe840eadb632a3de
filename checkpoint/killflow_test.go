package checkpoint_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// witness prints what happens in a process that may be killed, one line at a
// time, and each only when it may go on: a byte on standard input.
type witness struct {
	in  io.Reader
	out io.Writer
}

func (w witness) say(words ...any) {
	line := fmt.Appendln(nil, words...)
	if _, err := w.out.Write(line); err != nil {
		panic(err)
	}
	var leave [1]byte
	if _, err := io.ReadFull(w.in, leave[:]); err != nil {
		panic(err)
	}
}

// flowPlan has one of each kind: a line, siblings with a join, workers of a
// fan-out, a subgraph in a subgraph, a failure that is handled, work that must be
// done once before a question to a person.
func flowPlan(w witness) (*graph.Plan[string, string], error) {
	apply := func(s, u string) (string, error) { return s + u, nil }
	node := func(name string) graph.Task[string, string] {
		return graph.Task[string, string]{Run: func(context.Context, string) (string, error) {
			w.say("start", name)
			return " " + name, nil
		}}
	}
	line := func(name string, tasks ...string) graph.Graph[string, string] {
		g := graph.Graph[string, string]{Name: name, Apply: apply, Nodes: map[string]graph.Task[string, string]{}}
		from := graph.Start
		for _, t := range tasks {
			g.Nodes[t], g.Order = node(t), append(g.Order, t)
			g.Edges = append(g.Edges, graph.Edge{From: from, To: t})
			from = t
		}
		g.Edges = append(g.Edges, graph.Edge{From: from, To: graph.End})
		return g
	}
	deep, err := graph.Compile(line("deep", "u", "v"))
	if err != nil {
		return nil, err
	}
	into := func(string) string { return "" }
	outOf := func(_, sub string) string { return " [" + sub + "]" }
	middle := line("middle", "x", "deep", "y")
	middle.Nodes["deep"] = graph.Sub(deep, into, outOf)
	sub, err := graph.Compile(middle)
	if err != nil {
		return nil, err
	}
	g := line("flow", "a", "split", "fan", "sub", "fails", "asks", "z")
	for _, name := range []string{"p", "q", "r"} {
		g.Nodes[name], g.Order = node(name), append(g.Order, name)
		g.Edges = append(g.Edges, graph.Edge{From: "split", To: name}, graph.Edge{From: name, To: "join"})
	}
	join := node("join")
	join.Wait = graph.Join
	g.Nodes["join"], g.Order = join, append(g.Order, "join")
	for i, e := range g.Edges {
		if e.From == "split" && e.To == "fan" {
			g.Edges[i].From = "join"
		}
	}
	g.Nodes["fan"] = graph.Task[string, string]{Run: graph.FanOut(2,
		func(string) []int { return []int{1, 2, 3} },
		func(ctx context.Context, _ string, n int) (string, error) {
			return once(ctx, w, "worker "+strconv.Itoa(n))
		},
		func(_ string, us []string) (string, error) { return strings.Join(us, ""), nil },
	)}
	g.Nodes["sub"] = graph.Sub(sub, into, outOf)
	g.Nodes["fails"] = graph.Task[string, string]{
		Run: func(context.Context, string) (string, error) {
			w.say("start", "fails")
			return "", errors.New("no luck")
		},
		OnError: graph.OnError[string, string]{Update: func(_ string, f graph.Failure) string { return " " + f.Err.Error() }, To: "asks"},
	}
	g.Nodes["asks"] = graph.Task[string, string]{Run: func(ctx context.Context, _ string) (string, error) {
		w.say("enter asks")
		paid, err := once(ctx, w, "pay")
		if err != nil {
			return "", err
		}
		name, err := graph.Ask[string](ctx, "name", "Who are you?")
		if err != nil {
			return "", err
		}
		w.say("start", "asks") // behind the question, so that it is told once
		return paid + " " + name, nil
	}}
	return graph.Compile(g)
}

// once does something that must not be done twice once it was done.
func once(ctx context.Context, w witness, key string) (string, error) {
	did, err := graph.Once(ctx, key, func(context.Context, string) (string, error) {
		w.say("start", key)
		return " " + key, nil
	})
	if err == nil {
		w.say("done", key)
	}
	return did, err
}

// runFlow begins the flow, or goes on where the last process was killed, until
// it has ended.
func runFlow(ctx context.Context, s *checkpoint.SQLite, w witness) error {
	plan, err := flowPlan(w)
	if err != nil {
		return err
	}
	r := plan.Runner(graph.Options{Store: s, Owner: checkpoint.ProcessOwner(), Parallel: 2, LeaseTTL: time.Hour})
	req := graph.Request[string]{Thread: "t", Input: "begin:"}
	switch head, err := s.Head(ctx, "t"); {
	case err == nil && len(head.Frontier) == 0:
		return nil // it had ended
	case err == nil:
		req.Resume = true
	case !errors.Is(err, graph.ErrNotFound):
		return err
	}
	for {
		var failed error
		for e, err := range r.Run(ctx, req) {
			if failed = err; err != nil {
				break
			}
			w.say("commit", e.Commit)
			if e.Kind != graph.StepDone {
				continue
			}
			for _, d := range e.Tasks {
				w.say("done", d.Node)
			}
		}
		waits, asked := errors.AsType[*graph.InterruptError](failed)
		if !asked {
			return failed
		}
		req = graph.Request[string]{Thread: "t", Resume: true, Answers: map[string]any{waits.Questions[0].Key: "Ann"}}
	}
}

// flowState is the state a flow ended with.
func flowState(t *testing.T, path string) (state string, commits map[string]bool) {
	t.Helper()
	s := open(t, path)
	defer func() { _ = s.Close() }()
	plan, err := flowPlan(witness{})
	if err != nil {
		t.Fatal(err)
	}
	state, head, err := plan.Runner(graph.Options{Store: s}).State(t.Context(), "t")
	if err != nil || head.Status != graph.Completed {
		t.Fatalf("state %q, %v, %v", state, head.Status, err)
	}
	commits = map[string]bool{}
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		commits[strconv.Itoa(int(c.ID))] = true
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("findings %v, %v", found, err)
	}
	return state, commits
}

// live runs a process on the flow. It kills it some time after it said a number
// of lines; a negative one lets it end. It returns what was said, and whether
// the process was killed.
func live(t *testing.T, path string, lines int, after time.Duration) (said []string, killed bool) {
	t.Helper()
	cmd := command(t, "flow", path)
	var trouble bytes.Buffer
	var shot atomic.Bool
	cmd.Stderr = &trouble
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	leave := func(n int) { _, _ = in.Write(bytes.Repeat([]byte("."), n)) } // it may have been killed
	scan := bufio.NewScanner(out)
	if lines < 0 {
		leave(10_000)
	}
	for scan.Scan() {
		said = append(said, scan.Text())
		switch {
		case lines < 0 || len(said) > lines+1:
		case len(said) <= lines:
			leave(1)
		default: // it waits for this line's leave: let it run, and shoot
			leave(10_000)
			time.AfterFunc(after, func() {
				shot.Store(true) // first: Wait may return before Kill does
				_ = cmd.Process.Kill()
			})
		}
	}
	err = cmd.Wait()
	killed = err != nil && shot.Load()
	if err != nil && !killed {
		t.Fatalf("%v: %s", err, trouble.String())
	}
	return said, killed
}

// TestKilledFlows kills processes that run a flow with everything in it, at
// random moments, and lets others go on: what was told as saved is there, what was
// finished is not done again, and the state is that of a run that nobody disturbed.
// RAGFLOW_KILLS says how many kills; RAGFLOW_SEED begins the random numbers.
func TestKilledFlows(t *testing.T) {
	kills, seed := 20, uint64(1)
	for name, to := range map[string]func(int){"RAGFLOW_KILLS": func(n int) { kills = n }, "RAGFLOW_SEED": func(n int) { seed = uint64(n) }} {
		if text := os.Getenv(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			to(n)
		}
	}
	whole := filepath.Join(t.TempDir(), "threads.db")
	said, _ := live(t, whole, -1, 0)
	want, _ := flowState(t, whole)
	if len(said) < 40 {
		t.Fatalf("the flow says only %q", said)
	}
	random := rand.New(rand.NewPCG(seed, 0))
	done, lives := 0, 0
	for done < kills {
		path := filepath.Join(t.TempDir(), "threads.db")
		var log []string
		for killed := true; killed; lives++ {
			var said []string
			lines := random.IntN(50)
			if said, killed = live(t, path, lines, time.Duration(random.IntN(3000))*time.Microsecond); killed {
				done++
			}
			log = append(log, said...)
		}
		got, commits := flowState(t, path)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("state (-uninterrupted +killed):\n%s", diff)
		}
		checkLog(t, log, commits)
	}
	t.Logf("%d kills in %d lives of the flow: nothing lost, nothing done again", done, lives)
}

// checkLog looks for commits that were told of and lost, and for what was started
// again after it was told as done.
func checkLog(t *testing.T, log []string, commits map[string]bool) {
	t.Helper()
	done := map[string]bool{}
	// Of what is saved within a step only the start of what follows tells.
	saved := map[string][]string{"u": {"x"}, "v": {"u"}, "y": {"v"}, "join": {"p", "q", "r"}}
	for i, line := range log {
		what, name, _ := strings.Cut(line, " ")
		switch what {
		case "commit":
			if !commits[name] {
				t.Errorf("commit %s was told of and is lost; log %q", name, log[:i+1])
			}
		case "done":
			done[name] = true
		case "start":
			if done[name] {
				t.Errorf("%s was done, and is done again; log %q", name, log[:i+1])
			}
			for _, before := range saved[name] {
				done[before] = true
			}
		}
	}
}
