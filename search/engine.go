package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// Engine searches one snapshot of an index. It is safe for concurrent use.
type Engine struct {
	Snapshot
	o      Options
	dense  *denseLeg
	graph  *documentGraph
	passes func(*Document) bool // the filter; nil: all pass
}

// Found is the result of a search.
type Found struct {
	Hits     []state.Hit // best first
	Warnings []string    // why a leg did not take part
	Notes    []Note      // explanations for people

	nearness nearness // of the hits of the dense leg
}

// Note is a fact about a search.
type Note struct{ Name, Text string }

// New returns an engine for a snapshot. An embedder that does not fit the vectors of the index
// is no error: searches use words and warn.
func New(ctx context.Context, s Snapshot, o Options) (*Engine, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return nil, err
	}
	e := &Engine{Snapshot: s, o: o, dense: &denseLeg{snapshot: s, o: o}, graph: &documentGraph{}}
	if o.Embedder == nil {
		e.dense.fault = fmt.Errorf("%w: no embedding model is configured", ErrNoDense)
		return e, nil
	}
	err = s.CheckEmbedder(ctx, o.Dense.Spec(o.Embedder.Model()))
	if errors.Is(err, ErrEmbedderChanged) {
		e.dense.fault, err = err, nil
	}
	return e, err
}

// Narrowed returns an engine that finds only documents that pass a filter. The error is an
// [*UnknownKeyError] or names a condition that is malformed.
func (e *Engine) Narrowed(ctx context.Context, f state.Filter) (*Engine, error) {
	if f.Empty() {
		return e, nil
	}
	s, pass, err := narrow(ctx, e.Snapshot, f)
	if err != nil {
		return nil, err
	}
	return e.within(s, pass), nil
}

// within returns an engine for a snapshot that was narrowed by pass.
func (e *Engine) within(s Snapshot, pass func(*Document) bool) *Engine {
	passes := pass
	if e.passes != nil {
		passes = func(d *Document) bool { return e.passes(d) && pass(d) }
	}
	return &Engine{Snapshot: s, o: e.o, dense: &denseLeg{snapshot: s, o: e.o, whole: e.dense}, graph: e.graph, passes: passes}
}

// Narrow returns a snapshot that finds only documents that pass a filter; see [Engine.Narrowed].
func Narrow(ctx context.Context, s Snapshot, f state.Filter) (Snapshot, error) {
	narrowed, _, err := narrow(ctx, s, f)
	return narrowed, err
}

func narrow(ctx context.Context, s Snapshot, f state.Filter) (Snapshot, func(*Document) bool, error) {
	if f.Empty() {
		return s, nil, nil
	}
	docs, err := s.Documents(ctx)
	if err != nil {
		return nil, nil, err
	}
	pass, err := newFilter(f, docs)
	if err != nil {
		return nil, nil, err
	}
	narrowed, err := s.Narrow(ctx, pass)
	return narrowed, pass, err
}

// Search returns the k chunks that fit a query best, by the configured legs. If the dense leg
// fails, words are searched, with a warning.
func (e *Engine) Search(ctx context.Context, q state.Query, k int) (found Found, err error) {
	leg := e.legFor(q, e.o.Dense.Leg)
	if e.o.Observer != nil {
		inner, ended := e.o.Observer(ctx, q, leg, e.o.Source)
		defer func() { ended(found.Hits, err) }()
		ctx = inner
	}
	return e.search(ctx, q, k, leg)
}

func (e *Engine) search(ctx context.Context, q state.Query, k int, leg string) (Found, error) {
	found, err := e.byLegs(ctx, q, k, leg)
	if err != nil && ctx.Err() == nil && leg == LegDense {
		found.Warnings = []string{denseFailed(err)}
		var words Found
		words, err = e.byLegs(ctx, q, k, LegLexical)
		found.Hits = words.Hits
	}
	if err == nil {
		found.Hits, err = e.follow(ctx, q, found.Hits, k)
	}
	if err != nil {
		return Found{}, err
	}
	if leg != LegDense {
		for _, r := range e.Respelled(q.Text) {
			found.Notes = append(found.Notes, Note{"searched also for", respelling(r)})
		}
	}
	if note := e.lexicalNote(q, leg); note != "" && len(found.Warnings) == 0 {
		found.Notes = append(found.Notes, Note{"legs", note})
	}
	return found, nil
}

// namedWords is the number of words from which on a query is more than a name.
const namedWords = 3

// legFor returns the leg to search by. A query of one or two words may be a name, for which the dense leg finds something
// in any document; so with Options.ListDepth it is searched for by its words.
func (e *Engine) legFor(q state.Query, leg string) string {
	if e.o.ListDepth > 0 && leg == LegHybrid && len(strings.Fields(q.Text)) < namedWords && len(e.Analyzer().Analyze(q.Text)) < namedWords {
		return LegLexical
	}
	return leg
}

func respelling(r Respelled) string {
	terms := make([]string, len(r.Terms))
	for i, t := range r.Terms {
		terms[i] = t.Term
	}
	return fmt.Sprintf("%s, because no document has %q", strings.Join(terms, ", "), r.Word)
}

// byLegs searches by one leg, or by all legs with a weight at the same time, and fuses their
// lists. A leg that fails or finds nothing leaves its weight to the others. A failure of the
// dense leg is an error only if it is the only leg.
func (e *Engine) byLegs(ctx context.Context, q state.Query, k int, leg string) (Found, error) {
	if !slices.Contains(Legs(), leg) {
		return Found{}, fmt.Errorf("unknown search leg %q: use one of %s", leg, strings.Join(Legs(), ", "))
	}
	legs := e.legs(q, k, leg)
	if len(legs) == 1 {
		hits, warnings, err := legs[0].find(ctx, k)
		return Found{Hits: hits, Warnings: warnings}, err
	}
	lists, warnings, err := askAll(ctx, legs)
	if err != nil {
		return Found{}, err
	}
	found := Found{Warnings: warnings}
	if i := slices.IndexFunc(legs, func(l legCall) bool { return l.name == LegDense }); i >= 0 && e.o.Retrieval.auto {
		found.nearness = nearnessOf(lists[i], e.Docs()*e.Passing()/max(1, e.Files()))
	}
	setShares(legs, lists)
	fused := e.o.Retrieval.Fuse(rank.Merge(lists...), func(l state.Leg) float64 { return l.Of(1) })
	if e.o.ListDepth > 0 {
		k += e.o.Retrieval.DenseDepth
	}
	found.Hits = fused[:min(k, len(fused))]
	return found, nil
}

// follow adds the documents that the best hits relate to, if Retrieval.Hops is set.
func (e *Engine) follow(ctx context.Context, q state.Query, hits []state.Hit, k int) ([]state.Hit, error) {
	if e.o.Retrieval.Hops <= 0 {
		return hits, nil
	}
	hits, err := e.expand(ctx, q, hits, e.o.Retrieval.Hops, k)
	if err == nil {
		hits, err = e.thatHold(ctx, q, hits)
	}
	return hits[:min(k, len(hits))], err
}

// legCall is a leg of a search.
type legCall struct {
	name     string
	weight   float64
	depth    int  // hits to ask for
	optional bool // its failure is a warning
	find     finder
}

// legs returns the legs to ask, each for twice as many hits as are wanted, unless a depth is
// configured. With Options.ListDepth the lexical leg is asked for those that are wanted, and the dense
// leg adds some.
func (e *Engine) legs(q state.Query, k int, leg string) []legCall {
	r := e.o.Retrieval
	if e.o.ListDepth > 0 {
		r.LexicalDepth = k
	}
	w := r.Weights.Only(leg)
	if leg == LegHybrid && e.o.Embedder == nil {
		w = Weights{Lexical: cmp.Or(w.Lexical, 1), Graph: w.Graph}
	}
	if r.auto && w.Dense > 0 && w.Lexical > 0 {
		w.Lexical *= e.lexicalShare(q.Text)
	}
	plain := func(find func(context.Context, state.Query, int) ([]state.Hit, error)) finder {
		return func(ctx context.Context, k int) ([]state.Hit, []string, error) {
			hits, err := find(ctx, q, k)
			return hits, nil, err
		}
	}
	var out []legCall
	if leg == LegHybrid && e.onServer() {
		out = append(out, legCall{name: LegHybrid, weight: w.Lexical + w.Dense, depth: 2 * k, find: func(ctx context.Context, k int) ([]state.Hit, []string, error) {
			return e.dense.searchHybrid(ctx, q, k)
		}})
		w.Lexical, w.Dense = 0, 0
	}
	if w.Lexical > 0 {
		out = append(out, legCall{name: LegLexical, weight: w.Lexical, depth: cmp.Or(r.LexicalDepth, 2*k), find: plain(e.SearchWords)})
	}
	if w.Dense > 0 {
		out = append(out, legCall{
			name: LegDense, weight: w.Dense, depth: cmp.Or(r.DenseDepth, 2*k), optional: true,
			find: func(ctx context.Context, k int) ([]state.Hit, []string, error) { return e.dense.search(ctx, q, k) },
		})
	}
	if w.Graph > 0 {
		out = append(out, legCall{name: LegGraph, weight: w.Graph, depth: maxNamed, find: plain(e.searchNames)})
	}
	for i := range out {
		out[i].find = e.holding(q, out[i].find)
	}
	return out
}

// onServer reports whether the server ranks by words and vectors and both legs have a weight.
func (e *Engine) onServer() bool {
	server, ok := e.Snapshot.(HybridServer)
	w := e.o.Retrieval.Weights
	return ok && server.RanksHybrid() && e.o.Embedder != nil && w.Lexical > 0 && w.Dense > 0
}

// lexicalShare returns the weight factor of the lexical leg for a question, in (0, 1]. It is
// never 0, so that hits by words still come last.
func (e *Engine) lexicalShare(question string) float64 { return max(0.01, e.coverage(question)) }

// coverage returns the share of a question's words, weighted by IDF, that chunks hold.
func (e *Engine) coverage(question string) float64 {
	var known, all float64
	seen := map[string]bool{}
	for _, t := range e.Analyzer().Analyze(question) {
		if seen[t.Term] {
			continue
		}
		seen[t.Term] = true
		idf := e.IDF(t.Term)
		all += idf
		if e.DocFreq(t.Term) > 0 {
			known += idf
		}
	}
	if all == 0 {
		return 0
	}
	return known / all
}

// lexicalNote explains why the lexical leg counts less than the dense one; "" if it does not.
func (e *Engine) lexicalNote(q state.Query, leg string) string {
	w := e.o.Retrieval.Weights
	if leg != LegHybrid || e.onServer() || !e.o.Retrieval.auto || e.o.Embedder == nil || w.Dense == 0 || w.Lexical == 0 {
		return ""
	}
	covered := e.coverage(q.Text)
	if covered*w.Lexical >= w.Dense {
		return ""
	}
	return fmt.Sprintf("searched mostly by meaning: the documents hold only %.0f %% of the question's words", 100*covered)
}

// askAll asks legs at the same time. The failure of an optional leg becomes a warning, and a
// panic a failure.
func askAll(ctx context.Context, legs []legCall) (lists [][]state.Hit, warnings []string, err error) {
	lists = make([][]state.Hit, len(legs))
	warned, faults := make([][]string, len(legs)), make([]error, len(legs))
	ask := func(i int) {
		l := legs[i]
		defer func() {
			if r := recover(); r != nil {
				faults[i] = fmt.Errorf("the %s search panicked: %v", l.name, r)
			}
			if faults[i] != nil && l.optional {
				warned[i], faults[i] = []string{denseFailed(faults[i])}, nil
			}
		}()
		lists[i], warned[i], faults[i] = l.find(ctx, l.depth)
	}
	var wg sync.WaitGroup
	for i := range legs {
		wg.Go(func() { ask(i) })
	}
	wg.Wait()
	if err = context.Cause(ctx); err == nil {
		err = errors.Join(faults...)
	}
	return lists, slices.Concat(warned...), err
}

func denseFailed(err error) string {
	return "Dense search left out, searched by words only: " + err.Error()
}

// setShares sets the share that each leg of a hit has of the query's weight, among the legs
// that found something.
func setShares(legs []legCall, lists [][]state.Hit) {
	found, all := 0, 0.0
	for i, l := range legs {
		if len(lists[i]) > 0 {
			found++
			all += l.weight
		}
	}
	if found < 2 {
		return
	}
	for i, l := range legs {
		for _, h := range lists[i] {
			for n := range h.Legs {
				h.Legs[n].Share = l.weight / all
			}
		}
	}
}
