package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
)

func TestRefusedParametersAreLeftOut(t *testing.T) {
	refuse := llmtest.RefuseParameter
	s := llmtest.NewServer(refuse("max_tokens", refuse("temperature", refuse("stop", llmtest.Say("fine")))))
	defer s.Close()
	chat := client(t, s, nil).Chat("small")
	for range 2 {
		got, err := chat.Complete(t.Context(), llmtest.FullQuestion(), nil)
		if err != nil || got.Text != "fine" {
			t.Fatalf("got %q, %v", got.Text, err)
		}
	}
	calls := s.Calls()
	if len(calls) != 5 { // three refusals, then one call each
		t.Fatalf("%d calls, want 5", len(calls))
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(calls[4].Body), &body); err != nil {
		t.Fatal(err)
	}
	if body["max_completion_tokens"] != 50.0 || body["top_p"] != 0.9 || body["temperature"] != nil || body["stop"] != nil || body["max_tokens"] != nil {
		t.Errorf("asked %v", body)
	}
}

func TestRefusedMessageIsNotRepeated(t *testing.T) {
	s := llmtest.NewServer(llmtest.Status(400, "the prompt is not allowed"))
	defer s.Close()
	_, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.FullQuestion(), nil)
	if !errors.Is(err, llm.ErrRefused) || len(s.Calls()) != 1 {
		t.Errorf("got %v after %d calls", err, len(s.Calls()))
	}
}

func TestThoughtsAreNotShown(t *testing.T) {
	for name, tt := range map[string]struct{ reply, want string }{
		"thought":        {"<think>\nIs it a volume? I think so.\n</think>\n\nA volume keeps data.", "A volume keeps data."},
		"empty thought":  {"<think>\n\n</think>\n\nA volume.", "A volume."},
		"none":           {"A volume keeps <think> data.", "A volume keeps <think> data."},
		"another tag":    {"<b>A volume</b>", "<b>A volume</b>"},
		"leading spaces": {"  A volume", "  A volume"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.Say(tt.reply))
			defer s.Close()
			var said strings.Builder
			got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), func(s string) { said.WriteString(s) })
			if err != nil || got.Text != tt.want || said.String() != tt.want {
				t.Errorf("got %q, streamed %q, %v", got.Text, said.String(), err)
			}
		})
	}
}

func TestLimitLeavesRoomForThoughts(t *testing.T) {
	s := llmtest.NewServer(llmtest.SayUntil("<think>This takes long"), llmtest.Say("<think>ok</think>fine"))
	defer s.Close()
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if err != nil || got.Text != "fine" || len(s.Calls()) != 2 {
		t.Fatalf("got %q, %v after %d calls", got.Text, err, len(s.Calls()))
	}
	if body := s.Calls()[1].Body; !strings.Contains(body, `"max_tokens":8242`) {
		t.Errorf("asked %s", body)
	}
}

func TestAnswerThatIsNotStreamed(t *testing.T) {
	s := llmtest.NewServer(llmtest.Whole("A volume keeps data."))
	defer s.Close()
	var said strings.Builder
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), func(s string) { said.WriteString(s) })
	if err != nil || got.Text != "A volume keeps data." || said.String() != got.Text || got.Usage.Output != llmtest.OutputTokens || got.Finish != llm.FinishStop {
		t.Errorf("got %+v, streamed %q, %v", got, said.String(), err)
	}
}

func TestAnswerOverItsLimitIsCutOff(t *testing.T) {
	s := llmtest.NewServer(llmtest.Huge())
	defer s.Close()
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if err != nil || got.Finish != llm.FinishLength || len(got.Text) != 50*16 {
		t.Errorf("got %d bytes, finish %q, %v", len(got.Text), got.Finish, err)
	}
	unlimited := llmtest.Question()
	unlimited.MaxTokens = 0
	_, err = client(t, s, nil).Chat("small").Complete(t.Context(), unlimited, nil)
	if !errors.Is(err, llm.ErrBadResponse) || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("without a limit: %v", err)
	}
}

func TestUnknownModelNamesThoseThereAre(t *testing.T) {
	s := llmtest.NewServer(llmtest.Status(404, "no such model"), llmtest.Models("qwen3", "llama3"))
	defer s.Close()
	_, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if !errors.Is(err, llm.ErrModelNotFound) || err.Error() != `Provider played does not know the model "small": it has qwen3, llama3` {
		t.Errorf("got %v", err)
	}
}
