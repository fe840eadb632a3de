package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/cite"
	"example.com/ragflow/graph"
	"example.com/ragflow/phrase"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// offlineMaker stands for an answer that no model wrote.
const offlineMaker = "offline"

// Generate returns the node that answers: from the sources, the running summary
// and the newest messages that hold at most contentTokens tokens. Marks of
// sources that do not exist are taken out of the answer and counted. Where a
// search found nothing the answer says so and the answerer is not called.
//
// newID mints the id of the answer's message; clock gives its time.
func Generate(a Answerer, contentTokens int, newID func() string, clock func() time.Time) Node {
	return func(ctx context.Context, s state.State) (state.Update, error) {
		answer := state.Answer{
			Text:      phrase.Say(phrase.NoDocuments, s.Turn.Language),
			Abstained: true,
			Model:     offlineMaker,
		}
		invalid := 0
		if len(s.Turn.Sources) > 0 || s.Turn.Route != state.RouteSearch {
			task := taskOf(s, contentTokens)
			noteTask(ctx, task)
			var err error
			answer, err = write(ctx, a, task)
			if err != nil {
				return state.Update{}, fmt.Errorf("answer: %w", err)
			}
			if answer, invalid, err = validate(answer, s.Turn.Sources); err != nil {
				return state.Update{}, err
			}
		} else {
			graph.Skip(ctx, SkippedNoDocs)
		}
		noteAnswer(ctx, answer, invalid)
		message := state.Message{
			ID: newID(), Role: state.AI, Content: answer.Text,
			Time: clock().UTC(), Citations: answer.Citations,
		}
		update := state.Update{
			Messages:  []state.MessageOp{{Put: &message}},
			Answer:    &answer.Text,
			Citations: &answer.Citations,
			Abstained: &answer.Abstained,
			Model:     &answer.Model,
		}
		if s.Turn.Route == state.RouteSearch { // thanks and greetings must not push a topic out
			update.Recent = exchange(s.Turn.Query, answer)
		}
		return update, nil
	}
}

// write asks for the answer, and sends its pieces to whoever streams the run.
func write(ctx context.Context, a Answerer, t state.Task) (state.Answer, error) {
	if s, ok := a.(StreamAnswerer); ok {
		return s.AnswerStream(ctx, t, func(piece Token) { graph.Emit(ctx, piece) })
	}
	return a.Answer(ctx, t)
}

func taskOf(s state.State, contentTokens int) state.Task {
	return state.Task{
		Question: s.Turn.Query,
		Language: s.Turn.Language,
		Route:    s.Turn.Route,
		Queries:  s.Turn.Queries,
		Sources:  s.Turn.Sources,
		Grade:    s.Turn.Grade,
		Summary:  s.Summary,
		Messages: trim(s.Messages, contentTokens),
	}
}

// trim keeps all system messages and, of the others, the newest that fit into
// limit tokens. A question and what was said to it stay or go together. The
// newest question stays whatever it weighs.
func trim(ms []state.Message, limit int) []state.Message {
	keep := make([]bool, len(ms))
	for i, m := range ms {
		if m.Role == state.System {
			keep[i] = true
			limit -= text.Count(m.Content)
		}
	}
	newest := true
	for end := len(ms); end > 0; {
		start := end - 1
		for start > 0 && ms[start].Role != state.Human {
			start--
		}
		n := 0
		for _, m := range ms[start:end] {
			if m.Role != state.System {
				n += text.Count(m.Content)
			}
		}
		if n > limit && !newest {
			break
		}
		for i := start; i < end; i++ {
			keep[i] = true
		}
		limit -= n
		newest = false
		end = start
	}
	kept := make([]state.Message, 0, len(ms))
	for i, m := range ms {
		if keep[i] {
			kept = append(kept, m)
		}
	}
	return kept
}

// validate takes marks of unknown sources out of the answer and counts them.
// Citations that no mark names any more go; a mark without a citation, as a
// model leaves it, gets one for the whole chunk.
func validate(a state.Answer, sources []state.Source) (state.Answer, int, error) {
	checked := cite.Validate(a.Text, len(sources))
	a.Text = checked.Text
	kept := make([]state.Citation, 0, len(a.Citations))
	for _, c := range a.Citations {
		if slices.Contains(checked.Cited, c.N) {
			kept = append(kept, c)
		}
	}
	for _, n := range checked.Cited {
		if slices.ContainsFunc(kept, func(c state.Citation) bool { return c.N == n }) {
			continue
		}
		whole, err := cite.Build(sources, cite.Pick{N: n})
		if err != nil {
			return a, 0, fmt.Errorf("answer: %w", err)
		}
		kept = append(kept, whole...)
	}
	a.Citations = kept
	return a, checked.Invalid, nil
}

func noteTask(ctx context.Context, t state.Task) {
	graph.Note(ctx, "sources", strconv.Itoa(len(t.Sources)))
	graph.Note(ctx, "context", fmt.Sprintf("%d tokens", text.Count(Context(t.Sources))))
	graph.Note(ctx, "messages", fmt.Sprintf("%d (%d tokens)", len(t.Messages), countMessages(t.Messages)))
	graph.Note(ctx, "summary", fmt.Sprintf("%d tokens", text.Count(t.Summary)))
}

func noteAnswer(ctx context.Context, a state.Answer, invalid int) {
	graph.Note(ctx, "by", a.Model)
	graph.Note(ctx, "words", strconv.Itoa(len(strings.Fields(a.Text))))
	graph.Note(ctx, "citations", strconv.Itoa(len(a.Citations)))
	graph.Note(ctx, "invalid citations", strconv.Itoa(invalid))
	graph.Note(ctx, "abstained", strconv.FormatBool(a.Abstained))
	graph.Note(ctx, "answer", oneLine(a.Text))
}
