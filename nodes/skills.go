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
// Only the first gradedChunks count; the others are for comparison. queries are
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

// Answerer answers without a model, by quotes. Its Task.Grade says how sure it is.
type Answerer interface {
	Answer(ctx context.Context, t state.Task) (state.Answer, error)
}

// Writer writes answers with a model.
type Writer interface {
	// Write returns the answer and gives each piece of it to d while it is written, from
	// the caller's goroutine. The pieces and the answer are safe to show. If the model
	// declines, Abstained is set and Text is the refusal. If all models fail, the error is
	// a [*WriterError].
	Write(ctx context.Context, t state.Task, d Draft) (state.Answer, error)
}

// Draft takes an answer that is being written.
type Draft interface {
	// Write adds the next piece.
	Write(piece string)
	// Restart discards all pieces, so that another model can write the answer. It returns
	// false if some of them were shown for good.
	Restart() bool
}

// WriterError is the error of models that all failed.
type WriterError struct {
	Model    string // that was asked last
	Err      error
	Reported bool // an earlier warning says that the model fails
}

func (e *WriterError) Error() string { return e.Err.Error() }

// Verifier reads again what the rules of the check found to be supported.
type Verifier interface {
	// Verify reports for each statement of an answer whether the passage with the same index supports it; nil if
	// it cannot tell.
	Verify(ctx context.Context, statements, passages []string) ([]bool, error)
}

// Token is the payload of live events: a piece of the answer.
type Token struct {
	Text string
	// Void withdraws all earlier pieces of this answer; Text, if there is any, takes their
	// place. It is never set if [Answering].Checked is.
	Void bool
}

// maker is an optional interface of skills. By returns "offline" or the name of the
// model; traces show it.
type maker interface {
	By() string
}
