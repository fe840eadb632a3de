package offline

import (
	"cmp"
	"context"
	"slices"

	"example.com/ragflow/state"
)

// How much coverage and title count beside the score of the search.
const (
	coverWeight   = 0.3
	titleShare    = 0.1
	stepsWeight   = 0.4  // of steps below a heading that names what shall be done
	openingCut    = 0.85 // of the question that the title of a page must hold for…
	changeLoss    = 0.5  // of notes of releases, where none are asked for
	testLoss      = 0.4  // of code that tests, where none is asked for
	openingWeight = 0.6  // of the opening of a page whose title is what shall be defined
)

// Reranker orders candidates for the context by the score of the search,
// brought to 0–1, by how much of the question the passage and its best sentence
// cover, and by how well the title or a heading names it.
type Reranker struct {
	maker
	lex lexicon
}

// NewReranker returns a reranker for the index that stats describes.
func NewReranker(stats Stats) *Reranker { return &Reranker{lex: newLexicon(stats)} }

// Rerank returns the candidates in their new order, each with the score that
// put it there; equal ones keep theirs. It never fails.
func (r *Reranker) Rerank(_ context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	terms := r.lex.question(strongest(queries))
	kind, own, words := Fact, []weighed(nil), []string(nil)
	var signs []string
	if len(queries) > 0 {
		signs = symbols(queries[0].Text)
		question, _ := asked(queries[0].Text)
		kind, own, words = TypeOf(question), r.lex.question(state.Query{Text: question}), plainWords(question)
	}
	best := 0.0
	for _, c := range candidates {
		best = max(best, c.Score)
	}
	out := slices.Clone(candidates)
	for i, c := range candidates {
		score := 0.0
		if best > 0 {
			score = c.Score / best
		}
		p := r.lex.passage(1, c)
		gain := repeats(words, p.plain)
		if kind == Message {
			gain = min(messageGain*gain, messageMost)
		}
		score += gain + symbolGain(signs, c.Chunk, &p)
		if changes(c.Source) && !asksForChanges(queries[0].Text) {
			score -= changeLoss
		}
		if tests(c.Chunk) && !asksForTests(queries[0].Text) {
			score -= testLoss
		}
		if kind == HowTo {
			score += stepsWeight * stepsFit(terms, &p)
		}
		if kind == Definition && len(signs) == 0 && c.Ordinal == 0 && coverage(own, p.names[0].in) >= openingCut {
			score += openingWeight * titled(own, p.names[:1])
		}
		out[i].Score = (1-coverWeight-titleShare)*score + coverWeight*cover(terms, p) + titleShare*titled(terms, p.names)
	}
	slices.SortStableFunc(out, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// stepsFit is how well the heading of a section with steps says what is asked.
func stepsFit(terms []weighed, p *passage) float64 {
	best := 0.0
	for sec := range p.sections {
		if p.sections[sec].begins && p.steps(sec) >= 0 {
			best = max(best, named(terms, p, sec))
		}
	}
	return best
}

// titled is how well the title of a page, or a heading above a passage, names
// what the question is about: the share of the question that it holds times
// the share of it that the question asks for.
func titled(terms []weighed, names []set) float64 {
	best := 0.0
	for _, in := range names {
		asked := 0
		covered := coverage(terms, func(t string) float64 {
			if in.has(t) {
				asked++
				return 1
			}
			return 0
		})
		best = max(best, covered*min(1, float64(asked)/float64(max(1, in.size()))))
	}
	return best
}
