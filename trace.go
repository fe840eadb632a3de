package ragflow

import (
	"context"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// runOf puts a run together from its durable events. Its state is shared with the
// thread and must not be changed.
func runOf(events []graph.Event[state.State]) *transcript.Run {
	last := events[len(events)-1]
	r := &transcript.Run{Thread: last.Thread, ID: last.Run, State: last.State}
	for _, e := range slices.Backward(events) {
		if e.Kind != graph.RunEnded { // which repeats the last commit
			r.Commits = append(r.Commits, graph.Commit{ID: e.Commit, Run: e.Run, Step: e.Step, Status: e.Status, Time: e.Time, Deltas: e.Tasks})
		}
	}
	return r
}

// trace adds to a reply what Question.Trace asks for.
func (a *Assistant) trace(ctx context.Context, reply *Reply, r *transcript.Run) (err error) {
	var files ingest.CitedFiles
	reply.AnswerMD = transcript.AnswerMD(*r, transcript.Options{
		Path:      func(c state.Citation) string { return ingest.Path(c.Root, c.Source) },
		IsChanged: func(c state.Citation) bool { return files.Changed(ctx, c) },
	})
	reply.FlowTraceMD = transcript.FlowTraceMD(*r)
	reply.Prompt, err = a.promptOf(r)
	return err
}

// PromptReply is the prompt for the answer to a question, whether a model was asked or
// not: it can be given to any model. Its JSON is the
// member prompt of `ragflow ask --json --show-prompt`.
type PromptReply struct {
	SystemPrompt      string         `json:"system_prompt"`
	UserMessage       string         `json:"user_message"`
	AssembledContext  string         `json:"assembled_context"` // the sources as Settings.Context assembles them
	Sources           []PromptSource `json:"sources"`           // in the order of [Source N]
	ContextTokenCount int            `json:"context_token_count"`
}

// PromptSource is a source of a prompt.
type PromptSource struct {
	N          int     `json:"n"`
	Source     string  `json:"document_source"` // path under the folder given
	ChunkIndex int     `json:"chunk_index"`     // of the passage in its document, from 0
	ChunkID    string  `json:"chunk_id"`
	Title      string  `json:"title"`
	Score      float64 `json:"score"`
	Snippet    string  `json:"snippet"` // its first 200 characters
}

// promptOf returns the prompt for the answer of a run. The lines around what is data differ
// from call to call, so that no document can hold them.
func (a *Assistant) promptOf(r *transcript.Run) (*PromptReply, error) {
	s := r.State
	if n := len(s.Messages); n > 0 && s.Messages[n-1].Role == state.AI {
		s.Messages = s.Messages[:n-1] // its own answer
	}
	settings, _ := a.config.ResolveSettings(s.Settings) // those that were in force, also if its model is gone
	custom, err := a.prompts(settings)
	if err != nil {
		return nil, err
	}
	context := nodes.ContextOptions(settings.Context)
	task := nodes.Answering{ContentTokens: settings.ContentTokens, Context: context}.Task(s)
	messages := model.Messages(task, custom)
	reply := &PromptReply{
		SystemPrompt: messages[0].Content, UserMessage: messages[len(messages)-1].Content,
		AssembledContext: context.Assemble(task.Sources, task.Language),
		Sources:          make([]PromptSource, len(task.Sources)),
	}
	reply.ContextTokenCount = text.Count(reply.AssembledContext)
	for i, src := range task.Sources {
		reply.Sources[i] = PromptSource{
			N: i + 1, Source: src.Source, ChunkIndex: src.Ordinal, ChunkID: src.ID, Title: src.Title,
			Score: src.Score, Snippet: cite.Snippet(src.Text),
		}
	}
	return reply, nil
}
