package nodes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// offlineMaker is the Model of an answer that no model wrote.
const offlineMaker = "offline"

// Documents describes the documents that are searched: how many chunks they have, and how many hold a term.
type Documents = text.Index

// Answering configures [Generate]. Quotes, NewID and Clock are required.
type Answering struct {
	Quotes        Answerer       // answers without a model, and shows the closest passages if a model has no answer
	Writer        Writer         // nil: no model writes
	Grader        Grader         // grades without a model, for quotes in place of a model's answer; required with Writer
	Verifier      Verifier       // reads each statement of a model again; nil: rules alone check it
	Threshold     float64        // minimum grade of a turn that quotes answer with; 0 means [DefaultThreshold]
	ContentTokens int            // limit of the messages in a task; 0 means [DefaultContentTokens]
	Documents     Documents      // of the documents, with their languages; nil: not known
	Context       ContextOptions // the options of PostRetrieval
	NoRefusals    bool           // the writer cannot decline
	Strict        bool           // drop statements that no source supports, instead of marking them
	Checked       bool           // show sentences when they are checked, and withdraw none
	NewID         func() string
	Clock         func() time.Time

	check func(answer string, sources []state.Source, o cite.Options) cite.Report // cite.Check, or a test that counts
}

// Generate returns the node that answers from the sources, the running summary and
// the newest messages that fit. Its policy is in policy.go. [state.Quality] holds what
// the check of a model's answer found.
func Generate(o Answering) Node {
	o.ContentTokens = cmp.Or(o.ContentTokens, DefaultContentTokens)
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	if o.check == nil {
		o.check = cite.Check
	}
	return func(ctx context.Context, s state.State) (state.Update, error) {
		out, err := o.answer(ctx, s)
		if err != nil {
			return state.Update{}, fmt.Errorf("answer: %w", err)
		}
		noteAnswer(ctx, out.Answer, out.quality)
		message := state.Message{
			ID: o.NewID(), Role: state.AI, Content: out.Text,
			Time: o.Clock().UTC(), Citations: out.Citations,
		}
		update := state.Update{
			Messages:  []state.MessageOp{{Put: &message}},
			Answer:    &out.Text,
			Citations: &out.Citations,
			Abstained: &out.Abstained,
			Model:     &out.Model,
			Quality:   &out.quality,
			Grade:     out.Grade,
		}
		if len(out.Order) > 0 {
			update.Sources = &out.sources
		}
		if s.Turn.Route == state.RouteSearch { // thanks and greetings must not displace a topic
			update.Recent = newExchange(s.Turn.Query, out.Answer)
		}
		return update, nil
	}
}

// nothingFound returns the answer to a question without hits. If the question is in another language
// than the documents, it says so.
func (o Answering) nothingFound(turn state.Turn) string {
	answer := prompts.Say(prompts.NoDocuments, turn.Language)
	if o.Documents != nil && text.Foreign(turn.Query, nil, o.Documents) {
		answer += " " + prompts.Say(prompts.OtherLanguage, turn.Language)
	}
	return answer
}

// Task returns the part of a state that an answerer gets.
func (o Answering) Task(s state.State) state.Task {
	asked := make([]string, len(s.Recent))
	for i, e := range s.Recent {
		asked[i] = e.Question
	}
	return state.Task{
		Asked:    asked,
		Question: s.Turn.Query,
		Language: s.Turn.Language,
		Route:    s.Turn.Route,
		Queries:  s.Turn.Queries,
		Sources:  s.Turn.Sources,
		Grade:    s.Turn.Grade,
		Summary:  s.Summary,
		Messages: trim(s.Messages, o.ContentTokens),
		Metadata: o.Context.Metadata, Scores: o.Context.Scores,
	}
}

// trim keeps all system messages and the newest other messages that fit into limit
// tokens. A question and its answer are kept or dropped together. The newest
// question is always kept.
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

// inOrderOfUse returns the sources as an answer numbers them: those in order
// first, by their number from 1, then the others.
func inOrderOfUse(sources []state.Source, order []int) []state.Source {
	if len(order) == 0 {
		return sources
	}
	out := make([]state.Source, 0, len(sources))
	for _, n := range order {
		out = append(out, sources[n-1])
	}
	for i, s := range sources {
		if !slices.Contains(order, i+1) {
			out = append(out, s)
		}
	}
	return out
}

// citations keeps the citations of cited sources. A mark without a citation gets
// one for the whole chunk.
func citations(given []state.Citation, sources []state.Source, cited []int) ([]state.Citation, error) {
	kept := make([]state.Citation, 0, len(given))
	for _, c := range given {
		if slices.Contains(cited, c.N) {
			kept = append(kept, c)
		}
	}
	for _, n := range cited {
		if slices.ContainsFunc(kept, func(c state.Citation) bool { return c.N == n }) {
			continue
		}
		whole, err := cite.Build(sources, cite.Pick{N: n})
		if err != nil {
			return nil, fmt.Errorf("answer: %w", err)
		}
		kept = append(kept, whole...)
	}
	return kept, nil
}

func noteTask(ctx context.Context, t state.Task, o ContextOptions) {
	graph.Note(ctx, "sources", strconv.Itoa(len(t.Sources)))
	graph.Note(ctx, "context", fmt.Sprintf("%d tokens", o.count(t.Sources, t.Language)))
	graph.Note(ctx, "messages", fmt.Sprintf("%d (%d tokens)", len(t.Messages), countMessages(t.Messages)))
	graph.Note(ctx, "summary", fmt.Sprintf("%d tokens", text.Count(t.Summary)))
}

func noteAnswer(ctx context.Context, a state.Answer, q state.Quality) {
	graph.Note(ctx, "by", a.Model)
	graph.Note(ctx, "words", strconv.Itoa(len(strings.Fields(a.Text))))
	graph.Note(ctx, "citations", strconv.Itoa(len(a.Citations)))
	graph.Note(ctx, "invalid citations", strconv.Itoa(q.Invalid))
	if q.Claims == 0 {
		graph.Note(ctx, "faithfulness", "not measured: the answer states nothing of its own")
	} else {
		graph.Note(ctx, "faithfulness", fmt.Sprintf("%.3f", q.Faithfulness))
		graph.Note(ctx, "citation precision", fmt.Sprintf("%.3f", q.CitationPrecision))
		graph.Note(ctx, "citation recall", fmt.Sprintf("%.3f", q.CitationRecall))
		graph.Note(ctx, "claims", fmt.Sprintf("%d (%d reattached, %d unsupported, %d dropped, %d in another language)",
			q.Claims, q.Reattached, q.Unsupported, q.Dropped, q.Unchecked))
	}
	graph.Note(ctx, "abstained", strconv.FormatBool(a.Abstained))
	graph.Note(ctx, "answer", oneLine(a.Text))
}
