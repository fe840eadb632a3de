package nodes

import (
	"context"

	"example.com/ragflow/state"
)

// Searcher finds chunks. Implementations are safe for concurrent use and give
// the same hits in the same order for the same query and index.
type Searcher interface {
	// Search returns up to k hits, best first. Hits carry one leg each list that
	// held them; Leg.Query is left 0 for the caller to set.
	Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error)
	// Chunks returns chunks by id, in the order asked for. Ids that are not in
	// the index any more are left out.
	Chunks(ctx context.Context, ids []string) ([]state.Chunk, error)
}

// Rewriter turns a question into searches, with the help of what the thread
// remembers.
type Rewriter interface {
	Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error)
}

// Grader says how well the best chunks, up to [FeedbackChunks], fit the question. The first
// [GradedChunks] count; the others are there to compare with. queries are what was
// searched for, the raw turn first.
type Grader interface {
	Grade(ctx context.Context, queries []state.Query, best []state.Chunk) (state.Grade, error)
}

// Reranker orders candidates anew, best first; it may drop none and add none.
type Reranker interface {
	Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error)
}

// Summarizer extends a running summary by the messages that leave the live
// state.
type Summarizer interface {
	Summarize(ctx context.Context, summary string, older []state.Message) (string, error)
}

// Answerer writes the answer.
type Answerer interface {
	Answer(ctx context.Context, t state.Task) (state.Answer, error)
}

// StreamAnswerer is an Answerer that can tell of its text while it writes it.
// Generate uses it where it is there.
type StreamAnswerer interface {
	Answerer
	// AnswerStream is Answer that calls token with each piece as it comes, from
	// the caller's goroutine. What was told is a draft: the answer returned counts.
	AnswerStream(ctx context.Context, t state.Task, token func(Token)) (state.Answer, error)
}

// Token is the payload of the live events of generate: a piece of an answer
// under way.
type Token struct {
	Text string
	// Void takes back all that was told of this answer before; Text is empty then.
	Void bool
}

// Maker is a skill that says what does its work: "offline", or the name of a
// model. Skills may implement it; traces show it.
type Maker interface {
	By() string
}
