// Package offline implements the skills of the conversation nodes without a model: it plans searches, grades
// passages, answers with quotes and keeps a running summary.
//
//	skills := offline.New(myIndex, 0)
//	plan, err := skills.Rewriter.Rewrite(ctx, "and how do I back it up?", thread.Memory())
//
// Rules:
//
//   - Deterministic: the same input and the same index give the same bytes.
//   - Answers only quote. Each passage has its [Source N], with the exact bytes in its citation.
//   - Everything is safe for concurrent use and keeps no state between calls.
//   - Instructions inside documents have no effect: text is only counted and quoted.
//
// How it works: a passage is parsed into blocks (paragraphs, list items, table rows, code), and blocks into
// sentences. A logistic model scores every sentence against the question ([Answerer.Rank]); the answer shows
// the blocks around the best ones. A second regression, over the same features and the lead of the best
// passage, estimates whether the answer is there ([Grader]). scripts/learn-answers learns the coefficients;
// docs/answers-ablation.md shows the value of each feature.
package offline

import (
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Name identifies the offline skills in traces and answers.
const Name = "offline"

// DefaultThreshold is the grade below which the search is refined.
const DefaultThreshold = 0.5

// Stats describes the index: how common words are, and how it splits text into terms. Implementations are
// safe for concurrent use.
type Stats interface {
	Analyzer() text.Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that contain a term of the analyzer
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
// threshold bring a refined query; 0 means [DefaultThreshold].
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
		Answerer:   &Answerer{lex: l},
	}
}

// ForTurn returns the skills for one question: threshold is as for [New], and hasModel
// says that a model is configured. They share everything else with s.
func (s Skills) ForTurn(threshold float64, hasModel bool) Skills {
	grader, answerer := *s.Grader, *s.Answerer
	grader.threshold, answerer.HasModel = threshold, hasModel
	s.Grader, s.Answerer = &grader, &answerer
	return s
}

// maker is embedded by the skills to implement By.
type maker struct{}

// By returns [Name].
func (maker) By() string { return Name }

// mainQuery returns the query with the largest weight: the raw turn; if the turn depends on earlier ones, its
// expanded form; if a model translated it, the translation, which has the same weight and no boosts. Boosts
// of a query with synonyms are included. queries may be empty.
func mainQuery(queries []state.Query) state.Query {
	best := variants(queries)[0]
	for _, q := range queries {
		if q.Why == otherWords && q.Text == best.Text {
			best.Boosts = q.Boosts
		}
	}
	return best
}

// variants returns the main query and, if it is not the raw turn, the others of the same weight: the versions
// of a model and of the conversation.
func variants(queries []state.Query) []state.Query {
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
