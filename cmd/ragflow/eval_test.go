package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
)

// evalHere writes a folder of documents and a dataset of three questions, and
// returns what runs "ragflow eval" over them, with a model at the server.
func evalHere(t *testing.T, s *llmtest.Server) func(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"docs/volumes.md": "# Volumes\n\nA volume keeps data outside of the container.\n",
		"set.jsonl": `{"id":"1","question":"What does a volume keep?","expected_answer":"Data.","relevant":["volumes.md"]}
{"id":"2","question":"Where does a volume keep data?","expected_answer":"Outside of the container."}
{"id":"3","question":"Who won the election?","kind":"no-answer"}
`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(ctx context.Context, args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		args = append([]string{"eval", "--docs", "docs"}, args...)
		code := run(ctx, args, strings.NewReader(""), &out, &errs, []string{
			"XDG_DATA_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "OPENAI_BASE_URL=" + s.URL(), "SMART_LLM_MODEL=m", "LLM_PRICES=" + os.Getenv("LLM_PRICES"),
		})
		return code, out.String(), errs.String()
	}
}

// E02: without --llm-judge no judge is asked; offline, nobody at all. With it,
// the judge is asked once an answer.
func TestEvalAsksModelsOnlyWhenTold(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("CORRECTNESS: 8\nRELEVANCE: 8\nCOMPLETENESS: 8\nCOHERENCE: 8"))
	t.Cleanup(s.Close)
	eval := evalHere(t, s)
	if code, _, stderr := eval(t.Context(), "--dataset", "set.jsonl", "--offline"); code != exitOK || len(s.Calls()) != 0 {
		t.Fatalf("exit code %d, %d calls: %s", code, len(s.Calls()), stderr)
	}
	code, stdout, stderr := eval(t.Context(), "--dataset", "set.jsonl", "--offline", "--llm-judge")
	if code != exitUsage || len(s.Calls()) != 0 || !strings.Contains(stderr, "--judge-model") {
		t.Fatalf("offline with no judge named: exit code %d, %d calls: %s%s", code, len(s.Calls()), stdout, stderr)
	}
	code, stdout, stderr = eval(t.Context(), "--dataset", "set.jsonl", "--offline", "--llm-judge", "--judge-model", "strict")
	if got, want := len(s.Calls()), 2; code != exitOK || got != want {
		t.Fatalf("exit code %d, %d calls, want %d: %s", code, got, want, stderr)
	}
	for _, want := range []string{"answered by offline, judged by strict", "qa_correctness ", "judge    2 answers, 0 without a score"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// N02: limits of cost and time are gates. A model without a known price fails the gate of the cost, by name.
func TestEvalLimits(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("It keeps data outside of the container [Source 1]."))
	t.Cleanup(s.Close)
	eval := evalHere(t, s)
	for _, tt := range []struct {
		name, gates, prices string
		code                int
		want                string
	}{
		{"unknown price", "cost=1", "", exitFailure, "there is no price of m: set it with LLM_PRICES"},
		{"cheap enough", "cost=1,p95=10m", "m=1/1", exitOK, ""},
		{"too dear", "cost=0.0001", "m=1000000/1000000", exitFailure, "US dollars a question, above 0.0001"},
		{"too slow", "p50=1us", "", exitFailure, "p50 is "},
		{"no time", "p95=2", "", exitUsage, "p95=2s"},
		{"no amount", "cost=-1", "", exitUsage, "cost=0.05"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("LLM_PRICES", tt.prices)
			code, stdout, stderr := eval(t.Context(), "--dataset", "set.jsonl", "--fail-under", tt.gates)
			if code != tt.code || !strings.Contains(stderr, tt.want) {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
			if tt.name == "unknown price" && !strings.Contains(stdout, "without that of m: set its price") {
				t.Errorf("not told:\n%s", stdout)
			}
		})
	}
}
