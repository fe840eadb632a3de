package ragflow_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/graph"
)

// asProcess makes the test binary ask one question in a process of its own.
const asProcess = "RAGFLOW_TEST_ASK"

func TestMain(m *testing.M) {
	if question := os.Getenv(asProcess); question != "" {
		os.Exit(askOnce(question))
	}
	os.Exit(m.Run())
}

func askOnce(question string) int {
	dir, data, _ := strings.Cut(os.Getenv(asProcess+"_DIRS"), string(filepath.ListSeparator))
	a, err := ragflow.Open(context.Background(), ragflow.Config{Docs: []string{dir}, DataDir: data, Hook: dieAfter()})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer a.Close()
	if _, err := a.Ask(context.Background(), ragflow.Question{Text: question, Thread: "shared"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killer kills this process after a number of commits: that of the input, then one a step.
type killer struct{ left int }

// dieAfter returns a killer after as many commits as the environment says, or nil.
func dieAfter() graph.Hook {
	left, err := strconv.Atoi(os.Getenv(asProcess + "_DIE"))
	if err != nil {
		return nil
	}
	return &killer{left}
}

// Begin implements graph.Hook.
func (k *killer) Begin(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	if s.Kind == graph.SpanRun {
		k.saved()
	}
	return ctx, func(error) {
		if s.Kind == graph.SpanStep {
			k.saved()
		}
	}
}

func (k *killer) saved() {
	if k.left--; k.left > 0 {
		return
	}
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // as kill -9
	}
	select {}
}

// TestKilledBetweenCommits kills a process after each commit of a run, and continues
// the run in this one: no node that finished runs again, and the answer
// is the one of a run that nobody killed.
func TestKilledBetweenCommits(t *testing.T) {
	const question = "How often should I water a basil plant?"
	dir := library(t)
	want := ask(t, open(t, ragflow.Config{Docs: []string{dir}}), "shared", question)
	for n := 1; ; n++ {
		data := filepath.Join(t.TempDir(), "data")
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), asProcess+"="+question, asProcess+"_DIRS="+dir+string(filepath.ListSeparator)+data,
			fmt.Sprintf("%s_DIE=%d", asProcess, n))
		if err := cmd.Run(); err == nil {
			if n < 8 {
				t.Errorf("a run of %d events", n-1)
			}
			return
		}
		a := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data})
		before := read(t, a, "shared")
		if before.Status == "completed" { // killed after its last commit
			if len(before.Messages) != 2 || before.Messages[1].Content != want.Answer {
				t.Errorf("killed after commit %d: %d messages", n, len(before.Messages))
			}
			continue
		}
		got, err := a.Ask(t.Context(), ragflow.Question{Thread: "shared", Resume: true})
		if err != nil || got.Answer != want.Answer {
			t.Fatalf("killed after commit %d: resumed to %v, %v", n, got, err)
		}
		run, err := a.Threads().Run(t.Context(), got.RunID)
		if err != nil || len(run.Commits) != 8 {
			t.Errorf("killed after commit %d: %d commits, %v, want one for the input and each node", n, len(run.Commits), err)
		}
		agree(t, a, data, "shared")
	}
}

// TestTwoProcessesOnOneThread starts several processes that ask on one thread
// at the same moment, on a data folder that none of them has made yet.
func TestTwoProcessesOnOneThread(t *testing.T) {
	dir, data := library(t), filepath.Join(t.TempDir(), "data")
	const processes = 4
	var wg sync.WaitGroup
	for i := range processes {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(os.Environ(),
				fmt.Sprintf("%s=How do I dry oregano, for the %d. time?", asProcess, i),
				asProcess+"_DIRS="+dir+string(filepath.ListSeparator)+data)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	thread, err := open(t, ragflow.Config{DataDir: data}).Threads().Thread(t.Context(), "shared")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSpace(strings.Repeat("human ai ", processes)); roles(thread.Messages) != want {
		t.Errorf("history is %q, want %q", roles(thread.Messages), want)
	}
	for i := range processes {
		n := 0
		for _, m := range thread.Messages {
			if strings.Contains(m.Content, fmt.Sprintf("for the %d. time", i)) && m.Role == "human" {
				n++
			}
		}
		if n != 1 {
			t.Errorf("question %d stands in the history %d times, want once", i, n)
		}
	}
}
