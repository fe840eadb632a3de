package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/memo"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/rank"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// Ways to search, for Dense.Leg and [SearchOptions].
const (
	LegHybrid  = "hybrid"         // by words and by meaning, fused
	LegLexical = index.LegLexical // by words
	LegDense   = index.LegDense   // by meaning: the vectors of an embedder
	LegGraph   = index.LegGraph   // by the names of documents; where links are followed, also what they lead to
)

// legs lists the ways to search.
func legs() []string { return []string{LegHybrid, LegLexical, LegDense, LegGraph} }

// ErrEmbedderChanged tells that the vectors in the index were made by another
// embedder than the configured one. Searches go on by words; [Assistant.Reembed]
// makes the vectors anew.
var ErrEmbedderChanged = index.ErrEmbedderChanged

// ErrNoDense tells that a dense search was asked for where there is none: no
// embedder is configured, or nothing was embedded yet.
var ErrNoDense = errors.New("there is no dense search")

// ErrEmbedding tells that the embedder could not make the vector of a question; the
// error that wraps it wraps the embedder's own too.
var ErrEmbedding = errors.New("the question cannot be embedded")

// hybrid searches by words and by meaning. It is bound to one snapshot of the
// index, as its Searcher is.
type hybrid struct {
	*index.Searcher
	config  Config
	queries *queryVectors
	shares  *memo.Cache[string, float64] // see covered

	mu      sync.Mutex // held while vectors are loaded
	vectors atomic.Pointer[index.Vectors]
	fault   error // why there can be none in this snapshot

	whole *hybrid // that this one finds a part of, and whose vectors it has; nil: it is whole
}

var _ nodes.Searcher = (*hybrid)(nil)

// newHybrid returns the searcher of an engine. An embedder that does not fit
// the index is found out here, once.
func (a *Assistant) newHybrid(ctx context.Context, s *index.Searcher) (*hybrid, error) {
	h := &hybrid{Searcher: s, config: a.config, queries: a.queries, shares: memo.New[string, float64](rememberedQueries)}
	if a.config.Embedder == nil {
		h.fault = fmt.Errorf("%w: no embedding model is configured", ErrNoDense)
		return h, nil
	}
	err := s.CheckEmbedder(ctx, a.config.embedder())
	if errors.Is(err, ErrEmbedderChanged) {
		h.fault, err = err, nil
	}
	return h, err
}

// Search implements nodes.Searcher. What kept the dense leg from taking part
// becomes a warning of the task; words are always searched by then.
func (h *hybrid) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	if len(q.Phrases)+len(q.Without) > 0 {
		narrowed, err := h.only(ctx, state.Filter{}, q)
		if err != nil {
			return nil, err
		}
		q.Phrases, q.Without = nil, nil
		return narrowed.Search(ctx, q, k)
	}
	found, err := h.search(ctx, q, k, 0, h.config.Dense.Leg)
	hits, warnings := found.hits, found.warnings
	if err != nil && ctx.Err() == nil && h.config.Dense.Leg == LegDense {
		warnings = []string{leftOut(err)}
		hits, err = h.Searcher.Search(ctx, q, k)
	}
	if err == nil {
		hits, err = h.follow(ctx, q, hits, k)
	}
	for _, w := range warnings {
		graph.Warn(ctx, w)
	}
	if err == nil && h.config.Dense.Leg != LegDense {
		for _, r := range h.Respelled(q.Text) {
			graph.Note(ctx, "searched also for", respelling(r))
		}
	}
	if said := h.turnedDown(q, h.config.Dense.Leg); said != "" && err == nil && len(warnings) == 0 {
		graph.Note(ctx, "legs", said)
	}
	return hits, err
}

// respelling says what is searched for besides a word that no document has.
func respelling(r index.Respelled) string {
	terms := make([]string, len(r.Terms))
	for i, t := range r.Terms {
		terms[i] = t.Term
	}
	return fmt.Sprintf("%s, for no document has %q", strings.Join(terms, ", "), r.Word)
}

// search searches by one leg, or by all that have a weight side by side, fuses what
// they find, and returns the k best, and spare more. A leg that cannot take part, or finds nothing, leaves its
// weight to the others; one of weight 0 is not asked. Only where the dense leg
// was asked for by name is its failure an error.
func (h *hybrid) search(ctx context.Context, q state.Query, k, spare int, leg string) (f findings, err error) {
	if !slices.Contains(legs(), leg) {
		return f, fmt.Errorf("unknown search leg %q: use one of %s", leg, strings.Join(legs(), ", "))
	}
	asked := h.sources(q, k, leg)
	if len(asked) == 1 {
		f.hits, f.warnings, err = asked[0].find(ctx, k+spare)
		if err == nil && asked[0].leg == LegLexical {
			f.hits, err = h.titled(ctx, q, f.hits, k+spare)
		}
		return f, err
	}
	lists, warnings, err := askAll(ctx, asked)
	if err != nil {
		return f, err
	}
	if i := slices.IndexFunc(asked, func(s source) bool { return s.leg == LegDense }); i >= 0 && h.config.Retrieval.auto {
		f.dense = meaningOf(lists[i], h.Docs()*h.Passing()/max(1, h.Files()))
	}
	share(asked, lists)
	fused := h.config.Retrieval.fuse(rank.Merge(lists...), func(l state.Leg) float64 { return l.Of(1) })
	f.warnings = warnings
	f.hits, err = h.titled(ctx, q, fused[:min(k+spare, len(fused))], k+spare)
	return f, err
}

// titled puts the openings of pages that have the topic of a question for a definition
// as their title in front of hits, k in all: a page about a thing names it less often
// than a list of its versions does.
func (h *hybrid) titled(ctx context.Context, q state.Query, hits []state.Hit, k int) ([]state.Hit, error) {
	topic := offline.Topic(q.Text)
	if topic == "" || len(hits) == 0 {
		return hits, nil
	}
	first, err := h.Openings(ctx, topic)
	if err != nil || len(first) == 0 {
		return hits, err
	}
	for i := range first {
		first[i].Score = hits[0].Score
		if at := slices.IndexFunc(hits, func(o state.Hit) bool { return o.Chunk == first[i].Chunk }); at >= 0 {
			first[i].Legs = append(slices.Clone(hits[at].Legs), first[i].Legs...)
			hits = slices.Delete(slices.Clone(hits), at, at+1)
		}
	}
	out := append(first, hits...)
	return out[:min(k, len(out))], nil
}

// findings are what a search found.
type findings struct {
	hits     []state.Hit
	warnings []string
	dense    meant // of several legs
}

// follow adds to the hits of a search what links of the best ones lead to, where
// that is configured, and keeps the k best.
func (h *hybrid) follow(ctx context.Context, q state.Query, hits []state.Hit, k int) ([]state.Hit, error) {
	if h.config.Retrieval.Hops <= 0 {
		return hits, nil
	}
	hits, err := h.Expand(ctx, q, hits, index.Expansion{Hops: h.config.Retrieval.Hops, Limit: k})
	return hits[:min(k, len(hits))], err
}

// source is a leg that takes part in a search.
type source struct {
	leg      string
	weight   float64
	depth    int  // hits it is asked for
	optional bool // where it fails, the others do without
	find     func(ctx context.Context, k int) ([]state.Hit, []string, error)
}

// sources lists the legs to ask, each for twice as many hits as are wanted
// unless a depth is configured.
func (h *hybrid) sources(q state.Query, k int, leg string) []source {
	w := h.config.Retrieval.Weights.only(leg)
	if leg == LegHybrid && h.config.Embedder == nil {
		w = Weights{Lexical: cmp.Or(w.Lexical, 1), Graph: w.Graph}
	}
	r := h.config.Retrieval
	if r.auto && w.Dense > 0 && w.Lexical > 0 {
		w.Lexical *= h.wordsTell(q)
	}
	var out []source
	if w.Lexical > 0 {
		out = append(out, source{leg: LegLexical, weight: w.Lexical, depth: cmp.Or(r.LexicalDepth, 2*k), find: func(ctx context.Context, k int) ([]state.Hit, []string, error) {
			hits, err := h.Searcher.Search(ctx, q, k)
			return hits, nil, err
		}})
	}
	if w.Dense > 0 {
		out = append(out, source{leg: LegDense, weight: w.Dense, depth: cmp.Or(r.DenseDepth, 2*k), optional: true, find: func(ctx context.Context, k int) ([]state.Hit, []string, error) {
			return h.searchDense(ctx, q, k)
		}})
	}
	if w.Graph > 0 {
		out = append(out, source{leg: LegGraph, weight: w.Graph, depth: index.MostNamed, find: func(ctx context.Context, k int) ([]state.Hit, []string, error) {
			hits, err := h.SearchNames(ctx, q, k)
			return hits, nil, err
		}})
	}
	return out
}

// wordsTell is how much the words of a query tell, above 0 up to 1. Never 0: what
// they find by chance still comes last.
func (h *hybrid) wordsTell(q state.Query) float64 { return max(0.01, h.covered(q.Text)) }

// covered is the share of a question's words, by how rare they are, that stand in
// some document. It is remembered: a search asks for it more than once.
func (h *hybrid) covered(question string) float64 {
	return h.shares.Get(question, func() float64 { return h.coverage(question) })
}

func (h *hybrid) coverage(question string) float64 {
	var known, all float64
	seen := map[string]bool{}
	for _, t := range h.Analyzer().Analyze(question) {
		if seen[t.Term] {
			continue
		}
		seen[t.Term] = true
		idf := h.IDF(t.Term)
		all += idf
		if h.DocFreq(t.Term) > 0 {
			known += idf
		}
	}
	if all == 0 {
		return 0
	}
	return known / all
}

// turnedDown says that words count less than meaning; empty where they do not.
func (h *hybrid) turnedDown(q state.Query, leg string) string {
	w := h.config.Retrieval.Weights
	if leg != LegHybrid || !h.config.Retrieval.auto || h.config.Embedder == nil || w.Dense == 0 || w.Lexical == 0 {
		return ""
	}
	covered := h.covered(q.Text)
	if covered*w.Lexical >= w.Dense {
		return ""
	}
	return fmt.Sprintf("searched mostly by meaning: only %.0f %% of what the question says, in words, stands in the documents", 100*covered)
}

// askAll asks sources side by side. An optional one that fails gives a warning, and
// one that panics fails.
func askAll(ctx context.Context, asked []source) (lists [][]state.Hit, warnings []string, err error) {
	lists = make([][]state.Hit, len(asked))
	said, faults := make([][]string, len(asked)), make([]error, len(asked))
	ask := func(i int) {
		s := asked[i]
		defer func() {
			if r := recover(); r != nil {
				faults[i] = fmt.Errorf("the %s search panicked: %v", s.leg, r)
			}
			if faults[i] != nil && s.optional {
				said[i], faults[i] = []string{leftOut(faults[i])}, nil
			}
		}()
		lists[i], said[i], faults[i] = s.find(ctx, s.depth)
	}
	var wg sync.WaitGroup
	for i := 1; i < len(asked); i++ {
		wg.Go(func() { ask(i) })
	}
	if len(asked) > 0 {
		ask(0)
	}
	wg.Wait()
	if err = context.Cause(ctx); err == nil {
		err = errors.Join(faults...)
	}
	return lists, slices.Concat(said...), err
}

// leftOut tells that the dense leg did not take part.
func leftOut(err error) string {
	return "Dense search left out, searched by words only: " + err.Error()
}

// share gives each leg of a list its share of the query's weight, among the
// sources that found something. It owns lists.
func share(asked []source, lists [][]state.Hit) {
	found, all := 0, 0.0
	for i, s := range asked {
		if len(lists[i]) > 0 {
			found++
			all += s.weight
		}
	}
	if found < 2 {
		return
	}
	for i, s := range asked {
		for _, h := range lists[i] {
			for l := range h.Legs {
				h.Legs[l].Share = s.weight / all
			}
		}
	}
}

// only returns a searcher of what passes a filter and holds what a query says
// must be there.
func (h *hybrid) only(ctx context.Context, f state.Filter, q state.Query) (*hybrid, error) {
	s, err := h.Only(f)
	if err == nil {
		s, err = s.Matching(ctx, q)
	}
	if err != nil || s == h.Searcher {
		return h, err
	}
	return &hybrid{Searcher: s, config: h.config, queries: h.queries, shares: h.shares, whole: h}, nil
}
