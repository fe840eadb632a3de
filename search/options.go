package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Options configure an [Engine]. The zero value searches by words.
type Options struct {
	Embedder  llm.Embedder // makes the vectors of questions; nil means no dense leg
	Dense     Dense
	Retrieval Retrieval
	Reranker  llm.Reranker // a model that scores passages; nil means none
	Offline   Orderer      // orders passages without a model; nil keeps the order of the search
	List      Orderer      // orders a listing and gives each passage its probability; nil means Offline
	// ListDepth is the number of hits of a listing by all legs that Offline orders, because it sees their meaning, too.
	// The dense leg then adds up to Retrieval.DenseDepth hits to those by words, none for a query of one or two words, and
	// passages without a vector bring no warning. 0: the legs share the hits, and Retrieval.Rerank says what is ordered.
	ListDepth int
	Observer  Observer // gets each search; nil: none
	Source    string   // name of what is searched, for Observer; may be empty
}

// Observer is called when a search by a leg begins, with Options.Source. The search works with the returned context;
// ended is called with its result, which must not be changed. It is called from several goroutines and must not panic.
type Observer func(ctx context.Context, q state.Query, leg, source string) (inner context.Context, ended func([]state.Hit, error))

// Orderer sorts candidates, best first. It adds and drops none.
type Orderer interface {
	Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error)
}

// Dense configures the dense leg. The zero value suits models without prefixes.
type Dense struct {
	Leg           string  // LegHybrid, LegLexical, LegDense or LegGraph; default LegHybrid
	Alpha         float64 // weight of the dense leg, in (0, 1); the lexical leg has the rest; 0: see Retrieval.Weights
	Dimension     int     // EMBEDDING_DIMENSION: the only one accepted; 0 means that of the first vector
	QueryPrefix   string  // precedes a question, such as "query: "
	PassagePrefix string  // precedes a passage, such as "passage: "
	Tokens        int     // of a passage or question that are embedded; default 400
	Batch         int     // passages per request; default 16
	Workers       int     // concurrent requests while indexing; default 4
	Rebuild       bool    // REBUILD_INDEX: after a change of the embedder, indexing makes all vectors again
}

// Spec returns the specification of the vectors of a model.
func (d Dense) Spec(model string) VectorSpec {
	return VectorSpec{Model: model, Dimension: d.Dimension, Prefix: d.PassagePrefix, Tokens: d.Tokens}
}

// Fusion says how lists of hits are fused. The zero value is reciprocal rank fusion. All
// other methods scale the scores of each list to 0–1 first.
type Fusion struct {
	// Method is "reciprocal-rank-fusion" (the default), "weighted" (the weighted mean of the
	// scores), "max" or "average" (the mean over the lists that hold the hit).
	Method string
	// MultiSource is a factor of "weighted", from 1 to 10: a hit that n legs found scores
	// MultiSource^(n−1) times as much, at most 1. 0 means 1.1.
	MultiSource float64
	// Threshold is the lowest mean score of "weighted" over the lists that hold the hit, at
	// most 1. 0 means 0.5; a negative value keeps all hits.
	Threshold float64
}

// Retrieval says how the hits of the legs become one list.
type Retrieval struct {
	// TopK is the number of passages that a search lists; default 10.
	TopK int
	// Fusion says how lists are fused. If its method, the weights and Dense.Alpha are all
	// unset, scores are fused with the weights 0.3 (dense) and 0.7 (lexical), and the latter
	// is multiplied by the share of the question's words that the documents hold, so that a
	// question in another language is searched by meaning. Lists without a dense leg are then
	// fused by reciprocal rank.
	Fusion Fusion
	// Weights of the legs. If all are zero: Dense.Alpha and the rest if that is set, else 0.5
	// each by reciprocal rank, 0.7 (dense) and 0.3 (lexical) by scores; 0 for names. A leg of
	// weight 0 is not asked.
	Weights Weights
	// Hops is the number of relations, 1 to MaxHops, that are followed from the best five hits
	// to documents that were not found; 0 and -1 mean none, and -1 overrides a preset.
	Hops int
	// Ranking holds the parameters of the lexical leg; nil means DefaultRanking.
	Ranking *Ranking
	// DenseDepth and LexicalDepth are the numbers of hits to ask of a leg if both are asked; 0
	// means twice as many as are wanted.
	DenseDepth, LexicalDepth int
	// Rerank is one of [RerankMethods], for the context of an answer and for lists. Empty means
	// RerankAuto in the context, and in a list an order by probability of the first 20 hits (40
	// with a dense leg and no fusion set).
	Rerank string

	auto bool // neither fusion nor weights are set
}

// autoDense is the default weight of the dense leg; the lexical leg has the rest. It was chosen
// on every second question of XQuAD (English, Vietnamese) and of docker-eval (English, Polish)
// with multilingual-e5-small. On the other half the fused list is no worse than the better leg
// in any set.
const autoDense = 0.3

// Weights are the weights of the legs. Only their proportion matters.
type Weights struct{ Dense, Lexical, Graph float64 }

// String formats weights as "dense/lexical", with "/graph" if that is not 0.
func (w Weights) String() string {
	if w.Graph == 0 {
		return fmt.Sprintf("%g/%g", w.Dense, w.Lexical)
	}
	return fmt.Sprintf("%g/%g/%g", w.Dense, w.Lexical, w.Graph)
}

// Only returns the weights of a search by one leg.
func (w Weights) Only(leg string) Weights {
	switch leg {
	case LegLexical:
		return Weights{Lexical: 1}
	case LegDense:
		return Weights{Dense: 1}
	case LegGraph:
		return Weights{Graph: 1}
	}
	return w
}

func (w Weights) check() error {
	for _, v := range []float64{w.Dense, w.Lexical, w.Graph} {
		if !(v >= 0) || math.IsInf(v, 1) {
			return fmt.Errorf("weights %s: each must be 0 or more", w)
		}
	}
	return nil
}

// Legs returns the names of the legs to search by.
func Legs() []string { return []string{LegHybrid, LegLexical, LegDense, LegGraph} }

// WithDefaults replaces zero values by the defaults and returns all faults of the others.
func (o Options) WithDefaults() (Options, error) {
	d, r := &o.Dense, &o.Retrieval
	d.Leg, d.Tokens, r.TopK = cmp.Or(d.Leg, LegHybrid), cmp.Or(d.Tokens, DefaultPassageTokens), cmp.Or(r.TopK, 10)
	faults := []error{rank.Fusion(r.Fusion).Check(), r.Weights.check(), o.checkRerank()}
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fault(!slices.Contains(Legs(), d.Leg), "search leg %q is not one of %s", d.Leg, strings.Join(Legs(), ", "))
	fault(d.Alpha != 0 && !(d.Alpha > 0 && d.Alpha < 1), "alpha %v is not between 0 and 1; for one leg alone choose that leg", d.Alpha)
	fault(d.Dimension < 0 || d.Tokens < 0 || d.Batch < 0 || d.Workers < 0, "embedding dimension, tokens, batch and workers must not be negative")
	fault(r.TopK < 0 || r.DenseDepth < 0 || r.LexicalDepth < 0, "top k and the depths of the legs must not be negative")
	fault(r.Hops < -1 || r.Hops > MaxHops, "relations are followed over %d hops, but it must be 1 to %d, or -1 for none", r.Hops, MaxHops)
	switch {
	case r.auto || r.Weights != (Weights{}):
	case d.Alpha != 0:
		r.Weights = Weights{Dense: d.Alpha, Lexical: 1 - d.Alpha}
	case r.Fusion.Method == "":
		r.auto, r.Weights = true, Weights{Dense: autoDense, Lexical: 1 - autoDense}
		r.Fusion = Fusion{Method: rank.ByWeight, MultiSource: cmp.Or(r.Fusion.MultiSource, 1), Threshold: cmp.Or(r.Fusion.Threshold, -1)}
	case r.Fusion.Method == rank.ReciprocalRank:
		r.Weights = Weights{Dense: 0.5, Lexical: 0.5}
	default:
		r.Weights = Weights{Dense: 0.7, Lexical: 0.3}
	}
	if d.Leg == LegHybrid {
		switch w := r.Weights; { // the only leg with a weight is asked alone
		case w.Dense == 0 && w.Graph == 0:
			d.Leg = LegLexical
		case w.Lexical == 0 && w.Graph == 0:
			d.Leg = LegDense
		case w.Lexical == 0 && w.Dense == 0:
			d.Leg = LegGraph
		}
	}
	return o, errors.Join(faults...)
}

// Fuse makes one list of the hits of several searches, best first. weight returns the weight
// of the list that a leg belongs to.
func (r Retrieval) Fuse(hits []state.Hit, weight func(state.Leg) float64) []state.Hit {
	dense := func(l state.Leg) bool { return l.Name == LegDense }
	if r.auto && !slices.ContainsFunc(hits, func(h state.Hit) bool { return slices.ContainsFunc(h.Legs, dense) }) {
		return rank.RRF(hits, weight)
	}
	return rank.Fusion(r.Fusion).Fuse(hits, weight)
}
