package ragflow

import (
	"context"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// skills are how the nodes of a turn do their work.
type skills struct {
	searcher   nodes.Searcher
	rewriter   nodes.Rewriter
	grader     nodes.Grader
	free       nodes.Grader // grades without a model; see nodes.CheckAndRefine
	reranker   nodes.Reranker
	summarizer nodes.Summarizer
	quotes     nodes.Answerer // without a model
	writer     nodes.Writer   // nil: none
	verifier   nodes.Verifier // nil: none
	documents  text.Index     // languages of the documents
}

// offlineSkills are the skills of a turn without a model.
func (t *turn) offlineSkills(hasModel bool) skills {
	o := t.offline.ForTurn(t.settings.Threshold, hasModel)
	o.Answerer.Files, o.Answerer.Documents = t.files, t.documents
	return skills{
		searcher: searcher{t.engine, t.chunks, t.settings.MinScore}, reranker: reranker{t.engine, t.order != nil},
		rewriter: t.words, grader: o.Grader, free: o.Grader, summarizer: o.Summarizer,
		quotes: o.Answerer, documents: t.bound.engine.Snapshot,
	}
}

// maxMentions is the number of passages whose documents mention a subject.
const maxMentions = 50

// files lists the documents of the question: all of them by path; or those whose name or title has all words of a
// subject, then those with passages about it.
func (t *turn) files(ctx context.Context, subject string) (out []offline.Listed, err error) {
	docs, err := t.engine.Listed(ctx)
	if err != nil {
		return nil, err
	}
	var rest []*search.Document
	for _, d := range docs {
		if subject == "" || d.Called(subject) {
			out = append(out, offline.Listed{Title: d.Title, Source: d.Source, Named: true})
		} else {
			rest = append(rest, d)
		}
	}
	if subject == "" {
		return out, nil
	}
	found, err := t.engine.Search(ctx, state.Query{Text: subject, Weight: 1}, maxMentions)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(found.Hits))
	for i, h := range found.Hits {
		ids[i] = h.Chunk
	}
	chunks, err := t.chunks.Chunks(ctx, ids)
	for _, c := range chunks {
		at := slices.IndexFunc(rest, func(d *search.Document) bool { return d.Root == c.Root && d.Source == c.Source })
		if at >= 0 {
			out, rest = append(out, offline.Listed{Title: c.Title, Source: c.Source}), slices.Delete(rest, at, at+1)
		}
	}
	return out, err
}

// documents returns the documents that fit a question best, each with all its chunks. Only the embedded index reads them.
func (t *turn) documents(ctx context.Context, question string) ([][]state.Chunk, error) {
	whole, ok := t.engine.Snapshot.(interface {
		Whole(ctx context.Context, q state.Query) ([][]state.Chunk, error)
	})
	if !ok {
		return nil, nil
	}
	return whole.Whole(ctx, state.Query{Text: question, Weight: 1})
}

// searcher is a search engine as the nodes use it: its warnings and notes become those
// of the running task.
type searcher struct {
	engine *search.Engine
	*chunkCache
	minScore float64
}

// Search implements nodes.Searcher. A document that the question names is searched alone first: the
// second attempt searches all.
func (s searcher) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	if q.Attempt <= 1 {
		one, source, err := s.engine.Named(ctx, q.Text)
		if err != nil {
			return nil, err
		}
		if one != nil {
			graph.Note(ctx, "names", source)
			if hits, err := s.search(ctx, one, q, k); err != nil || len(hits) > 0 {
				return hits, err
			}
		}
	}
	return s.search(ctx, s.engine, q, k)
}

// sectionHits is the number of hits among which a section is looked for that a question names by its number.
const sectionHits = 200

func (s searcher) search(ctx context.Context, engine *search.Engine, q state.Query, k int) ([]state.Hit, error) {
	number, _ := text.SectionAsked(q.Text)
	wanted := k
	if number != "" {
		wanted = max(k, sectionHits)
	}
	found, err := engine.Search(ctx, q, wanted)
	if err == nil && number != "" {
		if found.Hits, err = s.sectionFirst(ctx, found.Hits, number); len(found.Hits) > k {
			found.Hits = found.Hits[:k]
		}
	}
	for _, w := range found.Warnings {
		graph.Warn(ctx, w)
	}
	for _, n := range found.Notes {
		graph.Note(ctx, n.Name, n.Text)
	}
	if s.minScore > 0 {
		found.Hits = slices.DeleteFunc(found.Hits, func(h state.Hit) bool { return h.Score < s.minScore })
	}
	return found.Hits, err
}

// sectionFirst moves the passages that hold the section with a number to the front.
func (s searcher) sectionFirst(ctx context.Context, hits []state.Hit, number string) ([]state.Hit, error) {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := s.Chunks(ctx, ids)
	holds := map[string]bool{}
	for _, c := range chunks {
		holds[c.ID] = offline.SectionOf(c, number) != nil
	}
	slices.SortStableFunc(hits, func(a, b state.Hit) int {
		switch {
		case holds[a.Chunk] == holds[b.Chunk]:
			return 0
		case holds[a.Chunk]:
			return -1
		}
		return 1
	})
	return hits, err
}

// reranker is the reranking of a search engine as the nodes use it.
type reranker struct {
	*search.Engine
	meaning bool // the offline order is by words and meaning
}

// Rerank implements nodes.Reranker.
func (r reranker) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) (nodes.Reranked, error) {
	out, err := r.Engine.Rerank(ctx, queries, candidates)
	for _, w := range out.Warnings {
		graph.Warn(ctx, w)
	}
	if out.By == search.RerankOffline && r.meaning {
		out.By = "offline, words and meaning"
	}
	graph.Note(ctx, "by", out.By)
	return nodes.Reranked{Sources: out.Sources, Judged: out.Judged}, err
}

// inLanguage answers in a language, whatever that of the question is.
type inLanguage struct {
	nodes.Rewriter
	language string
}

// Rewrite implements nodes.Rewriter.
func (r inLanguage) Rewrite(ctx context.Context, question string, m state.Memory) (state.Plan, error) {
	plan, err := r.Rewriter.Rewrite(ctx, question, m)
	plan.Language = r.language
	return plan, err
}
