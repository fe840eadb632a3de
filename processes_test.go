package ragflow_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow"
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
	a, err := ragflow.Open(context.Background(), ragflow.Config{Docs: []string{dir}, DataDir: data})
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
	thread, err := open(t, ragflow.Config{DataDir: data}).Thread(t.Context(), "shared")
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
