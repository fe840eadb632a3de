package ragflow

import (
	"context"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/skills/chain"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// skills are how the nodes do their work; see flow.go.
type skills struct {
	searcher   nodes.Searcher
	rewriter   nodes.Rewriter
	grader     nodes.Grader
	free       nodes.Grader // grades without a model; see nodes.CheckAndRefine
	reranker   nodes.Reranker
	summarizer nodes.Summarizer
	answerer   nodes.Answerer
	closest    nodes.Answerer // quotes what comes nearest, without a model
	verifier   nodes.Verifier // reads statements of an answer again; nil: none
	documents  text.Index     // of whose languages an answer speaks

	words *offline.Rewriter // knows other words for those of a question
	order search.Orderer    // of the context of an answer
	list  search.Orderer    // of what a search lists
}

// newOfflineSkills returns the skills without a model, for a snapshot of the index.
func newOfflineSkills(s search.Snapshot, c Config, d dictionary.Dictionary) skills {
	own := offline.New(s, c.Threshold)
	own.Answerer.HasModel = c.Chat != nil
	words := own.Rewriter.WithDictionary(d)
	return skills{
		rewriter: words, words: words, grader: own.Grader, free: own.Grader, order: own.Reranker, list: own.Reranker,
		summarizer: own.Summarizer, answerer: own.Answerer, closest: own.Answerer, documents: s,
	}
}

// searcher is a search engine as the nodes use it: its warnings and notes become those
// of the running task.
type searcher struct{ *search.Engine }

// Search implements nodes.Searcher.
func (s searcher) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	found, err := s.Engine.Search(ctx, q, k)
	for _, w := range found.Warnings {
		graph.Warn(ctx, w)
	}
	for _, n := range found.Notes {
		graph.Note(ctx, n.Name, n.Text)
	}
	return found.Hits, err
}

// reranker is the reranking of a search engine as the nodes use it.
type reranker struct{ *search.Engine }

// Rerank implements nodes.Reranker.
func (r reranker) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out, err := r.Engine.Rerank(ctx, queries, candidates)
	for _, w := range out.Warnings {
		graph.Warn(ctx, w)
	}
	chain.NoteMaker(ctx, out.By)
	return out.Sources, err
}

// withModels puts the configured models before the offline skills.
func (s skills) withModels(c Config, stats model.Stats, own prompts.Set) skills {
	if c.Chat == nil {
		return s
	}
	with := chain.Skills{Rewriter: s.rewriter, Grader: s.grader, Summarizer: s.summarizer, Answerer: s.answerer}.WithModels(chain.Options{
		Models: c.models(), PlainGrades: c.PlainGrades, Verify: c.Verify, Threshold: c.Threshold,
		Transforms: c.Transforms, Answers: c.Answers, Stats: stats, Own: own,
	})
	s.rewriter, s.grader, s.summarizer, s.answerer, s.verifier = with.Rewriter, with.Grader, with.Summarizer, with.Answerer, with.Verifier
	return s
}
