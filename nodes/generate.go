package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// offlineMaker is the Model of an answer that no model wrote.
const offlineMaker = "offline"

// maxVerified is the most statements of an answer that a [Verifier] reads, in one call.
const maxVerified = 20

// Answering configures [Generate]. Answerer, NewID and Clock are required.
type Answering struct {
	Answerer      Answerer
	Closest       Answerer       // quotes passages if no part of a model's answer is supported; nil: the answer only says so
	ContentTokens int            // limit of the messages in a task; 0 means [DefaultContentTokens]
	Documents     text.Index     // of the documents, which tells their languages; nil: not known
	Context       ContextOptions // the options of PostRetrieval
	Verifier      Verifier       // reads each statement of a model again; nil: rules alone check it
	Strict        bool           // drop statements that no source supports, instead of marking them
	NewID         func() string
	Clock         func() time.Time
}

// Generate returns the node that answers from the sources, the running summary and
// the newest messages that fit. If the search found nothing, the answer says so and
// the answerer is not called.
//
// The answer of a model is checked against the sources and repaired: see
// [cite.Repair]. Of an answer that no source supports in any part, only that nothing
// was found is shown. [state.Quality] holds what the check found.
func Generate(o Answering) Node {
	if o.ContentTokens == 0 {
		o.ContentTokens = DefaultContentTokens
	}
	return func(ctx context.Context, s state.State) (state.Update, error) {
		answer := state.Answer{
			Text:      o.nothingFound(s.Turn),
			Abstained: true,
			Model:     offlineMaker,
		}
		quality := state.Quality{Faithfulness: 1, CitationPrecision: 1, CitationRecall: 1}
		if len(s.Turn.Sources) > 0 || s.Turn.Route != state.RouteSearch {
			task := o.Task(s)
			noteTask(ctx, task, o.Context)
			var err error
			answer, err = write(ctx, o.Answerer, task)
			if err != nil {
				return state.Update{}, fmt.Errorf("answer: %w", err)
			}
			s.Turn.Sources = inOrderOfUse(s.Turn.Sources, answer.Order)
			declined := answer.Abstained
			if answer, quality, err = o.validate(ctx, answer, s.Turn); err != nil {
				return state.Update{}, err
			}
			if answer.Abstained && !declined && o.Closest != nil {
				if answer, err = o.closest(ctx, task, answer); err != nil {
					return state.Update{}, err
				}
				s.Turn.Sources = inOrderOfUse(s.Turn.Sources, answer.Order)
			}
		} else {
			graph.Skip(ctx, SkippedNoDocs)
		}
		answer.Text = new(sanitize.Filter).All(answer.Text) // quotes hold what the document does
		noteAnswer(ctx, answer, quality)
		message := state.Message{
			ID: o.NewID(), Role: state.AI, Content: answer.Text,
			Time: o.Clock().UTC(), Citations: answer.Citations,
		}
		update := state.Update{
			Messages:  []state.MessageOp{{Put: &message}},
			Answer:    &answer.Text,
			Citations: &answer.Citations,
			Abstained: &answer.Abstained,
			Model:     &answer.Model,
			Quality:   &quality,
			Grade:     answer.Grade,
		}
		if len(answer.Order) > 0 {
			update.Sources = &s.Turn.Sources
		}
		if s.Turn.Route == state.RouteSearch { // thanks and greetings must not displace a topic
			update.Recent = newExchange(s.Turn.Query, answer)
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

// write asks for the answer. It emits the pieces of the answer as live events.
func write(ctx context.Context, a Answerer, t state.Task) (state.Answer, error) {
	if s, ok := a.(StreamAnswerer); ok {
		return s.AnswerStream(ctx, t, func(piece Token) { graph.Emit(ctx, piece) })
	}
	return a.Answer(ctx, t)
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

// validate checks an answer against its sources and repairs one written by a model. An offline answer
// consists of quotes, and so does the text after a refusal: only their marks are checked.
func (o Answering) validate(ctx context.Context, a state.Answer, turn state.Turn) (state.Answer, state.Quality, error) {
	options := cite.Options{Language: turn.Language}
	if turn.Route != state.RouteSearch {
		a.Text = cite.Validate(a.Text, len(turn.Sources)).Text
		return a, quality(cite.Report{Precision: 1, Recall: 1, Faithfulness: 1}), nil
	}
	if a.Model == offlineMaker || a.Abstained {
		checked := cite.Validate(a.Text, len(turn.Sources))
		a.Text = checked.Text
		var err error
		a.Citations, err = citations(a.Citations, turn.Sources, checked.Cited)
		return a, quality(cite.Report{Precision: 1, Recall: 1, Faithfulness: 1}), err
	}
	report := cite.Check(a.Text, turn.Sources, options)
	if o.Verifier != nil {
		var err error
		if options.Denied, err = o.denied(ctx, report, turn.Sources); err != nil {
			return a, state.Quality{}, err
		}
		report = cite.Check(a.Text, turn.Sources, options)
	}
	repaired := cite.Repair(a.Text, report, cite.Fixing{Unsupported: prompts.Say(prompts.Unsupported, turn.Language), Strict: o.Strict})
	if repaired.Text == "" || report.Claims > 0 && report.Grounded == 0 { // nothing of it is supported: no answer
		repaired.Picks = nil
		repaired.Text, a.Abstained = prompts.Say(prompts.NotFound, turn.Language), true
		graph.Warn(ctx, "What the model wrote was withdrawn, since no source supports it.")
	}
	if len(report.Sentences) > 0 && report.Claims == 0 && !a.Abstained && len(cite.Validate(repaired.Text, len(turn.Sources)).Cited) == 0 {
		repaired.Text += " " + mark(repaired.Text, turn)
	}
	if repaired.Text != a.Text || len(a.Citations) == 0 { // the old citations belong to the old text
		var err error
		if a.Citations, err = cite.Build(turn.Sources, repaired.Picks...); err != nil {
			return a, state.Quality{}, fmt.Errorf("answer: %w", err)
		}
	}
	a.Text = repaired.Text
	after := cite.Check(a.Text, turn.Sources, options)
	q := quality(after)
	q.Invalid, q.Reattached, q.Unsupported, q.Dropped = report.Invalid, repaired.Reattached, repaired.Unsupported, repaired.Dropped
	var err error
	a.Citations, err = citations(a.Citations, turn.Sources, after.Cited)
	return a, q, err
}

// denied are the statements that the rules take for supported and the verifier does not.
func (o Answering) denied(ctx context.Context, r cite.Report, sources []state.Source) ([]string, error) {
	var statements, passages, denied []string
	for _, s := range r.Sentences {
		if s.Kind != cite.Claim || !s.Grounded || len(statements) == maxVerified {
			continue
		}
		by := s.Cited
		if !s.Supported {
			by = []int{s.Best.N}
		}
		var passage []string
		for _, n := range by {
			passage = append(passage, sources[n-1].Text)
		}
		statements, passages = append(statements, s.Text), append(passages, strings.Join(passage, "\n\n"))
	}
	if len(statements) == 0 {
		return nil, nil
	}
	holds, err := o.Verifier.Verify(ctx, statements, passages)
	if err != nil {
		return nil, fmt.Errorf("verify the answer: %w", err)
	}
	for i, holds := range holds {
		if !holds {
			denied = append(denied, statements[i])
		}
	}
	if holds == nil {
		return nil, nil
	}
	graph.Note(ctx, "verified", fmt.Sprintf("%d of %d statements", len(holds)-len(denied), len(statements)))
	return denied, nil
}

// closest replaces an answer without any support by the passages closest to the question.
func (o Answering) closest(ctx context.Context, t state.Task, a state.Answer) (state.Answer, error) {
	t.Grade.Score = 0 // the sources do not hold what the model wrote
	nearest, err := o.Closest.Answer(ctx, t)
	if err != nil {
		return a, fmt.Errorf("closest passages: %w", err)
	}
	a.Text, a.Citations, a.Order = nearest.Text, nearest.Citations, nearest.Order
	return a, nil
}

// mark returns the mark of an answer that is too short to be checked, such as one word that a
// document told a model to say: the first source that holds it, or that none does.
func mark(answer string, turn state.Turn) string {
	for i, s := range turn.Sources {
		if strings.Contains(strings.ToLower(s.Text), strings.ToLower(strings.Trim(answer, " .!\"*"))) {
			return cite.Marker(i + 1)
		}
	}
	return prompts.Say(prompts.Unsupported, turn.Language)
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

// quality converts a report.
func quality(r cite.Report) state.Quality {
	return state.Quality{
		Faithfulness: r.Faithfulness, CitationPrecision: r.Precision, CitationRecall: r.Recall,
		Claims: r.Claims, Unchecked: r.Unchecked, Invalid: r.Invalid,
	}
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
