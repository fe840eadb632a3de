package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// PostRetrieval returns the node that builds the context of the best passages of the
// ranking. It drops near-duplicates, chunks beyond maxPerDocument and chunks that look
// like prompt injection. It cuts the rest to the limits of o, in rank order. It calls no
// model. texts may be nil.
func PostRetrieval(s Searcher, texts *Texts, o ContextOptions) Node {
	o, invalid := o.WithDefaults()
	texts = texts.orNew()
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if invalid != nil {
			return state.Update{}, invalid
		}
		if len(st.Turn.Hits) == 0 {
			graph.Skip(ctx, SkippedNoDocs)
			return state.Update{}, nil
		}
		ranked, err := rankedSources(ctx, s, st.Turn)
		if err != nil {
			return state.Update{}, err
		}
		graph.Note(ctx, "ranked", strconv.Itoa(len(ranked)))
		sources := o.sentences(o.choose(ctx, ranked, texts), st.Turn.Query, st.Turn.Language)
		sources, tokens := o.fit(ctx, sources, st.Turn.Language)
		graph.Note(ctx, "sources", strconv.Itoa(len(sources)))
		graph.Note(ctx, "tokens", strconv.Itoa(tokens))
		for i, c := range sources {
			graph.Note(ctx, "source "+strconv.Itoa(i+1), fmt.Sprintf("%s (%.4f)", place(c.Chunk), c.Score))
		}
		return state.Update{Sources: &sources}, nil
	}
}

// words returns the words of s in lower case, in any language.
func words(s string) []string {
	tokens := text.For("").Analyze(s)
	out := make([]string, len(tokens))
	for i, t := range tokens {
		out[i] = t.Term
	}
	return out
}

// document identifies the document of a chunk.
type document struct{ root, source string }

func documentOf(s state.Source) document { return document{s.Root, s.Source} }

// choose returns the best sources. It drops near-duplicates and prompt injections.
// One document gets more than maxPerDocument places only if no other document needs
// them.
func (o ContextOptions) choose(ctx context.Context, ranked []state.Source, texts *Texts) []state.Source {
	kept := texts.distinct(ranked, rank.Above(contextSimilarity))
	perDocument := map[document]int{}
	var surplus []int
	chosen := make([]int, 0, o.MaxSources)
	filter := injectionFilter{texts: texts, trusting: o.TrustDocuments}
	add := func(i int) {
		if len(chosen) < o.MaxSources && !filter.drop(ctx, ranked[i]) {
			chosen = append(chosen, i)
		}
	}
	for _, i := range kept {
		d := documentOf(ranked[i])
		if perDocument[d]++; perDocument[d] > maxPerDocument {
			surplus = append(surplus, i)
		} else {
			add(i)
		}
	}
	limited := len(surplus) - (o.MaxSources - len(chosen)) // one document may fill the context if there are few
	for _, i := range surplus {
		add(i)
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
