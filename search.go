package ragflow

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"unicode/utf8"

	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/rank"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// Search returns the k passages that fit a query best, without a conversation
// and without an answer; k 0 is Config.Retrieval.TopK.
func (a *Assistant) Search(ctx context.Context, query string, k int) (*SearchReply, error) {
	return a.SearchWith(ctx, query, SearchOptions{TopK: k})
}

// SearchOptions say how one search works. The zero value is as configured.
type SearchOptions struct {
	TopK   int          // passages; 0: Config.Retrieval.TopK
	Leg    string       // LegHybrid, LegLexical, LegDense or LegGraph; empty: Config.Dense.Leg
	Filter state.Filter // documents that may be found, beside Config.Filter
	Facets []string     // keys to count matching documents by
	Plain  bool         // the query is what a person asks: quotes and minus signs ask for nothing
	Ranks  bool         // only the ranking counts: no snippets, and near-duplicates stay
	// MinScore leaves out hits that score less; one that scores as much stays. 0 leaves
	// out none. What a score is worth differs from leg to leg and model to model.
	MinScore float64
}

// SearchWith is Search with options. In a query that is not Plain "words in
// quotes" must stand together, and -word must not be there: see index.ParseQuery.
// A filter or facet by a key that no document has is an *index.UnknownKeyError. A
// dense search that is not possible is an error that matches ErrNoDense or
// ErrEmbedderChanged, or is the embedder's own; a hybrid one warns instead.
func (a *Assistant) SearchWith(ctx context.Context, query string, o SearchOptions) (*SearchReply, error) {
	query = text.Clean(query)
	switch {
	case query == "":
		return nil, ErrEmptyQuery
	case o.TopK < 0:
		return nil, fmt.Errorf("search: %d results make no sense; ask for 1 or more", o.TopK)
	}
	k := cmp.Or(o.TopK, a.config.Retrieval.TopK)
	e, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	query = text.First(query, nodes.MaxQueryRunes)
	leg := cmp.Or(o.Leg, a.config.Dense.Leg)
	q := state.Query{Text: query, Weight: 1, Attempt: 1}
	if !o.Plain {
		q = index.ParseQuery(query)
	}
	expanded := a.words.Expand(q.Text)
	q.Boosts = e.skills.words.Boosts(q.Text, expanded)
	searcher, err := e.searcher.only(ctx, o.Filter, q)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	spare := duplicateRoom
	if o.Ranks {
		spare = 0
	}
	method, compared := a.config.listing(leg)
	deep := max(k, compared)
	found, err := searcher.search(ctx, q, deep, spare, leg)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	hits, warnings := found.hits, found.warnings
	if o.Leg != LegLexical && o.Leg != LegDense { // one leg by name is that leg alone
		if hits, err = searcher.follow(ctx, q, hits, deep+spare); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	chunks, err := e.chunksOf(ctx, hits)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	hits = slices.DeleteFunc(hits, func(h state.Hit) bool { return o.MinScore != 0 && !(h.Score >= o.MinScore) })
	duplicates := 0
	if !o.Ranks {
		hits, duplicates = withoutDuplicates(hits, chunks, deep)
	}
	reply := &SearchReply{Duplicates: duplicates, Query: query, Phrases: q.Phrases, Without: q.Without, Expanded: expanded, Hits: []SearchHit{}, Warnings: warnings}
	if len(warnings) == 0 {
		reply.Note = e.searcher.turnedDown(q, leg)
	}
	if !o.Filter.Empty() {
		reply.Filter = &o.Filter
	}
	if searcher.Passing() == 0 {
		reply.Warnings = append(reply.Warnings, "No document passes the filter.")
	}
	if len(o.Facets) > 0 {
		if reply.Facets, err = searcher.Facets(ctx, q, o.Facets...); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	if leg == LegHybrid || leg == LegLexical {
		reply.Respelled = e.respelled(q.Text)
	}
	snippet := func(string) index.Snippet { return index.Snippet{Marks: []index.Mark{}} }
	if !o.Ranks {
		snippet = e.searcher.Snippets(q)
	}
	var paths citedPaths
	reply.Hits = make([]SearchHit, 0, len(hits))
	for _, h := range hits {
		c, ok := chunks[h.Chunk]
		if !ok {
			continue // left the index meanwhile
		}
		reply.Hits = append(reply.Hits, SearchHit{
			Rank: len(reply.Hits) + 1, ChunkID: c.ID, Source: c.Source, Path: paths.of(c.Root, c.Source), Title: c.Title,
			Headings: append([]string{}, c.Headings...), Start: c.Start, End: c.End, StartLine: c.StartLine, EndLine: c.EndLine,
			Page: c.Page, EndPage: c.PageAt(c.End - 1), Pages: prompts.Pages(c.Page, c.PageAt(c.End-1), prompts.English), Text: c.Text,
			Score: h.Score, Legs: h.Legs, Cut: c.Cut, Metadata: c.Metadata,
			Snippet: snippetOf(snippet(c.Text), *c),
		})
	}
	if method != RerankOff && (method != orderOdds || !found.dense.silent()) {
		if err := a.rerankHits(ctx, e, q, chunks, reply, method, compared, found.dense); err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
	}
	reply.Hits = reply.Hits[:min(k, len(reply.Hits))]
	a.config.Logger.DebugContext(ctx, "retrieved chunks for query", "chunks", len(reply.Hits), "top_k", k, "leg", leg, "metric", "cosine")
	return reply, nil
}

const (
	// duplicateRoom is how many hits more than are wanted a search asks for, to take
	// the places of near-duplicates.
	duplicateRoom = 10
	// comparedHits is how many hits are compared with each other; beyond them only
	// those of the same text are left out.
	comparedHits = 200
)

// withoutDuplicates leaves out hits whose text is nearly that of a better one, as the
// answer to a question does, and returns the k best. It counts those left out above the
// last of them.
func withoutDuplicates(hits []state.Hit, chunks map[string]*state.Chunk, k int) (kept []state.Hit, duplicates int) {
	var vectors []rank.Vector
	near := rank.AtLeast(rank.NearDuplicate)
	seen := map[string]bool{}
	for i, h := range hits {
		if len(kept) == k {
			break
		}
		c, ok := chunks[h.Chunk]
		if !ok {
			continue // left the index meanwhile
		}
		again := seen[c.Hash]
		if !again && i < comparedHits {
			v := rank.TextVector(c.Text)
			if again = slices.ContainsFunc(vectors, func(o rank.Vector) bool { return near(rank.Cosine(o, v)) }); !again {
				vectors = append(vectors, v)
			}
		}
		if again {
			duplicates++
			continue
		}
		seen[c.Hash] = true
		kept = append(kept, h)
	}
	return kept, duplicates
}

// rerankHits puts the first hits of a search in the order of a method. Where the
// person set none, the others stay behind them.
func (a *Assistant) rerankHits(ctx context.Context, e *engine, q state.Query, chunks map[string]*state.Chunk, reply *SearchReply, method string, compared int, dense meant) error {
	found := make(map[string]SearchHit, len(reply.Hits))
	first := reply.Hits[:min(compared, len(reply.Hits))]
	candidates := make([]state.Source, len(first))
	for i, h := range first {
		found[h.ChunkID] = h
		candidates[i] = state.Source{Chunk: *chunks[h.ChunkID], Score: h.Score}
	}
	var (
		ranked   []state.Source
		warnings []string
		err      error
	)
	if method == orderOdds {
		var note string
		ranked, note, err = e.byOdds(ctx, q, first, candidates, dense)
		reply.Note = cmp.Or(reply.Note, note)
	} else {
		r := reranker{method, a.config.Reranker, a.config.Dense.Tokens, e.skills.list}
		ranked, _, warnings, err = r.rerank(ctx, []state.Query{q}, candidates)
	}
	if err != nil {
		return err
	}
	reply.Warnings = append(reply.Warnings, warnings...)
	var behind []SearchHit
	if a.config.Retrieval.Rerank == "" {
		behind = slices.Clone(reply.Hits[len(first):])
	}
	reply.Hits = reply.Hits[:0]
	for _, c := range ranked {
		h := found[c.ID]
		h.Rank = len(reply.Hits) + 1
		if len(warnings) == 0 {
			h.RerankScore = &c.Score
		}
		reply.Hits = append(reply.Hits, h)
	}
	reply.Hits = append(reply.Hits, behind...) // as many as before: their ranks are right
	return nil
}

// snippetOf brings a snippet of a passage to places in its document.
func snippetOf(s index.Snippet, c state.Chunk) SnippetReply {
	out := SnippetReply{Text: c.Text[s.Start:s.End], Start: c.Start + s.Start, End: c.Start + s.End, Marks: []index.Mark{}}
	for _, m := range s.Marks {
		out.Marks = append(out.Marks, index.Mark{Start: c.Start + m.Start, End: c.Start + m.End})
	}
	return out
}

func (e *engine) chunksOf(ctx context.Context, hits []state.Hit) (map[string]*state.Chunk, error) {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := e.searcher.Chunks(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[string]*state.Chunk, len(chunks))
	for i := range chunks {
		out[chunks[i].ID] = &chunks[i]
	}
	return out, nil
}

// Explain shows what the analyzer and the rewrite make of a query; with a
// thread, as its next turn. Nothing is saved.
func (a *Assistant) Explain(ctx context.Context, query, thread string) (*Explanation, error) {
	cleaned := text.Clean(query)
	if cleaned == "" {
		return nil, ErrEmptyQuery
	}
	e, err := a.current(ctx)
	if err != nil {
		return nil, err
	}
	x := &Explanation{Original: query, Cleaned: text.First(cleaned, nodes.MaxQueryRunes), Warnings: []string{}}
	if n := utf8.RuneCountInString(cleaned); n > nodes.MaxQueryRunes {
		x.Warnings = append(x.Warnings, fmt.Sprintf("Query truncated from %d to %d chars", n, nodes.MaxQueryRunes))
	}
	memory, err := a.memory(ctx, thread)
	if err != nil {
		return nil, err
	}
	plan, err := e.skills.rewriter.Rewrite(ctx, x.Cleaned, memory)
	if err != nil {
		return nil, fmt.Errorf("explain: %w", err)
	}
	x.Language, x.Route, x.Standalone, x.Queries = plan.Language, plan.Route, plan.Standalone, plan.Queries
	x.Intent = string(offline.TypeOf(x.Cleaned))
	x.Tokens, x.Respelled = e.terms(x.Cleaned), e.respelled(x.Cleaned)
	if plan.Route == state.RouteSearch {
		x.Expanded = e.skills.words.Expansions(x.Cleaned)
	}
	x.Complexity = complexity(x)
	x.Domain, x.Best, err = e.domain(ctx, plan.Queries)
	return x, err
}

func (a *Assistant) memory(ctx context.Context, thread string) (state.Memory, error) {
	if thread == "" {
		return state.Memory{}, nil
	}
	head, err := a.threads.Head(ctx, thread)
	if err != nil {
		return state.Memory{}, fmt.Errorf("thread %q: %w", thread, err)
	}
	s, err := a.log.StateAt(ctx, thread, head.ID)
	return s.Memory(), err
}

// terms shows the terms of a query as they are searched for.
func (e *engine) terms(query string) []TermReply {
	out := []TermReply{}
	for _, t := range e.searcher.Analyzer().Analyze(query) {
		out = append(out, TermReply{
			Text: query[t.Start:t.End], Term: t.Term, Documents: e.searcher.DocFreq(t.Term), IDF: e.searcher.IDF(t.Term),
		})
	}
	return out
}

// respelled shows what is searched for besides words that no document has.
func (e *engine) respelled(query string) []Respelled {
	var out []Respelled
	for _, r := range e.searcher.Respelled(query) {
		shown := Respelled{Word: r.Word}
		for _, t := range r.Terms {
			shown.Terms = append(shown.Terms, t.Term)
		}
		out = append(out, shown)
	}
	return out
}

// complexity grows with the number of things a query asks about: the share of
// the way from one term to twenty, and from one query to three.
func complexity(x *Explanation) float64 {
	distinct := map[string]bool{}
	for _, t := range x.Tokens {
		distinct[t.Term] = true
	}
	terms := min(1, float64(max(0, len(distinct)-1))/19)
	queries := float64(max(0, len(x.Queries)-1)) / (nodes.MaxQueries - 1)
	return math.Round(100*(0.7*terms+0.3*queries)) / 100
}

// domain is the folder that most of the ten best hits lie in, and the best of
// them, nil where there is none.
func (e *engine) domain(ctx context.Context, queries []state.Query) (string, *BestPassage, error) {
	if len(queries) == 0 {
		return "", nil, nil
	}
	best := slices.MaxFunc(queries, func(a, b state.Query) int { return cmp.Compare(a.Weight, b.Weight) })
	hits, err := e.searcher.Search(ctx, best, 10)
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	chunks, err := e.chunksOf(ctx, hits)
	if err != nil {
		return "", nil, fmt.Errorf("explain: %w", err)
	}
	votes := map[string]int{}
	var (
		domain string
		first  *BestPassage
	)
	for _, h := range hits { // in rank order, so that the better hit wins a tie
		c, ok := chunks[h.Chunk]
		if !ok {
			continue
		}
		if first == nil {
			first = &BestPassage{
				ChunkID: c.ID, Source: c.Source, StartLine: c.StartLine, EndLine: c.EndLine, Page: c.Page,
				Headings: append([]string{}, c.Headings...), Tokens: text.Estimate(c.Text), Cut: c.Cut,
			}
		}
		folder := path.Dir(c.Source)
		votes[folder]++
		if domain == "" || votes[folder] > votes[domain] {
			domain = folder
		}
	}
	return domain, first, nil
}
