package web

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

type modelsPage struct {
	Usual    string // "" without one
	Named    []string
	Tasks    map[string]string // models of single tasks
	Embedder string
	Tried    *trial
	Machine  [][3]string // provider, status, and its models or what to do
}

// trial is what came of asking a model.
type trial struct {
	Model string
	Text  string
	Took  time.Duration
	First time.Duration
	Fault fault
}

// models shows the models that there are. A form tries one of them.
func (s *site) models(r *http.Request) (answer, error) {
	m := s.a.Config().Models
	p := modelsPage{Named: slices.Sorted(maps.Keys(m.Named)), Tasks: map[string]string{}}
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
	if s.Machine != nil {
		p.Machine = s.Machine(r.Context())
	}
	if r.Method == http.MethodPost {
		chat, ok := m.Named[r.FormValue("model")]
		if r.FormValue("model") == p.Usual {
			chat, ok = m.Chat, m.Chat != nil
		}
		if !ok {
			return answer{}, ragflow.ErrNoSuchModel
		}
		p.Tried = try(r, chat)
	}
	return answer{name: "models", data: p}, nil
}

// try asks a model for a few words.
func try(r *http.Request, chat llm.Chat) *trial {
	ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
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
		out.Fault = newFault(err)
	}
	out.Text = text.First(answer.Text, 300)
	return out
}
