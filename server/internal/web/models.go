package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/llm"
)

type modelsPage struct {
	Usual    string // "" without one
	Named    []string
	Tasks    map[string]string // models of single tasks
	Embedder string
	Reranker bool
	Tried    *trial
	Machine  [][3]string // provider, status, and its models or what to do
}

// trial is what came of asking a model.
type trial struct {
	Model string
	Text  string
	Took  time.Duration
	First time.Duration
	Fault string
}

// models shows the models that there are. A form tries one of them.
func (s *site) models(w http.ResponseWriter, r *http.Request) {
	m := s.a.Config().Models
	p := modelsPage{Named: slices.Sorted(maps.Keys(m.Named)), Tasks: map[string]string{}, Reranker: m.Reranker != nil}
	if m.Chat != nil {
		p.Usual = m.Chat.Model()
	}
	if m.Embedder != nil {
		p.Embedder = m.Embedder.Model()
	}
	for task, t := range m.Tasks {
		if t.Chat != nil {
			p.Tasks[task] = t.Model()
		}
	}
	if s.machine != nil {
		p.Machine = s.machine(r.Context())
	}
	if r.Method == http.MethodPost {
		chat, ok := m.Named[r.FormValue("model")]
		if r.FormValue("model") == p.Usual {
			chat, ok = m.Chat, m.Chat != nil
		}
		if !ok {
			s.fault(w, r, ragflow.ErrNoSuchModel)
			return
		}
		p.Tried = try(r, chat)
	}
	s.show(w, r, http.StatusOK, "models", p)
}

// trialTime is how long a model may take for a few words.
const trialTime = time.Minute

func try(r *http.Request, chat llm.Chat) *trial {
	ctx, cancel := context.WithTimeout(r.Context(), trialTime)
	defer cancel()
	begun, out := time.Now(), &trial{Model: chat.Model()}
	answer, err := chat.Complete(ctx, llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "Say hello in five words."}}, MaxTokens: 60,
	}, func(string) {
		if out.First == 0 {
			out.First = time.Since(begun)
		}
	})
	if out.Took = time.Since(begun); err != nil {
		out.Fault = err.Error()
	}
	out.Text = cut(answer.Text, 300)
	return out
}
