package chain

import (
	"context"
	"errors"
	"slices"

	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
)

// Tasks of models, by the names that people choose models for.
const (
	Rewrite   = "rewrite"
	Grade     = "grade"
	Rerank    = "rerank"
	Summarise = "summarise"
	Write     = "answer"
	Judge     = "judge"
	Verify    = "verify"
	Image     = "image"     // writes down what an image shows
	Transform = "transform" // those of [model.Transforms] that have no models of their own
)

// Tasks lists the tasks.
func Tasks() []string {
	return append([]string{Rewrite, Grade, Rerank, Summarise, Write, Judge, Verify, Image, Transform}, model.Transforms()...)
}

// Task says which models do a task, and how.
type Task struct {
	Chats       []llm.Chat // the first is asked, each next one where those before it failed; none: [Models.Chats]
	Temperature *float64   // nil: that of the task
	Tokens      int        // most tokens of a reply; 0: those of the task
}

// Models are the models of every task. Limits of the answer are in [model.Options].
type Models struct {
	Chats []llm.Chat      // at least one, as in [Task]
	Tasks map[string]Task // by name
}

// task returns the first of the tasks that is configured, with its models.
func (m Models) task(names ...string) Task {
	i := slices.IndexFunc(names, func(n string) bool { _, ok := m.Tasks[n]; return ok })
	t := Task{}
	if i >= 0 {
		t = m.Tasks[names[i]]
	}
	if len(t.Chats) == 0 {
		t.Chats = m.Chats
	}
	return t
}

// each calls put with the models of a task, the last one first, and with the name of who takes
// over where the model fails.
func (m Models) each(task string, put func(chat llm.Chat, next string)) {
	t, next := m.task(task), offline.Name
	for _, c := range slices.Backward(t.Chats) {
		put(Chat{c, t}, next)
		next = c.Model()
	}
}

// Chat returns the models of the first of the tasks that is configured as one model.
func (m Models) Chat(tasks ...string) llm.Chat {
	t := m.task(tasks...)
	var all inTurn
	for _, c := range t.Chats {
		all = append(all, Chat{c, t})
	}
	return all
}

// inTurn are models of which each next one is asked where those before it failed.
type inTurn []llm.Chat

// Model implements llm.Chat.
func (c inTurn) Model() string { return c[0].Model() }

// Complete implements llm.Chat.
func (c inTurn) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	out, err := c[0].Complete(ctx, r, token)
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || failed.Streamed || len(c) == 1 || fellBack(ctx, c[0].Model(), c[1].Model(), "its work was done", err) != nil {
		return out, err
	}
	return c[1:].Complete(ctx, r, token)
}
