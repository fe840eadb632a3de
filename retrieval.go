package ragflow

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/rank"
	"example.com/ragflow/state"
)

// Retrieval says how what the legs find becomes one list. The zero value turns a
// leg down that can say little: see Fusion.
type Retrieval struct {
	// Preset is the name of one of [Presets], which fills in what is left zero
	// here and in Dense; empty: none.
	Preset string
	// TopK is how many passages a search lists that is not told; default 10.
	TopK int
	// Fusion says how lists are fused. Where neither its method nor weights nor
	// Dense.Alpha are set, the scores of the legs are, with the weights 0.3 for the
	// dense leg and 0.7 for the lexical one, the latter times the share of the
	// question's words that stand in some document: a question in another
	// language is searched for by its meaning. Lists without a dense leg are fused
	// by reciprocal rank then.
	Fusion rank.Fusion
	// Weights are those of the legs. All zero: Dense.Alpha and its rest where that
	// is set, else 0.5 each by reciprocal rank and 0.7 for the dense leg, 0.3 for
	// the lexical one by scores, and 0 for that by names. A leg of weight 0 is not asked.
	Weights Weights
	// Hops is over how many links, 1 to index.MostHops, the five best hits lead to
	// documents that were not found, see [index.Searcher.Expand]; 0 and -1: none are
	// followed, and -1 counts more than a preset.
	Hops int
	// Ranking are the numbers of the search by words; nil: DefaultRanking.
	Ranking *Ranking
	// DenseDepth and LexicalDepth are how many hits a leg is asked for where both
	// are asked; 0: twice as many as are wanted.
	DenseDepth, LexicalDepth int
	// Rerank is one of [RerankMethods]: how the best passages are put in order for
	// the context, and in what a search lists. Empty is RerankAuto there; a search
	// by words then puts its first 20 passages in order by their words, and one by words
	// and meaning for which no fusion is set its first 40 by the chances of both.
	Rerank string

	auto bool // legs are weighed by what they can say
}

// autoDense is the weight of the dense leg where none is set; the lexical one has
// the rest. Chosen, with the fusion and the way a question's words count, on every
// second question of XQuAD in English and Vietnamese and of those about the Docker
// pages in English and Polish, with multilingual-e5-small. On the other half, too,
// the fused list is no worse than the better leg of any set; nor is it on a part of
// SciFact and on Vietnamese questions about English paragraphs, which had no say. A
// search puts the best of that list in order once more, see byOdds.
const autoDense = 0.3

// autoFusion is the fusion of legs where none is set.
func autoFusion() rank.Fusion {
	return rank.Fusion{Method: rank.ByWeight, MultiSource: 1, Threshold: -1}
}

// fuse is the fuser of the flow and of searches.
func (r Retrieval) fuse(hits []state.Hit, w rank.Weight) []state.Hit {
	dense := func(l state.Leg) bool { return l.Name == LegDense }
	if r.auto && !slices.ContainsFunc(hits, func(h state.Hit) bool { return slices.ContainsFunc(h.Legs, dense) }) {
		return rank.RRF(hits, w)
	}
	return r.Fusion.Fuse(hits, w)
}

// Ranking are the numbers of BM25: k1, b, the weights of title and headings, and
// the share of a document's own score.
type Ranking = index.Ranking

// DefaultRanking returns the numbers in use where none are configured.
func DefaultRanking() Ranking { return index.DefaultRanking() }

// Weights say how much legs count. Only their proportion matters.
type Weights struct{ Dense, Lexical, Graph float64 }

// String writes weights as "dense/lexical", and "/graph" where that has any.
func (w Weights) String() string {
	if w.Graph == 0 {
		return fmt.Sprintf("%g/%g", w.Dense, w.Lexical)
	}
	return fmt.Sprintf("%g/%g/%g", w.Dense, w.Lexical, w.Graph)
}

// only leaves the weight of the legs that a way to search asks.
func (w Weights) only(leg string) Weights {
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

// Preset is a choice of settings by name.
type Preset struct {
	Name                     string
	Leg                      string  // LegDense where only meaning is searched; empty: both
	TopK                     int     // passages
	Alpha                    float64 // of the dense leg
	DenseDepth, LexicalDepth int     // 0: twice TopK
	Rerank                   string  // a method of reranking
	Hops                     int     // over which links of the best hits are followed
	Chunker                  string  // how documents are cut; empty: as ever
	ChunkSize                int     // most tokens of a chunk; 0: the default
}

// Presets lists the presets. "fast", "accurate" and "code" are known by how many
// hits each leg gives, the others by what the search is for. They matter where an
// embedding model is configured; without one, words are searched. How they cut documents
// matters where folders are indexed with Config.KeepChunking.
func Presets() []Preset {
	return []Preset{
		{Name: "balanced", TopK: 10, Alpha: 0.5, Rerank: RerankAuto, Chunker: load.ChunkMarkdown},
		{Name: "fast", TopK: 5, Leg: LegDense, Rerank: RerankOff, Chunker: load.ChunkRecursive},
		{Name: "accurate", TopK: 20, Alpha: 0.5, DenseDepth: 20, LexicalDepth: 10, Rerank: RerankAuto, Chunker: load.ChunkSemantic},
		{Name: "code", TopK: 15, Alpha: 0.5, DenseDepth: 15, LexicalDepth: 10, Rerank: RerankAuto, Chunker: load.ChunkCode, ChunkSize: 1024},
		{Name: "conservative", TopK: 5, Alpha: 0.7, Rerank: RerankAuto},
		{Name: "exploratory", TopK: 20, Alpha: 0.3, Rerank: RerankOff, Hops: 1},
	}
}

// apply fills in what c leaves zero.
func (p Preset) apply(c *Config) {
	if c.KeepChunking {
		c.Chunking.Chunker = cmp.Or(c.Chunking.Chunker, p.Chunker)
		c.Chunking.Size = cmp.Or(c.Chunking.Size, p.ChunkSize)
	}
	r := &c.Retrieval
	r.TopK = cmp.Or(r.TopK, p.TopK)
	r.Rerank = cmp.Or(r.Rerank, p.Rerank)
	r.Hops = cmp.Or(r.Hops, p.Hops)
	r.DenseDepth = cmp.Or(r.DenseDepth, p.DenseDepth)
	r.LexicalDepth = cmp.Or(r.LexicalDepth, p.LexicalDepth)
	if p.Leg != "" && c.Embedder != nil {
		c.Dense.Leg = cmp.Or(c.Dense.Leg, p.Leg)
	}
	if r.Weights == (Weights{}) {
		c.Dense.Alpha = cmp.Or(c.Dense.Alpha, p.Alpha)
	}
}

// retrieval fills in Config.Retrieval and Config.Dense.
func (c *Config) retrieval() error {
	r := &c.Retrieval
	faults := []error{r.Fusion.Check()}
	if r.Preset != "" {
		presets := Presets()
		i := slices.IndexFunc(presets, func(p Preset) bool { return p.Name == r.Preset })
		if i < 0 {
			return fmt.Errorf("preset %q is not one of %s", r.Preset, strings.Join(PresetNames(), ", "))
		}
		presets[i].apply(c)
	}
	var err error
	if c.Dense, err = c.Dense.withDefaults(); err != nil {
		faults = append(faults, err)
	}
	r.TopK = cmp.Or(r.TopK, 10)
	if r.TopK < 0 || r.DenseDepth < 0 || r.LexicalDepth < 0 {
		faults = append(faults, errors.New("top k and the depths of the legs must not be negative"))
	}
	if r.Hops < -1 || r.Hops > index.MostHops {
		faults = append(faults, fmt.Errorf("links are followed over %d hops, but it must be 1 to %d, or -1 for none", r.Hops, index.MostHops))
	}
	switch {
	case r.Weights != (Weights{}):
	case c.Dense.Alpha == 0 && r.Fusion.Method == "":
		r.auto, r.Fusion, r.Weights = true, autoFusion(), Weights{Dense: autoDense, Lexical: 1 - autoDense}
	case c.Dense.Alpha != 0:
		r.Weights = Weights{Dense: c.Dense.Alpha, Lexical: 1 - c.Dense.Alpha}
	case r.Fusion.Method == "" || r.Fusion.Method == rank.ReciprocalRank:
		r.Weights = Weights{Dense: 0.5, Lexical: 0.5}
	default:
		r.Weights = Weights{Dense: 0.7, Lexical: 0.3}
	}
	if c.Dense.Leg == LegHybrid { // a leg alone is asked as if it had been chosen
		switch w := r.Weights; {
		case w.Dense == 0 && w.Graph == 0:
			c.Dense.Leg = LegLexical
		case w.Lexical == 0 && w.Graph == 0:
			c.Dense.Leg = LegDense
		case w.Lexical == 0 && w.Dense == 0:
			c.Dense.Leg = LegGraph
		}
	}
	return errors.Join(append(faults, r.Weights.check(), c.checkRerank())...)
}

// PresetNames lists the names of [Presets].
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}
