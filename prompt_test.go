package ragflow_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/prompts"
)

// TestSystemPromptOfOnesOwn checks that the model is told what a person wrote,
// with the sources in their place and the rules below, and that Prompt shows the
// same (X08, X09).
func TestSystemPromptOfOnesOwn(t *testing.T) {
	const acme = "You are the help desk of ACME."
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: acme, Do: llmtest.Say("A volume keeps it. [Source 1]")},
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85\nREFINED: volumes")},
		llmtest.Entry{When: rewrites, Do: llmtest.Say("Q1: How does a volume keep the data of a container?")},
	))
	defer s.Close()
	a := modelled(t, s, func(c *ragflow.Config) { c.Settings.System = acme + "\n\n{context}\n" })
	r := ask(t, a, "", question)
	if r.Model != "smart" || !strings.Contains(r.Answer, "A volume keeps it.") || len(r.Citations) == 0 {
		t.Fatalf("answer %q by %s, citations %v, warnings %v", r.Answer, r.Model, r.Citations, r.Warnings)
	}
	again, err := a.Reply(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	p := again.Prompt
	for _, want := range []string{acme, "[Source 1] Volumes", "Create one with docker volume create.", "put [Source N] behind", prompts.Say(prompts.Refusal, "en")} {
		if !strings.Contains(p.SystemPrompt, want) {
			t.Errorf("the system prompt lacks %q:\n%s", want, p.SystemPrompt)
		}
	}
	if want := "Question: " + question; p.UserMessage != want {
		t.Errorf("user message %q, want %q", p.UserMessage, want)
	}
	if len(p.Sources) != r.Chunks.Context || p.Sources[0].Source != "volumes.md" || p.AssembledContext != r.Context || p.ContextTokenCount != r.Chunks.ContextTokens {
		t.Errorf("sources %+v, context %q of %d tokens", p.Sources, p.AssembledContext, p.ContextTokenCount)
	}
}

// TestPromptWithoutAModel checks that a prompt can be taken elsewhere, also that
// of a follow-up.
func TestPromptWithoutAModel(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{"volumes.md": volumePage})})
	first := ask(t, a, "", question)
	second := ask(t, a, first.ThreadID, "and how do I back it up?")
	again, err := a.Reply(t.Context(), second.RunID)
	if err != nil {
		t.Fatal(err)
	}
	p := again.Prompt
	if !strings.HasPrefix(p.SystemPrompt, "You answer questions") || !strings.Contains(p.UserMessage, "\n\nQuestion: and how do I back it up?\n") {
		t.Errorf("system prompt\n%s\nuser message\n%s", p.SystemPrompt, p.UserMessage)
	}
	if !strings.Contains(p.UserMessage, "an archive with tar") {
		t.Errorf("no sources in %s", p.UserMessage)
	}
}

func TestSystemPromptWithoutContext(t *testing.T) {
	_, err := ragflow.Open(t.Context(), ragflow.Config{Settings: ragflow.Settings{System: "You are the help desk of ACME."}})
	if !errors.Is(err, prompts.ErrSystem) {
		t.Errorf("got %v, want what is missing in it", err)
	}
}
