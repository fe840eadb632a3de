package ragflow_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/nodes"
)

// TestReadersComeAndGo has 300 readers follow 50 runs. Each leaves and comes back to its
// place, at random, and sees every event once, in order.
func TestReadersComeAndGo(t *testing.T) {
	const runs, readers = 50, 300
	s := llmtest.NewServer(script(llmtest.Say(strings.Repeat("A volume keeps the data of a container. [Source 1] ", 4))))
	defer s.Close()
	a := modelled(t, s, nil)
	ask(t, a, "", question) // indexes
	before := runtime.NumGoroutine()
	infos := make([]ragflow.RunInfo, runs)
	for i := range infos {
		var err error
		if infos[i], err = a.Runs().Start(t.Context(), ragflow.Question{Text: question}); err != nil {
			t.Fatal(err)
		}
	}
	seen := make([][]ragflow.Event, readers)
	var group sync.WaitGroup
	for i := range readers {
		group.Go(func() { seen[i] = follow(t, a, infos[i%runs].Run, rand.New(rand.NewPCG(uint64(i), 0))) })
	}
	group.Wait()
	for i, events := range seen {
		if n := len(events); n == 0 || events[n-1].Kind != ragflow.Done {
			t.Fatalf("reader %d did not see the end: %d events", i, n)
		}
		text := ""
		steps := []string{}
		for _, e := range events {
			switch e.Kind {
			case ragflow.Withdrawn:
				text = ""
			case ragflow.StepEnded:
				steps = append(steps, e.Node)
			default:
				text += e.Text
			}
		}
		if want := events[len(events)-1].Reply.Answer; text != want {
			t.Errorf("reader %d saw %q, want %q", i, text, want)
		}
		if len(steps) != 7 || !slices.Equal(steps, slices.Compact(slices.Clone(steps))) {
			t.Errorf("reader %d saw the steps %v", i, steps)
		}
	}
	if left := a.Runs().List(t.Context()); len(left) != 0 {
		t.Errorf("still under way: %v", left)
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// follow reads a run to its end in several sittings.
func follow(t *testing.T, a *ragflow.Assistant, run string, r *rand.Rand) (seen []ragflow.Event) {
	t.Helper()
	var at ragflow.Position
	for {
		leave := 1 + r.IntN(12)
		for e, err := range a.Runs().Events(t.Context(), run, at) {
			if err != nil {
				t.Errorf("run %s after %q: %v", run, at, err)
				return seen
			}
			seen, at = append(seen, e), e.Position
			if e.Kind == ragflow.Done {
				return seen
			}
			if leave--; leave == 0 {
				break
			}
		}
	}
}

// TestEventsFromTheLog: a run that is read back has the events that it had, but for the
// pieces of its answer, from every position.
func TestEventsFromTheLog(t *testing.T) {
	s := llmtest.NewServer(script(llmtest.Say("A volume keeps it. [Source 1] More is unknown. [Source 7]")))
	defer s.Close()
	a := modelled(t, s, nil)
	var live []ragflow.Event
	reply := streamed(t, a, ragflow.Question{Text: question, Trace: true}, func(e ragflow.Event) { live = append(live, e) })
	for i := range live {
		if live[i].Kind == ragflow.Done {
			continue
		}
		rest := told(live[:i+1], "")
		want := told(live[i+1:], rest)
		var again []ragflow.Event
		for e, err := range a.Runs().Events(t.Context(), reply.RunID, live[i].Position) {
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, e)
		}
		if shown := told(again, rest); shown != want || shown != reply.Answer {
			t.Errorf("after event %d (%s): the answer is %q, want %q", i, live[i].Kind, shown, want)
		}
		if d := cmp.Diff(stepsOf(live[i+1:]), stepsOf(again)); d != "" {
			t.Errorf("after event %d (%s): steps (-live +log):\n%s", i, live[i].Kind, d)
		}
		if last := again[len(again)-1]; last.Kind != ragflow.Done || last.Reply.Answer != reply.Answer {
			t.Errorf("the last event is %+v", last)
		}
	}
	for i := range live { // and continue from each event of the log
		rest, at := told(live[:i+1], ""), live[i].Position
		for range 40 {
			for e, err := range a.Runs().Events(t.Context(), reply.RunID, at) {
				if err != nil {
					t.Fatal(err)
				}
				rest, at = told([]ragflow.Event{e}, rest), e.Position
				break
			}
		}
		if rest != reply.Answer {
			t.Errorf("event by event after event %d: %q", i, rest)
		}
	}
	if err := drain(a.Runs().Events(t.Context(), "nobody", "")); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
	if err := drain(a.Runs().Events(t.Context(), reply.RunID, "somewhere")); err == nil {
		t.Error("a position that is none is taken")
	}
}

// told returns the answer that is shown after events, if before stood there.
func told(events []ragflow.Event, before string) string {
	for _, e := range events {
		if e.Kind == ragflow.Withdrawn {
			before = ""
		}
		before += e.Text
	}
	return before
}

func stepsOf(events []ragflow.Event) (out []string) {
	for _, e := range events {
		if e.Kind == ragflow.StepBegan || e.Kind == ragflow.StepEnded {
			out = append(out, fmt.Sprint(e.Kind, " ", e.Node))
		}
	}
	return out
}

func drain(events func(func(ragflow.Event, error) bool)) (err error) {
	for _, e := range events {
		err = errors.Join(err, e)
	}
	return err
}

// TestLateReader reads a run that is not the first of its store from the beginning while it is under way: no step begins twice.
func TestLateReader(t *testing.T) {
	goOn := make(chan struct{})
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: answers, Do: llmtest.SayThen("A volume keeps ", goOn, "the data. [Source 1]")},
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85\nREFINED: volumes")},
		llmtest.Entry{When: rewrites, Do: llmtest.Say("Q1: How does a volume keep the data of a container?")},
	))
	defer s.Close()
	a := modelled(t, s, nil)
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: question, Settings: &ragflow.Settings{Offline: true}}); err != nil {
		t.Fatal(err)
	}
	run, err := a.Runs().Start(t.Context(), ragflow.Question{Text: question})
	if err != nil {
		t.Fatal(err)
	}
	toText := func() (events []ragflow.Event) {
		for e, err := range a.Runs().Events(t.Context(), run.Run, "") {
			if err != nil {
				t.Fatal(err)
			}
			if events = append(events, e); e.Kind == ragflow.Text {
				break
			}
		}
		return events
	}
	first := stepsOf(toText())
	if diff := cmp.Diff(first, stepsOf(toText())); diff != "" || !slices.Contains(first, "step_ended ingest") {
		t.Errorf("a reader that comes later sees other steps (-first +later):\n%s", diff)
	}
	seen := map[string]bool{}
	for _, step := range first {
		if seen[step] {
			t.Errorf("%s was told twice in %v", step, first)
		}
		seen[step] = true
	}
	close(goOn)
	if err := drain(a.Runs().Events(t.Context(), run.Run, "")); err != nil {
		t.Fatal(err)
	}
}

// TestCancelledRunResumes cancels a run that nobody reads, by its thread.
func TestCancelledRunResumes(t *testing.T) {
	goOn := make(chan struct{})
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: answers, Do: llmtest.SayThen("A volume keeps ", goOn, "the data. [Source 1]")},
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85\nREFINED: volumes")},
		llmtest.Entry{When: rewrites, Do: llmtest.Say("Q1: How does a volume keep the data of a container?")},
	))
	defer s.Close()
	a := modelled(t, s, nil)
	ctx, leave := context.WithCancel(t.Context())
	run, err := a.Runs().Start(ctx, ragflow.Question{Text: question, Thread: "t"})
	if err != nil {
		t.Fatal(err)
	}
	leave() // the run continues
	var at ragflow.Position
	shown := ""
	for e, err := range a.Runs().Events(t.Context(), run.Run, "") {
		if err != nil {
			t.Fatal(err)
		}
		if at, shown = e.Position, shown+e.Text; e.Kind == ragflow.Text {
			break
		}
	}
	if list := a.Runs().List(t.Context()); len(list) != 1 || list[0].Thread != "t" || list[0].Run != run.Run {
		t.Errorf("under way: %+v", list)
	}
	if err := a.Runs().Cancel(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if err, ok := errors.AsType[*graph.MoveError](a.Runs().Cancel(t.Context(), "t")); !ok {
		t.Errorf("cancelled twice: %v", err)
	}
	if err := a.Runs().Cancel(t.Context(), "nobody"); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("cancelled nobody: %v", err)
	}
	close(goOn)
	if _, err := a.Runs().Start(t.Context(), ragflow.Question{Thread: "t", Resume: true}); err != nil {
		t.Fatal(err)
	}
	reply := followed(t, a, run.Run, at, shown) // under way, perhaps
	if again := followed(t, a, run.Run, at, shown); again.Answer != reply.Answer || reply.Question != question {
		t.Errorf("the log tells %+v, want %+v", again, reply)
	}
	if err := drain(a.Runs().Events(t.Context(), run.Run, "end")); err != nil {
		t.Errorf("after the end: %v", err)
	}
}

// TestReaderOfResumedRun: a reader who comes back while a resumed run has saved more steps gets each event once.
func TestReaderOfResumedRun(t *testing.T) {
	goOn, write := make(chan struct{}), make(chan struct{})
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: answers, Do: llmtest.SayThen("A volume keeps ", write, "the data. [Source 1]")},
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85\nREFINED: volumes")},
		llmtest.Entry{When: rewrites, Do: llmtest.SayThen("Q1: ", goOn, "How does a volume keep the data of a container?")},
	))
	defer s.Close()
	a := modelled(t, s, nil)
	run, err := a.Runs().Start(t.Context(), ragflow.Question{Text: question, Thread: "t"})
	if err != nil {
		t.Fatal(err)
	}
	upTo := func(from ragflow.Position, kind ragflow.EventKind, node string) (at ragflow.Position) {
		t.Helper()
		for e, err := range a.Runs().Events(t.Context(), run.Run, from) {
			if err != nil {
				t.Fatal(err)
			}
			if at = e.Position; e.Kind == kind && e.Node == node {
				break
			}
		}
		return at
	}
	at := upTo("", ragflow.StepEnded, nodes.IngestID)
	upTo(at, ragflow.StepBegan, nodes.PreRetrievalID)
	// A copy of the thread is as that of a process that was killed: the log does not say that the run ended.
	err = errors.Join(
		a.Graph().Fork(t.Context(), graph.Point{Thread: "t"}, "copy"), a.Runs().Cancel(t.Context(), "t"), a.Threads().Delete(t.Context(), "t"),
	)
	if err != nil {
		t.Fatal(err)
	}
	close(goOn)
	if _, err := a.Runs().Start(t.Context(), ragflow.Question{Thread: "copy", Resume: true}); err != nil {
		t.Fatal(err)
	}
	upTo("", ragflow.StepBegan, nodes.GenerateID)
	var got []ragflow.Event
	for e, err := range a.Runs().Events(t.Context(), run.Run, at) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e); e.Kind == ragflow.StepBegan && e.Node == nodes.GenerateID {
			close(write)
		}
	}
	for _, node := range []string{nodes.PreRetrievalID, nodes.CheckAndRefineID, nodes.GenerateID} {
		n := 0
		for _, step := range stepsOf(got) {
			if step == fmt.Sprint(ragflow.StepBegan, " ", node) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s began %d times: %q", node, n, stepsOf(got))
		}
	}
	if text := told(got, ""); text != "A volume keeps the data. [Source 1]" {
		t.Errorf("the reader sees %q", text)
	}
}

// followed reads a run to its end from a position at which text was shown. The shown text is
// the beginning of an answer at every moment, and the answer at the end.
func followed(t *testing.T, a *ragflow.Assistant, run string, at ragflow.Position, shown string) (reply *ragflow.Reply) {
	t.Helper()
	for e, err := range a.Runs().Events(t.Context(), run, at) {
		if err != nil {
			t.Fatal(err)
		}
		shown = told([]ragflow.Event{e}, shown)
		if !strings.HasPrefix("A volume keeps the data. [Source 1]", strings.TrimSuffix(shown, ".")) {
			t.Errorf("shows %q", shown)
		}
		reply = e.Reply
	}
	if reply == nil || reply.Answer != shown {
		t.Fatalf("shows %q at the end of %+v", shown, reply)
	}
	return reply
}
