package nodes

import (
	"context"

	"example.com/ragflow/state"
)

// Searcher finds chunks. Implementations are safe for concurrent use and give
// the same hits in the same order for the same query and index.
type Searcher interface {
	// Search returns up to k hits, best first. A hit has one leg for each list that
	// contains it. The caller sets Leg.Query.
	Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error)
	// Chunks returns chunks by ID, in the order of ids. Chunks that are no longer in
	// the index are left out.
	Chunks(ctx context.Context, ids []string) ([]state.Chunk, error)
}

// Rewriter turns a question into queries. It uses the memory of the thread.
type Rewriter interface {
	Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error)
}

// Grader grades how well the best passages, up to [FeedbackChunks], fit the question.
// Only the first [GradedChunks] count; the others are for comparison. queries are
// the queries that were searched, the question as asked first.
type Grader interface {
	Grade(ctx context.Context, queries []state.Query, best []state.Source) (state.Grade, error)
}

// Reranker sorts candidates. It may drop the last ones and must not add any.
type Reranker interface {
	Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) (Reranked, error)
}

// Reranked are candidates in the order of a reranker.
type Reranked struct {
	Sources []state.Source // best first, with the scores of the reranker
	Judged  *float64       // see [state.Ranking]
}

// Summarizer extends the running summary by older messages, which then leave the
// live state.
type Summarizer interface {
	Summarize(ctx context.Context, summary string, older []state.Message) (string, error)
}

// Answerer writes the answer.
type Answerer interface {
	Answer(ctx context.Context, t state.Task) (state.Answer, error)
}

// StreamAnswerer is an Answerer that can stream its text. Generate streams if the
// answerer implements it.
type StreamAnswerer interface {
	Answerer
	// AnswerStream is like Answer. It also calls token with each piece of text, from the caller's goroutine. The
	// pieces are a draft, safe to show at every moment; only the returned answer counts.
	AnswerStream(ctx context.Context, t state.Task, token func(Token)) (state.Answer, error)
}

// Verifier reads again what the rules of the check found to be supported.
type Verifier interface {
	// Verify reports for each statement of an answer whether the passage with the same index supports it; nil if
	// it cannot tell.
	Verify(ctx context.Context, statements, passages []string) ([]bool, error)
}

// Token is the payload of live events: a piece of the answer.
type Token struct {
	Text string
	// Void withdraws all earlier pieces of this answer; Text, if there is any, takes their place.
	Void bool
}

// Maker is an optional interface of skills. By returns "offline" or the name of the
// model; traces show it.
type Maker interface {
	By() string
}
