package nodes

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/rank"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// PostRetrieval returns the node that makes the context: the best candidates
// are reranked, near-duplicates, surplus chunks of one document and chunks that
// read like orders to a model are left out, lists and tables that are cut are
// completed where the searcher is a [Neighbour], and what remains is cut to the
// limits of o, in rank order. It calls no model unless the reranker is one.
func PostRetrieval(s Searcher, r Reranker, o ContextOptions) Node {
	o, invalid := o.WithDefaults()
	alike, signs := newLikeness(), newSuspicions()
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if invalid != nil {
			return state.Update{}, invalid
		}
		if len(st.Turn.Hits) == 0 {
			graph.Skip(ctx, SkippedNoDocs)
			return state.Update{}, nil
		}
		candidates, err := candidatesOf(ctx, s, st.Turn, alike)
		if err != nil {
			return state.Update{}, err
		}
		ranked, err := r.Rerank(ctx, st.Turn.Queries, candidates)
		if err != nil {
			return state.Update{}, fmt.Errorf("rerank: %w", err)
		}
		noteBy(ctx, r)
		graph.Note(ctx, "candidates", strconv.Itoa(len(candidates)))
		sources, err := o.complete(ctx, s, o.choose(ctx, ranked, alike, signs), signs)
		if err != nil {
			return state.Update{}, err
		}
		sources = o.sentences(sources, st.Turn.Query, st.Turn.Language)
		sources, tokens := o.fit(ctx, sources, st.Turn.Language)
		graph.Note(ctx, "sources", strconv.Itoa(len(sources)))
		graph.Note(ctx, "tokens", strconv.Itoa(tokens))
		for i, c := range sources {
			graph.Note(ctx, "source "+strconv.Itoa(i+1), fmt.Sprintf("%s (%.4f)", place(c.Chunk), c.Score))
		}
		return state.Update{Sources: &sources}, nil
	}
}

// candidatesOf reads the best hits' chunks, without those that are nearly the
// same text as a better one, and of those told before only what is left.
func candidatesOf(ctx context.Context, s Searcher, t state.Turn, alike likeness) ([]state.Source, error) {
	best := t.Hits[:min(len(t.Hits), 2*Candidates)]
	byID, err := chunksOf(ctx, s, best)
	if err != nil {
		return nil, err
	}
	all := make([]state.Source, 0, len(best))
	for _, h := range best {
		c, ok := byID[h.Chunk]
		if ok {
			c, ok = goOn(c, t.Queries)
		}
		if ok {
			all = append(all, state.Source{Chunk: c, Score: h.Score})
		}
	}
	kept := make([]state.Source, 0, len(all))
	for _, i := range alike.distinct(all, rank.AtLeast(rank.NearDuplicate)) {
		kept = append(kept, all[i])
	}
	return withOpenings(kept, Candidates), nil
}

// withOpenings returns limit candidates: the best, except that the openings of
// documents found further down take the places of the last ones, up to a third
// of all. An opening says what a document is about, which is what many
// questions ask; the search likes passages that repeat its words better.
func withOpenings(all []state.Source, limit int) []state.Source {
	if len(all) <= limit {
		return all
	}
	var openings []state.Source
	for _, c := range all[limit:] {
		if c.Ordinal == 0 && len(openings) < limit/3 {
			openings = append(openings, c)
		}
	}
	return append(slices.Clone(all[:limit-len(openings)]), openings...)
}

// mostCompared is how many texts a likeness remembers at least: 3 to 6 KB each.
const mostCompared = 512

// likeness tells which texts are alike. It remembers their words: candidates
// are compared once more when they are ranked, and follow-ups find them again.
type likeness struct {
	read *memo.Cache[string, rank.Vector]
}

func newLikeness() likeness { return likeness{memo.New[string, rank.Vector](mostCompared)} }

// distinct returns the indices of the sources, in order, of which none is as
// alike to an earlier one as the cut says.
func (l likeness) distinct(sources []state.Source, duplicate rank.Cut) []int {
	vectors := make([]rank.Vector, len(sources))
	for i, s := range sources {
		vectors[i] = l.read.Get(s.Text, func() rank.Vector { return rank.TextVector(s.Text) })
	}
	return rank.Distinct(vectors, duplicate)
}

// words returns the words of s in lower case, whatever its language.
func words(s string) []string {
	tokens := text.For("").Analyze(s)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Term
	}
	return out
}

// document is what a chunk is a part of.
type document struct{ root, source string }

func documentOf(s state.Source) document { return document{s.Root, s.Source} }

// together puts a passage that begins with a later step of a list right behind the one
// that the list begins in, so that the limits part no steps. It takes and returns
// indices into ranked.
func together(ranked []state.Source, of []int) []int {
	out := make([]int, 0, len(of))
	for _, i := range of {
		for i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
			i = nextSteps(ranked, of, ranked[i])
		}
	}
	return out
}

// nextSteps is the one of some indices at which the list goes on that another passage
// ends within; -1 where there is none.
func nextSteps(ranked []state.Source, of []int, before state.Source) int {
	for _, i := range of {
		if c := ranked[i]; c.Ordinal == before.Ordinal+1 && documentOf(c) == documentOf(before) && laterStep.MatchString(c.Text) {
			return i
		}
	}
	return -1
}

var laterStep = regexp.MustCompile(`^\s*(?:[2-9]|[1-9]\d)[.)]\s`)

// choose takes the best sources, without near-duplicates, without more than
// MaxPerDocument of one document while others have some, and without what reads like
// orders to a model.
func (o ContextOptions) choose(ctx context.Context, ranked []state.Source, alike likeness, signs suspicions) []state.Source {
	kept := alike.distinct(ranked, rank.Above(contextSimilarity))
	of := map[document]int{}
	var surplus []int
	chosen := make([]int, 0, o.MaxSources)
	guard := wary{signs: signs, trusting: o.TrustDocuments}
	take := func(i int) {
		if len(chosen) < o.MaxSources && !guard.leavesOut(ctx, ranked[i]) {
			chosen = append(chosen, i)
		}
	}
	for _, i := range together(ranked, kept) {
		d := documentOf(ranked[i])
		if of[d]++; of[d] > MaxPerDocument {
			surplus = append(surplus, i)
		} else {
			take(i)
		}
	}
	limited := len(surplus) - (o.MaxSources - len(chosen)) // of few documents, one may fill the context
	for _, i := range surplus {
		take(i)
	}
	slices.Sort(chosen)
	sources := make([]state.Source, len(chosen))
	for at, i := range chosen {
		sources[at] = ranked[i]
	}
	graph.Note(ctx, "near-duplicates", strconv.Itoa(len(ranked)-len(kept)))
	graph.Note(ctx, "over document limit", strconv.Itoa(max(0, limited)))
	return sources
}
