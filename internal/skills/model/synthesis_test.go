package model_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// answering gives an answer for each request, and may be asked side by side.
type answering struct {
	reply func(llm.Request) string

	mu       sync.Mutex
	asked    []llm.Request
	streamed int
}

func (*answering) Model() string { return "small" }

func (a *answering) Complete(_ context.Context, q llm.Request, token func(string)) (llm.Response, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, q)
	said := a.reply(q)
	if token != nil {
		a.streamed++
		token(said)
	}
	return llm.Response{Text: said, Finish: llm.FinishStop}, nil
}

func user(q llm.Request) string { return q.Messages[len(q.Messages)-1].Content }

func many(n int) []state.Source {
	out := make([]state.Source, n)
	for i := range out {
		text := fmt.Sprintf("Fact %d about volumes.", i+1)
		out[i] = state.Source{Chunk: state.Chunk{ID: strconv.Itoa(i), Source: fmt.Sprintf("%d.md", i), Title: "Volumes", Text: text, End: len(text)}}
	}
	return out
}

func TestSynthesis(t *testing.T) { // Y01 to Y04
	for _, tt := range []struct {
		synthesis        string
		sources, calls   int
		refined, combine int // how many of the calls
	}{
		{model.Compact, 6, 1, 0, 0},
		{model.Refine, 6, 6, 5, 0},
		{model.Refine, 1, 1, 0, 0},
		{model.TreeSummarize, 4, 1, 0, 0},
		{model.TreeSummarize, 6, 2 + 1, 0, 1},
		{model.TreeSummarize, 16, 4 + 1, 0, 1},
		{model.TreeSummarize, 17, 5 + 2 + 1, 0, 3},
	} {
		t.Run(fmt.Sprint(tt.synthesis, " ", tt.sources), func(t *testing.T) {
			chat := &answering{reply: func(q llm.Request) string {
				i := strings.Index(user(q), "[Source ")
				return "A fact. " + user(q)[i:i+strings.Index(user(q)[i:], "]")+1]
			}}
			a := model.NewAnswerer(chat, prompts.Set{}, model.Options{Synthesis: tt.synthesis})
			task := state.Task{Question: "What is a volume?", Language: "en", Sources: many(tt.sources)}
			answer, err := a.AnswerStream(t.Context(), task, func(string) {})
			if err != nil || answer.Abstained || !strings.HasPrefix(answer.Text, "A fact. [Source ") {
				t.Fatalf("got %+v, %v", answer, err)
			}
			refined, combined := 0, 0
			for _, q := range chat.asked {
				if strings.Contains(user(q), "Refined Answer (improve if new context adds value, otherwise keep current answer)") {
					refined++
				}
				if strings.Contains(user(q), "Partial answers:") {
					combined++
				}
				if q.Temperature != 0.3 {
					t.Errorf("temperature %v", q.Temperature)
				}
			}
			if len(chat.asked) != tt.calls || refined != tt.refined || combined != tt.combine {
				t.Errorf("%d calls, %d refined, %d combined", len(chat.asked), refined, combined)
			}
			if chat.streamed != 1 {
				t.Errorf("%d calls were streamed, want the last one", chat.streamed)
			}
		})
	}
}

// TestSynthesisRefusals checks that sources without an answer do not spoil that of others.
func TestSynthesisRefusals(t *testing.T) {
	refusal := prompts.Say(prompts.Refusal, "en")
	for _, synthesis := range []string{model.Refine, model.TreeSummarize} {
		for _, holds := range []string{"Fact 5 ", "no fact"} {
			chat := &answering{reply: func(q llm.Request) string {
				if strings.Contains(user(q), holds) || strings.Contains(user(q), "Current answer") {
					return "It is a place. [Source 5]"
				}
				return refusal
			}}
			a := model.NewAnswerer(chat, prompts.Set{}, model.Options{Synthesis: synthesis})
			answer, err := a.Answer(t.Context(), state.Task{Question: "What is a volume?", Language: "en", Sources: many(6)})
			if err != nil || answer.Abstained != (holds == "no fact") {
				t.Errorf("%s, %s: got %+v, %v", synthesis, holds, answer, err)
			}
		}
	}
}

func TestDecomposition(t *testing.T) { // Q11
	chat := &answering{reply: func(q llm.Request) string {
		switch {
		case strings.Contains(user(q), "Partial answers:"):
			return "Ann, who was born in Oslo. [Source 1] [Source 2]"
		case strings.Contains(user(q), "Where was that person born?"):
			return "In Oslo. [Source 2]"
		}
		return "Ann. [Source 1]"
	}}
	a := model.NewAnswerer(chat, prompts.Set{}, model.Options{})
	answer, err := a.Answer(t.Context(), state.Task{
		Question: "Where was the author born?", Language: "en", Sources: many(2),
		Queries: []state.Query{{Text: "Where was the author born?"}, {Text: "Who is the author?", Part: 1}, {Text: "Where was that person born?", Part: 2, After: 1}},
	})
	if err != nil || answer.Text != "Ann, who was born in Oslo. [Source 1] [Source 2]" {
		t.Fatalf("got %+v, %v", answer, err)
	}
	if len(chat.asked) != 3 || strings.Contains(user(chat.asked[0]), "Context:") || !strings.Contains(user(chat.asked[1]), "Context: Ann. ") {
		t.Errorf("asked %v", chat.asked)
	}
}

// TestSynthesisPanic checks that a client that panics does not end the process.
func TestSynthesisPanic(t *testing.T) {
	chat := &answering{reply: func(llm.Request) string { panic("broken client") }}
	a := model.NewAnswerer(chat, prompts.Set{}, model.Options{Synthesis: model.TreeSummarize})
	if _, err := a.Answer(t.Context(), state.Task{Question: "What?", Language: "en", Sources: many(6)}); err == nil || !strings.Contains(err.Error(), "broken client") {
		t.Errorf("got %v", err)
	}
}

func TestTransforms(t *testing.T) {
	first := planned{Language: "en", Route: state.RouteSearch, Queries: []state.Query{{Text: "How do I back it up?", Weight: 1}}}
	chat := &answering{reply: func(q llm.Request) string {
		switch system := q.Messages[0].Content; {
		case strings.Contains(system, "other ways to ask"):
			return `["back up a volume", "save a volume", "archive a volume"]`
		case strings.Contains(system, "short passage"):
			return "To back up a volume, run tar."
		}
		return `[{"question":"What is it?","dependency":null},{"question":"How is that backed up?","dependency":0}]`
	}}
	plan, failed, err := model.NewTransformer(chat, first, model.Transforms()).Plan(t.Context(), "How do I back it up?", state.Memory{})
	if err != nil || failed != nil {
		t.Fatal(failed, err)
	}
	want := []state.Query{
		{Text: "How do I back it up?", Weight: 1, Passage: "To back up a volume, run tar."},
		{Text: "back up a volume", Weight: 0.5, Why: "another way to ask it", Attempt: 1},
		{Text: "save a volume", Weight: 0.5, Why: "another way to ask it", Attempt: 1},
		{Text: "archive a volume", Weight: 0.5, Why: "another way to ask it", Attempt: 1},
		{Text: "What is it?", Weight: 1, Why: "part 1 of the question", Attempt: 1, Part: 1},
		{Text: "How is that backed up?", Weight: 1, Why: "part 2 of the question", Attempt: 1, Part: 2, After: 1},
	}
	if diff := cmp.Diff(want, plan.Queries); diff != "" || plan.Added != 5 {
		t.Errorf("added %d\n%s", plan.Added, diff)
	}
	var temperatures []float64
	for _, q := range chat.asked {
		temperatures = append(temperatures, q.Temperature)
	}
	if diff := cmp.Diff([]float64{0.7, 0.3, 0}, temperatures); diff != "" || chat.asked[1].MaxTokens != 500 {
		t.Error(diff, chat.asked[1].MaxTokens)
	}

	chat.reply = func(llm.Request) string { return "I would rather not." }
	plan, failed, err = model.NewTransformer(chat, first, []string{model.MultiQuery, model.Decompose}).Plan(t.Context(), "How do I back it up?", state.Memory{})
	if err != nil || failed == nil || !strings.Contains(failed.Error(), "multi_query") || len(plan.Queries) != 1 {
		t.Errorf("got %+v, %v, %v", plan, failed, err)
	}
}

func TestRerankByModel(t *testing.T) { // K03
	chat := &replying{text: "[1, 9]", finish: llm.FinishStop}
	scores, err := model.NewReranker(chat).Rerank(t.Context(), "What is a volume?", []string{strings.Repeat("x", 600), "A volume keeps data."})
	if err != nil || !cmp.Equal(scores.Values, []float64{0.1, 0.9}) {
		t.Fatalf("got %v, %v", scores, err)
	}
	if said := user(chat.asked[0]); !strings.Contains(said, strings.Repeat("x", 500)) || strings.Contains(said, strings.Repeat("x", 501)) || chat.asked[0].Temperature != 0 {
		t.Errorf("asked %q", said)
	}
	chat.text = "[1]"
	if _, err := model.NewReranker(chat).Rerank(t.Context(), "What?", []string{"a", "b"}); err == nil {
		t.Error("one score for two passages is accepted")
	}
}

// TestNoRefusals mentions no refusal to the model when it writes in one call.
func TestNoRefusals(t *testing.T) {
	refusal := prompts.Say(prompts.Refusal, "en")
	for _, tt := range []struct {
		options model.Options
		want    bool // the refusal is in the rules
	}{
		{model.Options{}, true},
		{model.Options{NoRefusals: true}, false},
		{model.Options{NoRefusals: true, Synthesis: model.Refine}, true}, // it leaves out sources by their refusals
	} {
		chat := &answering{reply: func(llm.Request) string { return "It keeps data. [Source 1]" }}
		_, err := model.NewAnswerer(chat, prompts.Set{}, tt.options).Answer(t.Context(), state.Task{Question: "What?", Language: "en", Sources: many(1)})
		if got := strings.Contains(chat.asked[0].Messages[0].Content+user(chat.asked[0]), refusal); err != nil || got != tt.want {
			t.Errorf("%+v: refusal in the prompt %v, %v", tt.options, got, err)
		}
	}
}
