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
	"example.com/ragflow/state"
)

// Options say how an [Engine] searches. The zero value searches by words.
type Options struct {
	Embedder  Embedder // nil: no dense leg
	Dense     Dense
	Retrieval Retrieval
	Reranker  Reranker      // a model that scores passages; nil: none
	Offline   Orderer       // orders passages without a model; nil: the order of the search stays
	List      Orderer       // orders what a search lists and gives each passage its probability; nil: Offline
	Vectors   *QueryVectors // remembers the vectors of questions; nil: the engine has its own
}

// Embedder makes the vectors of texts. Implementations are safe for concurrent use.
type Embedder interface {
	Model() string
	// EmbedQuery returns the vector of a question.
	EmbedQuery(ctx context.Context, question string) ([]float32, error)
}

// Reranker is a model that reads question and passage together. Implementations
// are safe for concurrent use.
type Reranker interface {
	Model() string
	// Rerank returns a score for each passage; higher is better.
	Rerank(ctx context.Context, question string, passages []string) ([]float64, error)
}

// Orderer sorts candidates, best first. It drops and adds none.
type Orderer interface {
	Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error)
}

// Dense says how the dense leg works. The zero value suits models without prefixes.
type Dense struct {
	Leg           string  // LegHybrid, LegLexical, LegDense or LegGraph; default LegHybrid
	Alpha         float64 // weight of the dense leg, the rest is the lexical leg's; in (0, 1); 0: see Retrieval.Weights
	Dimension     int     // EMBEDDING_DIMENSION: the only one accepted; 0: that of the first vector
	QueryPrefix   string  // put before a question, such as "query: "
	PassagePrefix string  // put before a passage, such as "passage: "
	Tokens        int     // of a passage that are embedded; default 400
	Batch         int     // passages per request; default 16
	Workers       int     // requests at a time while indexing; default 4
	Rebuild       bool    // REBUILD_INDEX: where the embedder changed, indexing makes all vectors again
}

// Spec returns what the vectors of a model are made by.
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
	// TopK is how many passages a search lists; default 10.
	TopK int
	// Fusion says how lists are fused. If its method, the weights and Dense.Alpha are all
	// unset, scores are fused with the weights 0.3 (dense) and 0.7 (lexical), and the latter
	// is multiplied by the share of the question's words that the documents hold, so that a
	// question in another language is searched by meaning. Lists without a dense leg are then
	// fused by reciprocal rank.
	Fusion Fusion
	// Weights of the legs. All zero: Dense.Alpha and the rest where that is set, else 0.5
	// each by reciprocal rank, 0.7 (dense) and 0.3 (lexical) by scores; 0 for names. A leg
	// of weight 0 is not asked.
	Weights Weights
	// Hops is over how many relations, 1 to MaxHops, the best five hits lead to documents
	// that were not found; 0 and -1: none, and -1 overrides a preset.
	Hops int
	// Ranking holds the parameters of the lexical leg; nil: DefaultRanking.
	Ranking *Ranking
	// DenseDepth and LexicalDepth are how many hits a leg is asked for where both are
	// asked; 0: twice as many as are wanted.
	DenseDepth, LexicalDepth int
	// Rerank is one of [RerankMethods], for the context of an answer and for lists.
	// Empty is RerankAuto in the context; a list then has its first 20 hits (40 with a
	// dense leg and no fusion set) in order by probability.
	Rerank string

	auto bool // neither fusion nor weights are set
}

// autoDense is the weight of the dense leg where none is set; the lexical leg has
// the rest. It was chosen on every second question of XQuAD (English, Vietnamese) and
// of docker-eval (English, Polish) with multilingual-e5-small. On the other half the
// fused list is no worse than the better leg in any set.
const autoDense = 0.3

// Weights say how much legs count. Only their proportion matters.
type Weights struct{ Dense, Lexical, Graph float64 }

// String writes weights as "dense/lexical", with "/graph" where that is not 0.
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

// Legs lists the names of the legs to search by.
func Legs() []string { return []string{LegHybrid, LegLexical, LegDense, LegGraph} }

// WithDefaults fills in what is zero and returns all faults of the rest.
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
		switch w := r.Weights; { // one leg with a weight is asked as if it had been chosen
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
