package model

import (
	"context"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// summaryWords is how long a running summary may become.
const summaryWords = 150

// Summarizer lets a model extend the running summary.
type Summarizer struct {
	Custom  prompts.Set      // custom prompts
	Offline nodes.Summarizer // summarises if the model fails; nil: the error is returned
	chat    llm.Chat
}

// NewSummarizer returns a summarizer that asks chat.
func NewSummarizer(chat llm.Chat) *Summarizer { return &Summarizer{chat: chat} }

// Summarize implements the summarizer of package nodes. The summary is in the
// language of the last question that leaves.
func (z *Summarizer) Summarize(ctx context.Context, summary string, older []state.Message) (string, error) {
	chat := track(z.chat)
	longer, err := z.summarize(ctx, chat, summary, older)
	by := chat.Model()
	if err != nil && z.Offline != nil {
		longer, err = orElse(ctx, by, err, func() (string, error) { return z.Offline.Summarize(ctx, summary, older) })
		by = offline.Name
	}
	if err == nil {
		graph.Note(ctx, "by", by)
	}
	return longer, err
}

func (z *Summarizer) summarize(ctx context.Context, chat llm.Chat, summary string, older []state.Message) (string, error) {
	p := prompts.SummarizeConversation{Summary: summary, Words: summaryWords, Boundary: prompts.NewBoundary(), Custom: z.Custom}
	language := ""
	for _, m := range older {
		if m.Role == state.System {
			continue
		}
		if m.Role == state.Human {
			language = text.Language(m.Content)
		}
		// Marks of sources name nothing once their turn is over.
		p.Messages = append(p.Messages, prompts.Said{Human: m.Role == state.Human, Text: strings.TrimSpace(cite.Strip(m.Content))})
	}
	reply, err := ask(ctx, chat, p.Render(language), p.Boundary, summaryTokens, nil)
	if err != nil {
		return "", err
	}
	return prompts.ParseSummarizeConversation(reply, summaryWords)
}
