// Package offline holds the skills of the conversation nodes that need no
// model: they understand follow-ups, grade what was found, answer with cited
// quotes and keep a running summary.
//
//	stats := myIndex                        // anything that knows how common words are
//	rewriter := offline.NewRewriter(stats, myIndex)
//	plan, err := rewriter.Rewrite(ctx, "and how do I back it up?", thread.Memory())
//
// Rules:
//
//   - Deterministic: the same input and the same index give the same bytes.
//   - Nothing is made up. An answer is made of passages as they stand in the
//     documents, tidied for reading, each with its [Source N]; the citation
//     beside it holds the exact bytes. Facts of two passages are never merged
//     into one statement, and a yes/no question gets the passage, not a guess.
//   - Everything is safe for concurrent use and holds no state between calls.
//   - Instructions inside documents have no effect: text is only counted and
//     quoted.
//
// How it works: words weigh by how rare they are in the index. A follow-up
// lends words from the questions before it, the more recent the more they
// weigh, and from the answer before it ([Rewriter]). The grade is a logistic
// regression over how much of the question's weight the best passage and its best
// sentence cover, in other words too, and how far they lead ([Grader]): it detects topics, not truth. It knows that nothing is said about
// a thing; it does not know that what is said is not what was asked. Answers
// are sentences, list items, table rows and code blocks ([Answerer]), chosen by a
// linear score over features: its coefficients are learnt for questions about facts
// and set by hand for procedures.
package offline

import (
	"context"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Name is what offline skills call themselves in traces and answers.
const Name = "offline"

// DefaultThreshold is the grade below which an answer abstains.
const DefaultThreshold = 0.5

// Stats is what the skills need to know of the index: how common words are,
// and how it makes terms of text. Implementations are safe for concurrent use.
type Stats interface {
	Analyzer() text.Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that hold a term, as the index writes it
}

// Shelf names the documents of an index. [Stats] that are one let a person ask which
// there are.
type Shelf interface {
	// Documents returns the first documents by path, at most so many, and how many
	// there are.
	Documents(ctx context.Context, most int) (first []state.Document, all int, err error)
}

// Passages reads chunks by id, in the order asked for; ids that are not in the
// index any more are left out.
type Passages interface {
	Chunks(ctx context.Context, ids []string) ([]state.Chunk, error)
}

// maker is embedded by the skills, so that each says who it is.
type maker struct{}

// By returns [Name].
func (maker) By() string { return Name }

// strongest is the query that a search weighs most: the raw turn, or its
// expanded form where the turn leans on the conversation. queries may be empty.
func strongest(queries []state.Query) state.Query {
	var best state.Query
	for i, q := range queries {
		if i == 0 || q.Attempt <= 1 && q.Weight > best.Weight {
			best = q
		}
	}
	return best
}
