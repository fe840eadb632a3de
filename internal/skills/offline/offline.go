// Package offline holds the skills of the conversation nodes that need no
// model: it searches for follow-ups, grades what was found, answers with whole
// passages and keeps a running summary.
//
//	skills := offline.New(myIndex, 0)
//	plan, err := skills.Rewriter.Rewrite(ctx, "and how do I back it up?", thread.Memory())
//
// Rules:
//
//   - Deterministic: the same input and the same index give the same bytes.
//   - Nothing is made up. An answer shows passages of the documents, each with
//     its [Source N]; the citation beside it holds the exact bytes.
//   - Everything is safe for concurrent use and holds no state between calls.
//   - Instructions inside documents have no effect: text is only counted and
//     quoted.
//
// How it works: a passage is parsed into blocks (paragraphs, list items, table
// rows, code) and these into sentences. One logistic model over a dozen features
// scores every sentence against the question ([Answerer.Rank]); the answer shows
// the blocks around the best ones. A second regression over the same features,
// and over how far the best passage leads, says how likely it is that the answer
// is there ([Grader]). The coefficients are in coefficients.go; the program
// scripts/learn-answers learns them, and docs/answers-ablation.md says what each
// feature is worth.
package offline

import (
	"example.com/ragflow/internal/dictionary"
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

// Skills are all skills for one index. They share parsed passages.
type Skills struct {
	Rewriter   *Rewriter
	Grader     *Grader
	Reranker   *Reranker
	Summarizer *Summarizer
	Answerer   *Answerer
}

// New returns the skills for the index that stats describes. Grades below
// threshold abstain; 0 means [DefaultThreshold].
func New(stats Stats, threshold float64) Skills {
	if threshold == 0 {
		threshold = DefaultThreshold
	}
	l := newLexicon(stats)
	return Skills{
		Rewriter:   &Rewriter{lex: l, words: dictionary.BuiltIn()},
		Grader:     &Grader{lex: l, threshold: threshold},
		Reranker:   &Reranker{lex: l},
		Summarizer: &Summarizer{lex: l},
		Answerer:   &Answerer{lex: l, threshold: threshold},
	}
}

// ForTurn returns the skills for one question: grades below threshold abstain, and hasModel
// says that a model is configured. They share everything else with s.
func (s Skills) ForTurn(threshold float64, hasModel bool) Skills {
	grader, answerer := *s.Grader, *s.Answerer
	grader.threshold, answerer.threshold, answerer.HasModel = threshold, threshold, hasModel
	s.Grader, s.Answerer = &grader, &answerer
	return s
}

// maker is embedded by the skills, so that each says who it is.
type maker struct{}

// By returns [Name].
func (maker) By() string { return Name }

// strongest is the query that the search weighs most: the raw turn, or its expanded form where
// the turn needs the conversation. Where a model put the turn in the language of the documents,
// which is a query of the same weight without boosts, it is that one. queries may be empty.
// A query of other words for the same lends it those.
func strongest(queries []state.Query) state.Query {
	best := readings(queries)[0]
	for _, q := range queries {
		if q.Why == otherWords && q.Text == best.Text {
			best.Boosts = q.Boosts
		}
	}
	return best
}

// readings are the strongest query and, where it is not the raw turn, those that weigh as much:
// what a model made of a turn, and what the conversation lends it.
func readings(queries []state.Query) []state.Query {
	if len(queries) == 0 {
		return []state.Query{{}}
	}
	best := queries[:1:1]
	for _, q := range queries[1:] {
		raw := &best[0] == &queries[0]
		if q.Attempt > 1 || q.Part > 0 || q.Weight < best[0].Weight {
			continue
		}
		switch same := q.Weight == best[0].Weight; {
		case !same || raw && len(q.Boosts) == 0:
			best = []state.Query{q}
		case !raw:
			best = append(best, q)
		}
	}
	return best
}
