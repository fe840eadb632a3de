package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/redact"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// SummarizeConversation returns the node that keeps the live messages short:
// if they have more than limit tokens, all but the last liveAfterSummary are
// added to the running summary and leave the live state. State.Recent does not
// change, so follow-ups are still understood. The store keeps the whole history.
func SummarizeConversation(z Summarizer, limit int) Node {
	return func(ctx context.Context, s state.State) (state.Update, error) {
		tokens := countMessages(s.Messages)
		if tokens <= limit || len(s.Messages) <= liveAfterSummary {
			graph.Skip(ctx, fmt.Sprintf("Skipped (%d tokens of messages, limit %d)", tokens, limit))
			return state.Update{}, nil
		}
		older := s.Messages[:len(s.Messages)-liveAfterSummary]
		summary, err := z.Summarize(ctx, redact.Secrets(s.Summary), redacted(older))
		if err != nil {
			return state.Update{}, fmt.Errorf("summarize the conversation: %w", err)
		}
		ops := make([]state.MessageOp, len(older))
		for i, m := range older {
			ops[i] = state.MessageOp{Remove: m.ID}
		}
		noteBy(ctx, z)
		graph.Note(ctx, "messages", fmt.Sprintf("%d (%d tokens)", len(s.Messages), tokens))
		graph.Note(ctx, "summarized", strconv.Itoa(len(older)))
		graph.Note(ctx, "summary", fmt.Sprintf("%d tokens, before %d", text.Count(summary), text.Count(s.Summary)))
		return state.Update{Messages: ops, Summary: &summary}, nil
	}
}

// redacted returns copies of messages without secrets: a summary outlives its
// messages and may go to a model.
func redacted(ms []state.Message) []state.Message {
	out := slices.Clone(ms)
	for i := range out {
		out[i].Content = redact.Secrets(out[i].Content)
	}
	return out
}

func countMessages(ms []state.Message) int {
	n := 0
	for _, m := range ms {
		n += text.Count(m.Content)
	}
	return n
}
