package ragflow

import (
	"context"
	"fmt"
	"io"
	"os"

	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/model"
	"example.com/ragflow/state"
)

// PromptReply is what a model is told to answer a question with, whether one was
// asked or not: it can be given to any other (REQUIREMENTS X09). Its JSON is the
// member prompt of `ragflow ask --json --show-prompt`.
type PromptReply struct {
	SystemPrompt      string         `json:"system_prompt"`
	UserMessage       string         `json:"user_message"`
	AssembledContext  string         `json:"assembled_context"` // the sources as Config.Context assembles them
	Sources           []PromptSource `json:"sources"`           // in the order of [Source N]
	ContextTokenCount int            `json:"context_token_count"`
}

// PromptSource is a source of a prompt (REQUIREMENTS X10).
type PromptSource struct {
	N          int     `json:"n"`
	Source     string  `json:"document_source"` // path under the folder given
	ChunkIndex int     `json:"chunk_index"`     // of the passage in its document, from 0
	ChunkID    string  `json:"chunk_id"`
	Title      string  `json:"title"`
	Score      float64 `json:"score"`
	Snippet    string  `json:"snippet"` // its first 200 characters
}

// Prompt returns what a model is told, or would be, to write the answer of a run,
// named as for [threads.Log.Run]. The lines around what is data differ from call
// to call, so that no document can hold them.
func (a *Assistant) Prompt(ctx context.Context, run string) (*PromptReply, error) {
	r, err := a.log.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	s := r.State
	if n := len(s.Messages); n > 0 && s.Messages[n-1].Role == state.AI {
		s.Messages = s.Messages[:n-1] // its own answer
	}
	task := nodes.Answering{ContentTokens: a.config.ContentTokens, Context: a.config.Context}.Task(s)
	messages := model.Messages(task, a.system)
	reply := &PromptReply{
		SystemPrompt: messages[0].Content, UserMessage: messages[len(messages)-1].Content,
		AssembledContext: a.config.Context.Assemble(task.Sources, task.Language),
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

// system reads the system prompt that answers are written with.
func (c Config) system() (prompts.SystemTemplate, error) {
	if c.SystemPrompt == "" {
		return prompts.SystemTemplate{}, nil
	}
	f, err := os.Open(c.SystemPrompt)
	if err != nil {
		return prompts.SystemTemplate{}, fmt.Errorf("open the system prompt: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	written, err := io.ReadAll(io.LimitReader(f, prompts.MaxSystemTemplate+1))
	if err != nil {
		return prompts.SystemTemplate{}, fmt.Errorf("read the system prompt: %w", err)
	}
	t, err := prompts.ParseSystemTemplate(string(written))
	if err != nil {
		return t, fmt.Errorf("%s: %w", c.SystemPrompt, err)
	}
	return t, nil
}
