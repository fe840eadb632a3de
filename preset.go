package ragflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/search"
)

// Preset is a choice of settings by name.
type Preset struct {
	Name                     string
	Leg                      string   // LegDense if only meaning is searched; empty: both
	TopK                     int      // passages
	Alpha                    float64  // of the dense leg
	DenseDepth, LexicalDepth int      // 0: twice TopK
	Rerank                   string   // a method of reranking
	Hops                     int      // over which relations of the best hits are followed
	Synthesis                string   // how a model writes the answer; empty: in one call
	Transforms               []string // what a model adds to the question
	Chunker                  string   // how documents are cut; empty: as without the preset
	ChunkSize                int      // most tokens of a chunk; 0: the default
}

// Presets lists the presets. "fast", "accurate" and "code" are known by how many
// hits each leg gives, the others by what the search is for. They matter if an
// embedding model is configured; without one, words are searched. They cut documents where
// folders are indexed with Config.KeepChunking, or if Config.Chunking is that of [Preset.Cut].
func Presets() []Preset {
	return []Preset{
		{Name: "balanced", TopK: 10, Alpha: 0.5, Rerank: search.RerankLLM, Chunker: chunk.Markdown, Synthesis: model.TreeSummarize},
		{Name: "fast", TopK: 5, Leg: search.LegDense, Rerank: search.RerankOff, Chunker: chunk.Recursive},
		{Name: "accurate", TopK: 20, Alpha: 0.5, DenseDepth: 20, LexicalDepth: 10, Rerank: search.RerankAuto, Chunker: chunk.Semantic, Synthesis: model.Refine, Transforms: []string{model.MultiQuery, model.HyDE}},
		{Name: "code", TopK: 15, Alpha: 0.5, DenseDepth: 15, LexicalDepth: 10, Rerank: search.RerankAuto, Chunker: chunk.Code, ChunkSize: 1024, Synthesis: model.Refine},
		{Name: "conservative", TopK: 5, Alpha: 0.7, Rerank: search.RerankAuto},
		{Name: "exploratory", TopK: 20, Alpha: 0.3, Rerank: search.RerankOff, Hops: 1},
	}
}

// Cut returns how documents are cut: as o says, else as the preset says.
func (p Preset) Cut(o ingest.Chunking) ingest.Chunking {
	o.Chunker, o.Size = cmp.Or(o.Chunker, p.Chunker), cmp.Or(o.Size, p.ChunkSize)
	return o
}

// PresetNamed returns the preset of a name; the zero Preset, which sets nothing, if there is none.
func PresetNamed(name string) Preset {
	for _, p := range Presets() {
		if p.Name == name {
			return p
		}
	}
	return Preset{}
}

// applyPreset fills in what c leaves zero. Parts that need a model or an embedder are left
// out without one.
func (c *Config) applyPreset() error {
	if c.Preset == "" {
		return nil
	}
	p, r, m, s := PresetNamed(c.Preset), &c.Retrieval, c.Models, &c.Settings
	if p.Name == "" {
		return fmt.Errorf("preset %q is not one of %s", c.Preset, strings.Join(PresetNames(), ", "))
	}
	if c.KeepChunking {
		c.Chunking = p.Cut(c.Chunking)
	}
	r.TopK, r.Rerank, r.Hops = cmp.Or(r.TopK, p.TopK), cmp.Or(r.Rerank, p.Rerank), cmp.Or(r.Hops, p.Hops)
	r.DenseDepth, r.LexicalDepth = cmp.Or(r.DenseDepth, p.DenseDepth), cmp.Or(r.LexicalDepth, p.LexicalDepth)
	if r.Rerank == search.RerankLLM && (m.Chat == nil || m.Reranker != nil) {
		r.Rerank = search.RerankAuto
	}
	if m.Chat != nil {
		s.Synthesis = cmp.Or(s.Synthesis, p.Synthesis)
	}
	if m.Chat != nil && len(s.Transforms) == 0 {
		s.Transforms = slices.DeleteFunc(slices.Clone(p.Transforms), func(name string) bool { return name == model.HyDE && m.Embedder == nil })
	}
	if p.Leg != "" && m.Embedder != nil {
		c.Dense.Leg = cmp.Or(c.Dense.Leg, p.Leg)
	}
	if r.Weights == (search.Weights{}) {
		c.Dense.Alpha = cmp.Or(c.Dense.Alpha, p.Alpha)
	}
	return nil
}

// PresetNames lists the names of [Presets].
func PresetNames() []string {
	var names []string
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}
