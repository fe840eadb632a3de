package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// ErrNoSources is returned if there is nothing to answer from; no model was asked.
var ErrNoSources = errors.New("no sources to answer from")

// Options are the limits of an answer.
type Options struct {
	Tokens      int      // length of the answer; default [AnswerTokens]
	Temperature *float64 // from 0 to 2; default [AnswerTemperature]
	Window      int      // context window of the model in tokens; 0: large enough for the defaults
	Synthesis   string   // one of [Syntheses]; default [Compact]
	// NoRefusals leaves the refusal out of the prompt, so that the model always answers. A small
	// model then answers more questions, also some that the sources do not answer. The node generate
	// withdraws an answer that no source supports. It is for [Compact].
	NoRefusals bool
}

// Shares of a context window. The rest is for rules, question and summary.
const (
	answerShare   = 0.2
	messagesShare = 0.2
	sourcesShare  = 0.4
)

// Fit returns the tokens that answer, earlier messages and sources may have, given the
// limits that hold without a window.
func (o Options) Fit(messages, sources int) (answer, fewerMessages, fewerSources int) {
	answer = cmp.Or(o.Tokens, AnswerTokens)
	if o.Window == 0 {
		return answer, messages, sources
	}
	share := func(limit int, of float64) int { return min(limit, int(of*float64(o.Window))) }
	return share(answer, answerShare), share(messages, messagesShare), share(sources, sourcesShare)
}

// Answerer lets a model write the answer from the sources of a task.
type Answerer struct {
	chat   llm.Chat
	custom prompts.Set

	tokens      int
	temperature float64
	synthesis   string
	noRefusals  bool
}

// NewAnswerer returns an answerer that asks chat. own are the prompts, their zero value
// the built-in ones.
func NewAnswerer(chat llm.Chat, custom prompts.Set, o Options) *Answerer {
	a := &Answerer{chat: chat, custom: custom, temperature: AnswerTemperature, synthesis: o.Synthesis, noRefusals: o.NoRefusals}
	a.tokens, _, _ = o.Fit(0, 0)
	if o.Temperature != nil {
		a.temperature = *o.Temperature
	}
	return a
}

// Answer implements the answerer of package nodes.
func (a *Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	return a.AnswerStream(ctx, t, nil)
}

// AnswerStream is Answer that passes on each piece of the text as the model
// writes it. The answer returned is what counts: one that stopped at its limit
// ends with a whole sentence, nothing in it is an image, a link or HTML, and each address
// in it occurs in a source or in the question. Its
// marks are those of the model; the caller checks them: see [cite.Check].
//
// If the sources do not hold the answer, the text is the refusal that the
// prompt asks for and Abstained is set.
func (a *Answerer) AnswerStream(ctx context.Context, t state.Task, token func(string)) (state.Answer, error) {
	answer, _, err := a.stream(ctx, t, func() func(string) { return token }, nil)
	return answer, err
}

// stream is AnswerStream. begin returns the function that gets the pieces; after each fall that is allowed
// it is called again, because the answer begins again. by is the model that was asked last.
func (a *Answerer) stream(ctx context.Context, t state.Task, begin func() func(string), allowed func(llm.Fall) bool) (answer state.Answer, by string, err error) {
	if len(t.Sources) == 0 {
		return state.Answer{}, a.chat.Model(), ErrNoSources
	}
	chat, one := track(a.chat), *a
	one.chat = chat
	piece, done := filterOf(t).Pieces(begin())
	chat.fall = func(f llm.Fall) bool {
		if allowed != nil && !allowed(f) {
			return false
		}
		piece, done = filterOf(t).Pieces(begin())
		return true
	}
	token := func(said string) { piece(said) }
	if piece == nil {
		token = nil
	}
	said, err := one.synthesize(ctx, t, token)
	if err != nil {
		return state.Answer{}, chat.Model(), err
	}
	done()
	return Written(said, chat.Model(), t), chat.Model(), nil
}

// Written makes an answer to t of a text that a model has written, under the rules of [Answerer.AnswerStream].
func Written(said, model string, t state.Task) state.Answer {
	answer := state.Answer{Text: said, Model: model}
	if prompts.Refused(said) {
		answer.Text, answer.Abstained = prompts.Say(prompts.Refusal, t.Language), true
		return answer
	}
	answer.Text = filterOf(t).All(said)
	return answer
}

// filterOf is the filter of an answer to t.
func filterOf(t state.Task) *sanitize.Filter {
	return Filter(func(address string) bool { return Holds(t.Question, t.Sources, address) }, t.Language)
}

// Filter returns the filter of one answer in a language. known reports whether an address may be shown.
func Filter(known func(address string) bool, language string) *sanitize.Filter {
	return &sanitize.Filter{Known: known, Unknown: prompts.Say(prompts.UnknownAddress, language)}
}

// Holds reports whether an address stands in the question or in a source.
func Holds(question string, sources []state.Source, address string) bool {
	return strings.Contains(question, address) ||
		slices.ContainsFunc(sources, func(s state.Source) bool { return strings.Contains(s.Text, address) })
}

// Messages is what a model is sent to answer a task with: rules, the
// conversation, and the question with its sources; those stand in the first
// message if own has a system prompt. Each call sets another boundary around
// what is data.
func Messages(t state.Task, custom prompts.Set) []llm.Message {
	return messages(t, inquiry{}, prompts.NewBoundary(), custom)
}

// inquiry is one request about a task that takes several.
type inquiry struct {
	first    int    // number of the first source of the task, from 0
	question string // a part of the question; empty: the whole
	known    string // the answer of the part that this one needs; may be empty
	answer   bool   // without a word of a refusal
}

func messages(t state.Task, q inquiry, boundary string, custom prompts.Set) []llm.Message {
	p := prompts.Generate{
		Question: cmp.Or(q.question, t.Question), Known: cite.Escape(oneLine(q.known)), Summary: t.Summary,
		Boundary: boundary, CanRefuse: !q.answer, Refusal: prompts.Say(prompts.Refusal, t.Language), Custom: custom,
	}
	for i, s := range t.Sources {
		p.Sources = append(p.Sources, sourceText(t, q.first+i+1, s))
	}
	if q.question == "" {
		p.Complete = complete(t.Queries)
	}
	said := p.Render(t.Language)
	out := []llm.Message{{Role: llm.System, Content: said.System}}
	earlier := t.Messages
	if n := len(earlier); n > 0 && earlier[n-1].Role == state.Human {
		earlier = earlier[:n-1] // the question itself
	}
	for _, m := range earlier {
		switch m.Role {
		case state.Human:
			out = append(out, llm.Message{Role: llm.User, Content: m.Content})
		case state.AI:
			// Its sources had other numbers.
			out = append(out, llm.Message{Role: llm.Assistant, Content: cite.Strip(m.Content)})
		case state.System:
			out[0].Content += "\n\n" + m.Content
		case state.Tool: // what a tool gave an agent is no part of the conversation
		}
	}
	return append(out, llm.Message{Role: llm.User, Content: said.User})
}

// sourceText is a source of a task as prompts show it.
func sourceText(t state.Task, n int, s state.Source) prompts.SourceText {
	shown := prompts.SourceText{
		N: n, Title: oneLine(s.Title), Headings: s.Headings, Path: cite.Escape(oneLine(s.Source)), Text: cite.Escape(s.Text),
	}
	if t.Metadata {
		for _, line := range prompts.Metadata(s.DocumentType, s.DocumentID, t.Language) {
			shown.About = append(shown.About, cite.Escape(line))
		}
	}
	if t.Scores {
		shown.Relevance = fmt.Sprintf("%.2f", s.Score)
	}
	return shown
}

// complete is the question with what it refers to, if a model wrote it; else "".
func complete(queries []state.Query) string {
	for _, q := range queries {
		if q.Why == whyComplete {
			return cite.Escape(oneLine(q.Text))
		}
	}
	return ""
}
