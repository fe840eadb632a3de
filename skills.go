package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/model"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// skills are how the nodes do their work; see flow.go.
type skills struct {
	searcher   nodes.Searcher
	rewriter   nodes.Rewriter
	grader     nodes.Grader
	free       nodes.Grader // grades without a model; see nodes.CheckAndRefine
	reranker   nodes.Reranker
	summarizer nodes.Summarizer
	answerer   nodes.Answerer
	closest    nodes.Answerer // quotes what comes nearest, without a model
	stats      cite.Stats     // for the check of answers

	words *offline.Rewriter // knows other words for those of a question
	order search.Orderer    // of the context of an answer
	list  search.Orderer    // of what a search lists
}

// newOfflineSkills returns the skills without a model, for a snapshot of the index.
func newOfflineSkills(s search.Snapshot, c Config, d offline.Dictionary) skills {
	own := offline.New(s, c.Threshold)
	own.Answerer.HasModel = c.Chat != nil
	words := own.Rewriter.WithDictionary(d)
	return skills{
		rewriter: words, words: words, grader: own.Grader, free: own.Grader, order: own.Reranker, list: own.Reranker,
		summarizer: own.Summarizer, answerer: own.Answerer, closest: own.Answerer, stats: s,
	}
}

// searcher is a search engine as the nodes use it: its warnings and notes become those
// of the running task.
type searcher struct{ *search.Engine }

// Search implements nodes.Searcher.
func (s searcher) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	found, err := s.Engine.Search(ctx, q, k)
	for _, w := range found.Warnings {
		graph.Warn(ctx, w)
	}
	for _, n := range found.Notes {
		graph.Note(ctx, n.Name, n.Text)
	}
	return found.Hits, err
}

// reranker is the reranking of a search engine as the nodes use it.
type reranker struct{ *search.Engine }

// Rerank implements nodes.Reranker.
func (r reranker) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out, err := r.Engine.Rerank(ctx, queries, candidates)
	for _, w := range out.Warnings {
		graph.Warn(ctx, w)
	}
	noteMaker(ctx, out.By)
	return out.Sources, err
}

// Keys of [graph.Call.Counts] of a call to a model.
const (
	countInput      = "input_tokens"
	countOutput     = "output_tokens"
	countRetries    = "retries"
	countFirstToken = "first_token_ms"
	countChunks     = "chunks"
	countCost       = "cost_nanousd" // absent where the price is not known
)

// embedder is an embedding model as packages search and ingest use it. Calls for
// questions are counted with the task under way.
type embedder struct{ llm.Embedder }

// EmbedQuery implements search.Embedder.
func (e embedder) EmbedQuery(ctx context.Context, question string) ([]float32, error) {
	begun := time.Now()
	out, err := e.Embed(ctx, []string{question}, llm.Query)
	if err == nil && len(out.Vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for one text", e.Model(), len(out.Vectors))
	}
	count(ctx, e.Model(), begun, err, map[string]int64{countInput: out.Usage.Input, countRetries: int64(out.Retries)}, out.Priced, out.CostUSD)
	if err != nil {
		return nil, err
	}
	return out.Vectors[0], nil
}

// EmbedPassages implements ingest.Embedder.
func (e embedder) EmbedPassages(ctx context.Context, texts []string) (ingest.Embeddings, error) {
	out, err := e.Embed(ctx, texts, llm.Passage)
	// llm.ErrRefused is about the texts and not the service. llama.cpp has no status of
	// its own for a text that is too long.
	if failed, ok := errors.AsType[*llm.Error](err); ok &&
		(errors.Is(failed.Kind, llm.ErrRefused) || strings.Contains(failed.Detail, "too large to process")) {
		err = fmt.Errorf("%w: %w", search.ErrTextRefused, err)
	}
	return ingest.Embeddings{Vectors: out.Vectors, Calls: out.Calls, InputTokens: out.Usage.Input}, err
}

// passageRanker is a reranking model as package search uses it.
type passageRanker struct{ llm.Reranker }

// Rerank implements search.Reranker.
func (r passageRanker) Rerank(ctx context.Context, question string, passages []string) ([]float64, error) {
	begun := time.Now()
	out, err := r.Reranker.Rerank(ctx, question, passages)
	count(ctx, r.Model(), begun, err, map[string]int64{countInput: out.Usage.Input, countRetries: int64(out.Retries)}, false, 0)
	return out.Values, err
}

// count notes a call to a model with the task under way.
func count(ctx context.Context, model string, begun time.Time, err error, counts map[string]int64, priced bool, usd float64) {
	call := graph.Call{Name: model, Duration: time.Since(begun).Truncate(time.Microsecond), Counts: counts}
	if priced {
		counts[countCost] = int64(math.Round(usd * 1e9))
	}
	if err != nil {
		call.Error, call.Counts = err.Error(), nil
		if e, ok := errors.AsType[*llm.Error](err); ok {
			call.Counts = map[string]int64{countRetries: int64(e.Retries)}
		}
	}
	graph.Count(ctx, call)
}

// withModels puts the configured models before the offline skills. Where a model fails,
// the fallback model takes over, and where that fails the offline skill; each says so.
func (s skills) withModels(c Config, stats model.Stats, own prompts.SystemTemplate) skills {
	if c.Chat == nil {
		return s
	}
	plain := s
	if c.Fallback != nil {
		s = s.withModel(c, c.Fallback, c.Fallback, stats, own, plain, offline.Name)
	}
	grader, next := c.Grader, offline.Name
	if grader == nil {
		grader = c.Chat
	}
	if c.Fallback != nil {
		next = c.Fallback.Model()
	}
	s = s.withModel(c, c.Chat, grader, stats, own, plain, next)
	if len(c.Transforms) > 0 {
		s.rewriter = transformer{model.NewTransformer(recordedChat{c.Chat}, s.rewriter, c.Transforms)}
	}
	return s
}

// withModel puts a model before skills, which take over where it fails; next is their
// name. plain are those without a model.
func (s skills) withModel(c Config, chat, grader llm.Chat, stats model.Stats, own prompts.SystemTemplate, plain skills, next string) skills {
	chat, grader = recordedChat{chat}, recordedChat{grader}
	s.rewriter = rewriter{model.NewRewriter(chat, plain.rewriter, stats), s.rewriter, chat.Model(), next}
	if !c.PlainGrades {
		s.grader = grading{model.NewGrader(grader), s.grader, plain.grader, grader.Model(), next, c.Threshold}
	}
	s.summarizer = summarizer{model.NewSummarizer(chat), s.summarizer, chat.Model(), next}
	s.answerer = answerer{model.NewAnswerer(chat, stats, own, c.Answers), s.answerer, plain.answerer, chat.Model(), next, own}
	return s
}

// transformer adds the queries of transforms to a plan. A transform that fails is a
// warning.
type transformer struct{ *model.Transformer }

// Rewrite implements nodes.Rewriter.
func (t transformer) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, failed, err := t.Plan(ctx, question, m)
	if err == nil && failed != nil {
		if err := ctx.Err(); err != nil {
			return plan, err
		}
		graph.Warn(ctx, fmt.Sprintf("The question was searched without a transform: %v.", failed))
	}
	return plan, err
}

// recordedChat notes each call with the task under way, so that trace and usage
// show it.
type recordedChat struct{ llm.Chat }

// Complete implements llm.Chat.
func (c recordedChat) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	begun := time.Now()
	out, err := c.Chat.Complete(ctx, r, token)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Skipped {
		return out, err // nothing was called
	}
	count(ctx, c.Model(), begun, err, map[string]int64{
		countInput: out.Usage.Input, countOutput: out.Usage.Output, countRetries: int64(out.Retries),
		countFirstToken: out.FirstToken.Milliseconds(), countChunks: int64(out.Chunks),
	}, out.Priced, out.CostUSD)
	if err != nil {
		return out, err
	}
	if expected := promptTokens(r.Messages); out.Usage.Input > 0 && expected > leastWindow && float64(out.Usage.Input) < readShare*float64(expected) {
		graph.Warn(ctx, fmt.Sprintf("The server of the model %q read only %d of about %d tokens; the context window it uses is too small. "+
			"Set the window there (for Ollama OLLAMA_CONTEXT_LENGTH), or its size here with LLM_CONTEXT_TOKENS.", c.Model(), out.Usage.Input, expected))
	}
	if token != nil && out.Finish == llm.FinishLength {
		graph.Warn(ctx, fmt.Sprintf("The model %q stopped at its limit of %d tokens; its answer ends with the last whole sentence.", c.Model(), r.MaxTokens))
	}
	return out, nil
}

// readShare is the smallest share of the tokens counted here that a server counts when it
// reads the whole prompt: tokenizers differ. A prompt below leastWindow fits everywhere.
const (
	readShare   = 0.5
	leastWindow = 1500
)

func promptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += text.Count(m.Content)
	}
	return n
}

// fellBack says that a model failed and that next does its work. It returns the
// error where there is nobody to do it for: the run has ended.
func fellBack(ctx context.Context, name, next, work string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	graph.Note(ctx, "fallback", fmt.Sprintf("%s → %s: %v", name, next, err))
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Skipped {
		return nil // the failure was reported when it happened
	}
	if next != offline.Name {
		work += " by " + next
	} else {
		work += " " + next
	}
	graph.Warn(ctx, fmt.Sprintf("The model %q failed, so ragflow went on without it and %s: %v.", name, work, err))
	return nil
}

// noteMaker says what did a task's work, which only the task itself knows.
func noteMaker(ctx context.Context, name string) { graph.Note(ctx, "by", name) }

type rewriter struct {
	model, next    nodes.Rewriter
	name, nextName string
}

// Rewrite implements nodes.Rewriter.
func (r rewriter) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, err := r.model.Rewrite(ctx, question, m)
	if err == nil {
		noteMaker(ctx, cmp.Or(plan.By, offline.Name))
		return plan, nil
	}
	if err := fellBack(ctx, r.name, r.nextName, "the question was rewritten", err); err != nil {
		return state.Plan{}, err
	}
	if r.nextName == offline.Name {
		noteMaker(ctx, offline.Name)
	}
	return r.next.Rewrite(ctx, question, m)
}

type grading struct {
	model, next, offline nodes.Grader
	name, nextName       string
	threshold            float64
}

// Grade implements nodes.Grader. Where the model finds what was found poor and
// knows nothing better to search for, offline's refined query is tried.
func (g grading) Grade(ctx context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error) {
	grade, err := g.model.Grade(ctx, queries, best)
	if err != nil {
		if err := fellBack(ctx, g.name, g.nextName, "what was found was graded", err); err != nil {
			return state.Grade{}, err
		}
		return g.next.Grade(ctx, queries, best)
	}
	if grade.Score < g.threshold && grade.Refined == nil {
		plain, err := g.offline.Grade(ctx, queries, best)
		if err != nil {
			return state.Grade{}, err
		}
		grade.Refined = plain.Refined
	}
	return grade, nil
}

type summarizer struct {
	model, next    nodes.Summarizer
	name, nextName string
}

// Summarize implements nodes.Summarizer.
func (z summarizer) Summarize(ctx context.Context, summary string, older []state.Message) (string, error) {
	longer, err := z.model.Summarize(ctx, summary, older)
	if err == nil {
		noteMaker(ctx, z.name)
		return longer, nil
	}
	if err := fellBack(ctx, z.name, z.nextName, "the conversation was summarised", err); err != nil {
		return "", err
	}
	if z.nextName == offline.Name {
		noteMaker(ctx, offline.Name)
	}
	return z.next.Summarize(ctx, summary, older)
}

type answerer struct {
	model          *model.Answerer
	next, offline  nodes.Answerer
	name, nextName string
	system         prompts.SystemTemplate
}

var _ nodes.StreamAnswerer = answerer{}

// Answer implements nodes.Answerer.
func (a answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	return a.AnswerStream(ctx, t, func(nodes.Token) {})
}

// AnswerStream implements nodes.StreamAnswerer. Small talk is answered offline. The
// grade does not keep the model from answering: it was given on the first characters
// of three chunks, and the model reads all sources and may decline.
func (a answerer) AnswerStream(ctx context.Context, t state.Task, token func(nodes.Token)) (state.Answer, error) {
	if t.Route != state.RouteSearch || len(t.Sources) == 0 {
		return a.offline.Answer(ctx, t)
	}
	told := false
	write := func(t state.Task) (state.Answer, error) {
		return a.model.AnswerStream(ctx, t, func(piece string) {
			told = true
			token(nodes.Token{Text: piece})
		})
	}
	answer, err := write(t)
	for fewer := t; errors.Is(err, llm.ErrContextLength) && len(fewer.Sources) > 1; {
		fewer.Sources = fewer.Sources[:len(fewer.Sources)/2]
		fewer.Messages = fewer.Messages[max(0, len(fewer.Messages)-1):] // the question alone
		graph.Warn(ctx, fmt.Sprintf("The context window of the model %q is too small for all sources and messages, so it answers from the first %d of %d sources. LLM_CONTEXT_TOKENS sets its size.",
			a.name, len(fewer.Sources), len(t.Sources)))
		answer, err = write(fewer)
	}
	if err == nil && !answer.Abstained {
		return answer, nil
	}
	if told {
		token(nodes.Token{Void: true})
	}
	if err != nil {
		if err := fellBack(ctx, a.name, a.nextName, "the answer was written", err); err != nil {
			return state.Answer{}, err
		}
		if next, ok := a.next.(nodes.StreamAnswerer); ok {
			return next.AnswerStream(ctx, t, token)
		}
		return a.next.Answer(ctx, t)
	}
	return a.closest(ctx, t, answer)
}

// closest adds to a model's refusal the passage that comes nearest, which is
// found offline.
func (a answerer) closest(ctx context.Context, t state.Task, refusal state.Answer) (state.Answer, error) {
	t.Grade.Score = 0 // the model has looked: the answer is not there
	nearest, err := a.offline.Answer(ctx, t)
	if err != nil {
		return state.Answer{}, err
	}
	rest := strings.Replace(nearest.Text, prompts.Say(prompts.NotFound, t.Language), "", 1)
	refusal.Text += "\n\n" + strings.TrimSpace(rest)
	refusal.Citations, refusal.Order = nearest.Citations, nearest.Order
	graph.Note(ctx, "closest passage", "chosen "+offline.Name)
	return refusal, nil
}
