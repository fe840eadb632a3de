package model_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// formless chats if lines are requested, as small models do, and answers a
// request with a schema by held or refusal.
type formless struct {
	held    string
	refusal error
	asked   []*llm.Schema
}

func (*formless) Model() string { return "tiny" }

func (f *formless) Complete(_ context.Context, q llm.Request, _ func(string)) (llm.Response, error) {
	f.asked = append(f.asked, q.Schema)
	if q.Schema == nil {
		return llm.Response{Text: "Sure! Here is what I think about it.", Finish: llm.FinishStop}, nil
	}
	return llm.Response{Text: f.held, Finish: llm.FinishStop}, f.refusal
}

func TestFormIsAskedForOnceMore(t *testing.T) {
	queries := []state.Query{{Text: "How do I back up a volume?", Weight: 1}}
	chat := &formless{held: `{"score": 0.3, "refined": "volume tar"}`}
	g, err := model.NewGrader(chat).Grade(t.Context(), queries, []state.Source{{Chunk: state.Chunk{Title: "Volumes", Text: page}}})
	if err != nil || g.Score != 0.3 || g.Refined == nil || g.Refined.Text != "volume tar" || g.By != "tiny" {
		t.Errorf("got %+v, %v", g, err)
	}
	if len(chat.asked) != 2 || chat.asked[0] != nil || chat.asked[1].Name != "verdict" {
		t.Errorf("asked %v", chat.asked)
	}

	chat = &formless{held: `{"q1":"How do I back up a volume?","q2":"volume tar"}`}
	plan, err := model.NewRewriter(chat, planned{Language: "en", Route: state.RouteSearch, Queries: []state.Query{{Text: "and back it up?"}}}, vocabulary(page)).
		Rewrite(t.Context(), "and back it up?", state.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, q := range plan.Queries {
		got = append(got, q.Text)
	}
	if diff := cmp.Diff([]string{"and back it up?", "How do I back up a volume?", "volume tar"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFormThatStaysMissing(t *testing.T) {
	queries := []state.Query{{Text: "How do I back up a volume?", Weight: 1}}
	for _, tt := range []struct {
		name string
		chat *formless
	}{
		{"refused", &formless{refusal: &llm.Error{Provider: "played", Kind: llm.ErrRefused}}},
		{"cut off", &formless{held: `{"refined": "volume`}},
		{"out of range", &formless{held: `{"score": 7, "refined": ""}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := model.NewGrader(tt.chat).Grade(t.Context(), queries, []state.Source{{Chunk: state.Chunk{Text: page}}})
			if _, ok := errors.AsType[*prompts.ParseError](err); !ok || len(tt.chat.asked) != 2 {
				t.Errorf("got %v after %d calls, want a *prompts.ParseError after 2", err, len(tt.chat.asked))
			}
		})
	}
}

func TestFaultsAreNotAskedTwice(t *testing.T) {
	chat := &replying{err: &llm.Error{Provider: "played", Kind: llm.ErrRateLimited}}
	_, err := model.NewGrader(chat).Grade(t.Context(), []state.Query{{Text: "What?", Weight: 1}}, []state.Source{{Chunk: state.Chunk{Text: page}}})
	if !errors.Is(err, llm.ErrRateLimited) || len(chat.asked) != 1 {
		t.Errorf("got %v after %d calls", err, len(chat.asked))
	}
}

// silent says nothing unless it is held to a form.
type silent struct{ formless }

func (s *silent) Complete(ctx context.Context, q llm.Request, token func(string)) (llm.Response, error) {
	r, err := s.formless.Complete(ctx, q, token)
	if q.Schema == nil {
		return llm.Response{}, &llm.Error{Provider: "played", Kind: llm.ErrBadResponse, Empty: true}
	}
	return r, err
}

func TestSilenceIsAFormMissed(t *testing.T) {
	chat := &silent{formless{held: `{"score": 0.7, "refined": "volume tar"}`}}
	g, err := model.NewGrader(chat).Grade(t.Context(), []state.Query{{Text: "What?", Weight: 1}}, []state.Source{{Chunk: state.Chunk{Text: page}}})
	if err != nil || g.Score != 0.7 {
		t.Errorf("got %+v, %v", g, err)
	}
}

func TestInstructionsAreNoQueries(t *testing.T) {
	system := prompts.PreRetrieval{Question: "What?", Boundary: "==="}.Render("en").System
	echo := strings.Join(strings.Fields(system)[:4], " ")
	chat := &formless{held: `{"q1":"` + echo + `","q2":"volume tar"}`}
	plan, err := model.NewRewriter(chat, planned{Language: "en", Route: state.RouteSearch, Queries: []state.Query{{Text: "What?"}}}, vocabulary(page+system)).
		Rewrite(t.Context(), "What?", state.Memory{})
	if err != nil || len(plan.Queries) != 2 || plan.Queries[1].Text != "volume tar" {
		t.Errorf("got %+v, %v", plan.Queries, err)
	}
}
