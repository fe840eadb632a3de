package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tune"
)

// optimizeHere is evalHere with eight questions, and "ragflow eval optimize --json".
func optimizeHere(t *testing.T, answer llmtest.Behaviour) func(ctx context.Context, args ...string) (code int, r tune.Report, stderr string) {
	t.Helper()
	s := llmtest.NewServer(answer)
	t.Cleanup(s.Close)
	eval := evalHere(t, s)
	var set strings.Builder
	for i := range 8 {
		fmt.Fprintf(&set, `{"id":"%d","question":"What does volume %d keep?","expected_keywords":["data"],"relevant":["volumes.md"]}`+"\n", i, i)
	}
	if err := os.WriteFile("set.jsonl", []byte(set.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, args ...string) (int, tune.Report, string) {
		code, stdout, stderr := eval(ctx, append([]string{"optimize", "--dataset", "set.jsonl", "--json"}, args...)...)
		var r tune.Report
		if err := json.Unmarshal([]byte(stdout), &r); err != nil && code == exitOK {
			t.Fatalf("%v: %s", err, stdout)
		}
		return code, r, stderr
	}
}

// Z14, U02: a change that saves calls of the model and answers as well is recommended, and written with --write only.
func TestOptimizeLatency(t *testing.T) {
	optimize := optimizeHere(t, llmtest.Slow(50*time.Millisecond, llmtest.Say("A volume keeps data outside of the container [Source 1].")))
	args := []string{"--metric", "latency", "--target", "1m", "--try", "RAG_MAX_RESULTS=40", "--try", "LLM_GRADER=off"}
	code, r, stderr := optimize(t.Context(), args...)
	if code != exitOK || !r.Recommended || tune.Text(r.Best) != "LLM_GRADER=off" || r.Low <= 0 || r.Written != "" || r.Reached == nil || !*r.Reached {
		t.Errorf("exit code %d: %+v\n%s", code, r, stderr)
	}
	if code, r, stderr = optimize(t.Context(), append(args, "--write")...); code != exitOK || r.Written == "" {
		t.Fatalf("exit code %d: %+v\n%s", code, r, stderr)
	}
	if text, err := os.ReadFile(r.Written); err != nil || string(text) != "llm_grader: \"off\"\n" {
		t.Errorf("written: %s, %v", text, err)
	}
}

// TestOptimizeAgain checks what an interrupted call for latency says, whose times are not kept.
func TestOptimizeAgain(t *testing.T) {
	m := &measurer{goal: tune.Goal{Metric: tune.Latency}}
	if got := m.rest(); got != "the same command, which begins again, since times are not kept; no setting was written" {
		t.Error(got)
	}
}

// TestOptimizeGoesOn interrupts a call: the next one asks only what was not asked.
func TestOptimizeGoesOn(t *testing.T) {
	var calls, stopAt atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	say := llmtest.Say("A volume keeps data outside of the container [Source 1].")
	optimize := optimizeHere(t, func(w http.ResponseWriter, r *http.Request) {
		if calls.Add(1) == stopAt.Load() {
			stop()
		}
		say(w, r)
	})
	args := []string{"--try", "RAG_MAX_RESULTS=40", "--try", "RAG_MAX_RESULTS=30", "--workers", "1"}
	code, want, stderr := optimize(t.Context(), args...)
	all := calls.Load()
	if code != exitOK || want.Recommended || want.Before != 1 {
		t.Fatalf("exit code %d: %+v\n%s", code, want, stderr)
	}
	calls.Store(0)
	stopAt.Store(all / 2) // within the second run
	if code, _, stderr = optimize(ctx, args...); code != exitInterrupted || !strings.Contains(stderr, "hint: go on with: the same command; 8 of 24 answers are kept, and no setting was written\n") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	calls.Store(0)
	stopAt.Store(-1)
	code, got, stderr := optimize(t.Context(), args...)
	if n := calls.Load(); code != exitOK || n != all*2/3 {
		t.Errorf("exit code %d, %d calls of %d: %s", code, n, all, stderr)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
