package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/rank"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// PostRetrieval returns the node that makes the context: the best candidates
// are reranked, near-duplicates, surplus chunks of one document and chunks that
// read like orders to a model are left out, and what remains is cut to [MaxSources] chunks and [MaxContextTokens]
// tokens, in rank order. It calls no model unless the reranker is one.
func PostRetrieval(s Searcher, r Reranker) Node {
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if len(st.Turn.Hits) == 0 {
			graph.Skip(ctx, SkippedNoDocs)
			return state.Update{}, nil
		}
		candidates, err := candidatesOf(ctx, s, st.Turn)
		if err != nil {
			return state.Update{}, err
		}
		ranked, err := r.Rerank(ctx, st.Turn.Queries, candidates)
		if err != nil {
			return state.Update{}, fmt.Errorf("rerank: %w", err)
		}
		noteBy(ctx, r)
		graph.Note(ctx, "candidates", strconv.Itoa(len(candidates)))
		sources := choose(ctx, ranked)
		sources = fit(ctx, sources, MaxContextTokens)
		graph.Note(ctx, "sources", strconv.Itoa(len(sources)))
		graph.Note(ctx, "tokens", strconv.Itoa(text.Count(Context(sources))))
		for i, c := range sources {
			graph.Note(ctx, "source "+strconv.Itoa(i+1), fmt.Sprintf("%s (%.4f)", place(c.Chunk), c.Score))
		}
		return state.Update{Sources: &sources}, nil
	}
}

// candidatesOf reads the best hits' chunks, without those that are nearly the
// same text as a better one, and of those told before only what is left.
func candidatesOf(ctx context.Context, s Searcher, t state.Turn) ([]state.Source, error) {
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
	for _, i := range distinct(all, rank.AtLeast(fusedSimilarity), len(all)) {
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

// distinct returns the indices of up to limit sources, in order, of which none
// is as alike to an earlier one as the cut says.
func distinct(sources []state.Source, duplicate rank.Cut, limit int) []int {
	vectors := make([]rank.Vector, len(sources))
	for i, s := range sources {
		vectors[i] = rank.NewVector(words(s.Text), nil)
	}
	kept := rank.Distinct(vectors, duplicate)
	return kept[:min(len(kept), limit)]
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

// choose takes the best sources, without near-duplicates, without more than
// MaxPerDocument of one document, and without what reads like orders to a model.
func choose(ctx context.Context, ranked []state.Source) []state.Source {
	kept := distinct(ranked, rank.Above(contextSimilarity), len(ranked))
	type document struct{ root, source string }
	of := map[document]int{}
	surplus := 0
	chosen := make([]state.Source, 0, MaxSources)
	var guard wary
	for _, i := range kept {
		d := document{ranked[i].Root, ranked[i].Source}
		if of[d]++; of[d] > MaxPerDocument {
			surplus++
			continue
		}
		if len(chosen) < MaxSources && !guard.leavesOut(ctx, ranked[i]) {
			chosen = append(chosen, ranked[i])
		}
	}
	graph.Note(ctx, "near-duplicates", strconv.Itoa(len(ranked)-len(kept)))
	graph.Note(ctx, "over document limit", strconv.Itoa(surplus))
	return chosen
}

// fit drops sources from the end until the context holds at most limit tokens.
// A first source that is too long by itself is cut at the end of a line, or of
// a word, so that there is always something to answer from.
func fit(ctx context.Context, sources []state.Source, limit int) []state.Source {
	all := text.Count(Context(sources))
	if all <= limit {
		return sources
	}
	n := len(sources)
	for n > 1 && text.Count(Context(sources[:n])) > limit {
		n--
	}
	sources = sources[:n]
	if n == 1 && text.Count(Context(sources)) > limit {
		sources = []state.Source{shorten(sources[0], limit)}
	}
	graph.Warn(ctx, fmt.Sprintf("Context truncated from %d to %d tokens", all, text.Count(Context(sources))))
	return sources
}

// shorten cuts the end off a source's text so that the context of this source
// alone holds at most limit tokens. What is left is still the document from
// Start to End.
func shorten(s state.Source, limit int) state.Source {
	fits := func(n int) bool {
		c := s
		c.Text = s.Text[:n]
		return text.Count(Context([]state.Source{c})) <= limit
	}
	low, high := 0, len(s.Text)
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	cut := s.Text[:low]
	if i := strings.LastIndexByte(cut, '\n'); i > low/2 {
		cut = cut[:i+1]
	} else if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	cut = strings.ToValidUTF8(cut, "")
	s.Text = cut
	s.End = s.Start + len(cut)
	s.EndLine = s.StartLine + strings.Count(strings.TrimSuffix(cut, "\n"), "\n")
	return s
}

// ContextSeparator stands between the sources of a context.
const ContextSeparator = "\n---\n"

// Context is the sources as a model is shown them: each labelled [Source N],
// N from 1, with [ContextSeparator] between them.
func Context(sources []state.Source) string {
	var b strings.Builder
	for i, s := range sources {
		if i > 0 {
			b.WriteString(ContextSeparator)
		}
		fmt.Fprintf(&b, "[Source %d]\n%s", i+1, s.Text)
	}
	return b.String()
}
