package kills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/agent"
	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/state"
)

// agentFolder is the environment variable that makes the test binary run an agent in the named folder.
const agentFolder = "KILLS_TEST_AGENT"

// agentThread is the thread of the agent.
const agentThread = "sums"

// spoken is the last output of a process of the agent.
type spoken struct {
	Question string   `json:"question"` // ID of the call that waits for a person
	Reply    string   `json:"reply"`
	Results  []string `json:"results"` // of tools, in order
}

type sum struct {
	A         float64 `json:"a"`
	B         float64 `json:"b"`
	Operation string  `json:"operation" jsonschema:"add, subtract, multiply or divide"`
}

// agentTools are a search, a clock, and a calculator that needs approval. The calculator records its deeds in
// a file; if the file shoot exists, its process dies after a deed.
func agentTools(dir string) []agent.Tool {
	pages := []string{"The workshop opens at nine.", "A kiln holds 23 plates.", "Glaze dries in two days."}
	search := agent.Func("search", "Searches the pages of a workshop.", func(_ context.Context, in struct {
		Query string `json:"query"`
	},
	) (string, error) {
		found := slices.DeleteFunc(slices.Clone(pages), func(p string) bool {
			return !slices.ContainsFunc(strings.Fields(strings.ToLower(in.Query)), func(w string) bool { return strings.Contains(strings.ToLower(p), w) })
		})
		return strings.Join(found, "\n"), nil
	})
	clock := agent.Func("clock", "Tells the time.", func(context.Context, struct{}) (string, error) { return "It is nine.", nil })
	calculate := agent.Func("calculate", "Calculates with two numbers.", func(ctx context.Context, in sum) (float64, error) {
		f, err := os.OpenFile(filepath.Join(dir, "deeds"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return 0, err
		}
		_, err = fmt.Fprintf(f, "%s %v %s %v\n", agent.IdempotencyKey(ctx), in.A, in.Operation, in.B)
		if err := errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
		if os.Remove(filepath.Join(dir, "shoot")) == nil {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				return 0, err
			}
			select {} // until it is killed
		}
		switch in.Operation {
		case "add":
			return in.A + in.B, nil
		case "subtract":
			return in.A - in.B, nil
		case "divide":
			return in.A / in.B, nil
		}
		return in.A * in.B, nil
	})
	calculate.Approve = agent.Always
	return []agent.Tool{search, clock, calculate}
}

// runAgent begins or resumes the agent in a folder and prints the outcome.
func runAgent(ctx context.Context, dir string) error {
	client, err := openai.New(openai.Config{BaseURL: os.Getenv("RAGFLOW_TEST_BASE_URL")})
	if err != nil {
		return err
	}
	plan, err := agent.Compile(agent.Agent{
		Chat: llm.Retry(client.Chat(os.Getenv("RAGFLOW_TEST_CHAT_MODEL")), llm.RetryOptions{}), MaxTokens: 100, Tools: agentTools(dir),
		System: "You answer with tools. Calculate only with the tool calculate.", Limits: agent.Limits{Steps: 4},
	})
	if err != nil {
		return err
	}
	s, err := checkpoint.Open(ctx, filepath.Join(dir, "threads.db"), checkpoint.Options{})
	if err != nil {
		return err
	}
	r := plan.Runner(graph.Options{Store: s})
	req := graph.Request[agent.Update]{Thread: agentThread, Input: agent.Say("Use the tool calculate to multiply 17 and 23. What is the result?")}
	if _, err := s.Head(ctx, agentThread); err == nil {
		req = graph.Request[agent.Update]{Thread: agentThread, Resume: true}
		if id := os.Getenv("KILLS_TEST_APPROVED"); id != "" {
			req.Answers = map[string]any{id: agent.Decision{Verdict: "approve"}}
		}
	}
	var out spoken
	got, err := r.Invoke(ctx, req)
	if waits, asks := errors.AsType[*graph.InterruptError](err); asks {
		out.Question, err = waits.Questions[0].ID(), nil
	}
	out.Reply = got.Reply()
	for _, m := range got.Messages {
		if m.Role == state.Tool {
			out.Results = append(out.Results, m.Content)
		}
	}
	return errors.Join(err, s.Close(), json.NewEncoder(os.Stdout).Encode(out))
}

// TestIntegrationAgent checks that an agent with a real model waits for the approval of a call, and that
// after a kill in the middle of the call another process ends it.
func TestIntegrationAgent(t *testing.T) {
	if os.Getenv("RAGFLOW_TEST_CHAT_MODEL") == "" {
		t.Skip("no models run here; scripts/models starts some")
	}
	dir := t.TempDir()
	process := func(approved string) (out spoken, err error) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), agentFolder+"="+dir, "KILLS_TEST_APPROVED="+approved)
		cmd.Stderr = os.Stderr
		said, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(said, &out)
		}
		return out, err
	}
	first, err := process("")
	if err != nil || first.Question == "" {
		t.Fatalf("got %+v, %v, want a call that waits for a person", first, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shoot"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := process(first.Question); err == nil {
		t.Fatalf("it lived: %+v", out)
	}
	last, err := process("")
	for err == nil && last.Question != "" { // a small model may calculate again
		last, err = process(last.Question)
	}
	if err != nil || last.Reply == "" || len(last.Results) == 0 || last.Results[0] != "391" {
		t.Errorf("got %+v, %v", last, err)
	}
	t.Logf("%d results, reply %q", len(last.Results), last.Reply)
	deeds, err := os.ReadFile(filepath.Join(dir, "deeds"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(deeds)), "\n")
	if len(lines) < 2 || lines[0] != lines[1] || lines[0][0] == ' ' {
		t.Errorf("deeds %q, want the first one again with its key", lines)
	}
	s, err := checkpoint.Open(t.Context(), filepath.Join(dir, "threads.db"), checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("verify: %v, %v", found, err)
	}
}
