package ragflow_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// realModels returns the models that scripts/models started; the test skips
// if none run.
func realModels(t *testing.T) (llm.Chat, llm.Embedder) {
	t.Helper()
	address, name := os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if address == "" || name == "" {
		t.Skip("no models run here; scripts/models starts some")
	}
	c, err := openai.New(openai.Config{BaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return llm.Retry(brief{c.Chat(name)}, llm.RetryOptions{}), embeddingServer(t)
}

// brief keeps a small model from rambling on: on a busy machine it writes two
// words a second.
type brief struct{ llm.Chat }

func (b brief) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	if r.Schema == nil { // what it is held to ends by itself
		r.MaxTokens = min(r.MaxTokens, 48)
	}
	return b.Chat.Complete(ctx, r, token)
}

// TestIntegrationConversation holds a conversation with real models. A small
// model is weak, so this looks at what must hold whatever it says: calls with
// tokens and times, whole answers, valid citations, a thread that is kept and
// summarised.
func TestIntegrationConversation(t *testing.T) {
	chat, embedder := realModels(t)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "volumes.md"), []byte(volumePage), 0o600); err != nil {
		t.Fatal(err)
	}
	pieces := 0
	a, err := ragflow.Open(t.Context(), ragflow.Config{
		DataDir: t.TempDir(), Docs: []string{docs}, Models: ragflow.Models{Chat: chat, Embedder: embedder},
		Settings: ragflow.Settings{SummaryTokens: 60}, // so that the second turn passes it
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	thread := ""
	for i, q := range []string{"How do I create a volume for the data of a container?", "and how do I back it up with tar?", "Which command creates a volume?"} {
		pieces = 0
		r := streamed(t, a, ragflow.Question{Text: q, Thread: thread, Trace: true}, func(e ragflow.Event) { pieces += len(e.Text) })
		t.Logf("%s\n→ %s (%s, %d calls, %d+%d tokens, %.1f s)", q, r.Answer, r.Model, r.Usage.Calls, r.Usage.InputTokens, r.Usage.OutputTokens, r.LatencyMS["total"]/1000)
		thread = r.ThreadID
		if strings.TrimSpace(r.Answer) == "" || r.Usage.Calls < 2 || r.Usage.InputTokens == 0 || r.Usage.OutputTokens == 0 {
			t.Errorf("turn %d: answer %q, usage %+v", i+1, r.Answer, r.Usage)
		}
		if r.Model == chat.Model() && pieces == 0 {
			t.Errorf("turn %d: the answer was not streamed", i+1)
		}
		checkCitations(t, docs, r)
		if !madeBy(r.FlowTraceMD, "check_and_refine", chat.Model()) { // it is held to the form
			t.Errorf("turn %d: check_and_refine fell back from the model:\n%s", i+1, r.FlowTraceMD)
		}
		if i == 1 && !madeBy(r.FlowTraceMD, "pre_retrieval", chat.Model()) { // only a follow-up is rewritten
			t.Errorf("turn %d: pre_retrieval fell back from the model:\n%s", i+1, r.FlowTraceMD)
		}
		for _, want := range []string{"| " + chat.Model() + " |", "| " + embedder.Model() + " |", "first_token_ms", "input_tokens", "output_tokens"} {
			if !strings.Contains(r.FlowTraceMD, want) {
				t.Errorf("turn %d: flow_trace.md does not hold %q", i+1, want)
			}
		}
	}
	got, err := a.Threads().Thread(t.Context(), thread)
	if err != nil || got.Turns != 3 || len(got.Messages) != 6 || got.Summary == "" {
		t.Errorf("the thread holds %d turns, %d messages and the summary %q, %v", got.Turns, len(got.Messages), got.Summary, err)
	}
}

// madeBy reports whether the section of a node in a trace names who did its work.
func madeBy(trace, node, name string) bool {
	_, section, _ := strings.Cut(trace, ". "+node+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.Contains(section, "\n- by: "+name+"\n")
}

// checkCitations compares what is quoted with the files.
func checkCitations(t *testing.T, docs string, r *ragflow.Reply) {
	t.Helper()
	for _, c := range r.Citations {
		file, err := os.ReadFile(filepath.Join(docs, c.Source))
		if err != nil || c.Start < 0 || c.End > len(file) || string(file[c.Start:c.End]) != c.Quote {
			t.Errorf("citation %+v does not stand in its file: %v", c, err)
		}
	}
}

// TestIntegrationOffline asks the same beside real models, without them.
func TestIntegrationOffline(t *testing.T) {
	realModels(t)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "volumes.md"), []byte(volumePage), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	r, err := a.Ask(t.Context(), ragflow.Question{Text: "How do I create a volume?"})
	if err != nil || r.Model != "offline" || r.Usage != (ragflow.Usage{}) || !strings.Contains(r.Answer, "docker volume create") {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestIntegrationHealth(t *testing.T) { // L09
	realModels(t)
	client, err := openai.New(openai.Config{BaseURL: os.Getenv("RAGFLOW_TEST_BASE_URL")})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdle()
	names, err := client.Models(t.Context())
	if err != nil || len(names) == 0 {
		t.Errorf("models %q, %v", names, err)
	}
}
