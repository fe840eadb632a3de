package model

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
)

// Tasks of models, by the names that people choose models for.
const (
	TaskRewrite   = "rewrite"
	TaskGrade     = "grade"
	TaskRerank    = "rerank"
	TaskSummarise = "summarise"
	TaskAnswer    = "answer"
	TaskJudge     = "judge"
	TaskVerify    = "verify"
	TaskImage     = "image"     // writes down what an image shows
	TaskTransform = "transform" // the transforms without a model of their own
)

// Tasks lists the tasks. Each transform is a task, too.
func Tasks() []string {
	return append([]string{TaskRewrite, TaskGrade, TaskRerank, TaskSummarise, TaskAnswer, TaskJudge, TaskVerify, TaskImage, TaskTransform}, Transforms()...)
}

// Models are the models of the tasks.
type Models struct {
	Chat  llm.Chat            // does the tasks without a model of their own
	Tasks map[string]llm.Task // by name; its Chat may be nil
}

// Task returns the settings and the model of the first of the tasks that is configured.
func (m Models) Task(names ...string) llm.Task {
	var t llm.Task
	if i := slices.IndexFunc(names, func(n string) bool { _, ok := m.Tasks[n]; return ok }); i >= 0 {
		t = m.Tasks[names[i]]
	}
	if t.Chat == nil {
		t.Chat = m.Chat
	}
	return t
}

// For returns the model of the first of the tasks that is configured. It notes its calls, and
// models that fail, with the graph's task under way.
func (m Models) For(names ...string) llm.Chat {
	t := m.Task(names...)
	t.Chat = llm.Observe(t.Chat, NoteCall)
	return noting{t}
}

// NoteCall notes a call of a model with the graph's task under way: see [llm.Observe].
func NoteCall(ctx context.Context, c llm.Call) {
	noted := graph.Call{Name: c.Model, Duration: c.Duration, Counts: c.Counts}
	if c.Err != nil {
		noted.Error = c.Err.Error()
	}
	graph.Count(ctx, noted)
}

// noting is the model of a task that notes what goes wrong.
type noting struct{ llm.Task }

// Complete implements llm.Chat.
func (c noting) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	allowed := r.Fall
	r.Fall = func(f llm.Fall) bool {
		return (allowed == nil || allowed(f)) && fellBack(ctx, f.Model, f.Next, f.Err) == nil
	}
	out, err := c.Task.Complete(ctx, r, token)
	if err != nil {
		return out, err
	}
	by := cmp.Or(out.By, c.Model())
	if expected := promptTokens(r.Messages); out.Usage.Input > 0 && expected > minWindow && float64(out.Usage.Input) < minRead*float64(expected) {
		graph.Warn(ctx, fmt.Sprintf("The server of the model %q read only %d of about %d tokens; the context window it uses is too small. "+
			"Set the window there (for Ollama OLLAMA_CONTEXT_LENGTH), or its size here with LLM_CONTEXT_TOKENS.", by, out.Usage.Input, expected))
	}
	if token != nil && out.Finish == llm.FinishLength {
		graph.Warn(ctx, fmt.Sprintf("The model %q stopped at its limit of %d tokens; its answer ends with the last whole sentence.", by, cmp.Or(c.Tokens, r.MaxTokens)))
	}
	return out, nil
}

// minRead is the minimum share of the tokens counted here that a server counts if it
// reads the whole prompt: tokenizers differ. A prompt with at most minWindow tokens fits everywhere.
const (
	minRead   = 0.5
	minWindow = 1500
)

func promptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += text.Count(m.Content)
	}
	return n
}
