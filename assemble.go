package ragflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
	"example.com/ragflow/transcript"
)

// reply makes a Reply of a run that ended. It shares nothing that could be written to
// with the state of the run.
func (a *Assistant) reply(ctx context.Context, r *transcript.Run) (*Reply, error) {
	turn := r.State.Turn
	reply := &Reply{
		ThreadID: r.Thread, RunID: r.ID, Question: turn.Query, Answer: turn.Answer, Abstained: turn.Abstained,
		Grade:   GradeReply{Score: turn.Grade.Score, Attempts: turn.Attempts},
		Queries: cloneQueries(turn.Queries), Model: turn.Model, Warnings: []string{},
		LatencyMS: map[string]float64{}, SourcesHeader: prompts.Say(prompts.SourcesHeader, turn.Language),
		ChangedNotice: prompts.Say(prompts.Changed, turn.Language),
	}
	if m, ok := state.LastHuman(r.State.Messages); ok {
		reply.Question = m.Content
	}
	for _, q := range turn.Queries {
		if q.Attempt == 2 {
			reply.Grade.Refined = q.Text
		}
	}
	files := sourceFiles{known: a.knownFiles(ctx)}
	reply.Citations = files.citations(ctx, turn.Citations, turn.Language)
	reply.Quality = Quality{Faithfulness: 1, CitationPrecision: 1, CitationRecall: 1}
	if turn.Quality != (Quality{}) {
		reply.Quality = turn.Quality
	}
	reply.Context = a.config.Context.Assemble(turn.Sources, turn.Language)
	reply.Chunks = a.counts(turn)
	if len(turn.Sources) > 0 {
		reply.Chunks.ContextTokens = text.Count(reply.Context)
	}
	reply.account(r.Commits)
	if err := a.describe(ctx, reply.Citations); err != nil {
		return nil, err
	}
	var err error
	reply.Retrieved, err = a.retrieved(ctx, turn.Hits)
	return reply, err
}

// citations tells of citations, in a language, and which of them have changed.
func (f *sourceFiles) citations(ctx context.Context, of []state.Citation, lang string) []CitationReply {
	out := make([]CitationReply, len(of))
	for i, c := range of {
		out[i] = CitationReply{
			N: c.N, Source: c.Source, Path: citedPath(c.Root, c.Source), Title: c.Title, Start: c.Start, End: c.End,
			StartLine: c.StartLine, EndLine: c.EndLine,
			Page: c.Page, EndPage: c.EndPage, Pages: prompts.Pages(c.Page, c.EndPage, lang), Quote: c.Quote, Score: c.Score, Chunk: c.Chunk, Hash: c.Hash,
			Changed: f.changed(ctx, c), URL: c.URL,
		}
	}
	return out
}

func cloneQueries(queries []state.Query) []state.Query {
	out := slices.Clone(queries)
	for i := range out {
		q := &out[i]
		q.Boosts, q.Cited, q.Told = slices.Clone(q.Boosts), slices.Clone(q.Cited), slices.Clone(q.Told)
		q.Phrases, q.Without = slices.Clone(q.Phrases), slices.Clone(q.Without)
	}
	return out
}

// describe adds what the cited documents say of themselves, as far as the index
// holds them.
func (a *Assistant) describe(ctx context.Context, citations []CitationReply) error {
	e := a.engine.Load()
	if e == nil || len(citations) == 0 {
		return nil
	}
	ids := make([]string, len(citations))
	for i, c := range citations {
		ids[i] = c.Chunk
	}
	chunks, err := e.searcher.Chunks(ctx, ids)
	if err != nil {
		return fmt.Errorf("read what was cited: %w", err)
	}
	said := make(map[string]state.Metadata, len(chunks))
	for _, c := range chunks {
		said[c.ID] = c.Metadata
	}
	for i := range citations {
		citations[i].Metadata = said[citations[i].Chunk]
	}
	return nil
}

// counts tells how many chunks went how far in a turn.
func (a *Assistant) counts(turn state.Turn) ChunkCounts {
	out := ChunkCounts{Retrieved: len(turn.Hits), Context: len(turn.Sources)}
	if e := a.engine.Load(); e != nil {
		out.Total = e.skills.stats.Docs()
	}
	var used []string
	for _, c := range turn.Citations {
		if !slices.Contains(used, c.Chunk) {
			used = append(used, c.Chunk)
		}
	}
	out.Used = len(used)
	return out
}

// account adds up what the tasks of a run noted. commits are newest first.
func (r *Reply) account(commits []graph.Commit) {
	var total time.Duration
	nodes := map[string]time.Duration{}
	for _, c := range slices.Backward(commits) {
		for _, d := range c.Deltas {
			for _, w := range d.Notes.Warnings {
				if !slices.Contains(r.Warnings, w) { // both attempts of a search may say the same
					r.Warnings = append(r.Warnings, w)
				}
			}
			for _, call := range d.Notes.Calls {
				r.Usage.Calls++
				r.Usage.InputTokens += call.Counts[countInput]
				r.Usage.OutputTokens += call.Counts[countOutput]
				r.CostUSD += float64(call.Counts[countCost]) / 1e9
			}
			if d.Node != "" {
				nodes[d.Node] += d.Notes.Duration
			}
		}
	}
	if len(commits) > 0 {
		r.Begun = commits[len(commits)-1].Time.UTC()
		total = commits[0].Time.Sub(commits[len(commits)-1].Time)
	}
	for node, d := range nodes {
		r.LatencyMS[node] = milliseconds(d)
	}
	r.LatencyMS["total"] = milliseconds(total)
}

// retrieved tells where hits lie. A chunk that left the index since has no
// source.
func (a *Assistant) retrieved(ctx context.Context, hits []state.Hit) ([]HitReply, error) {
	out := make([]HitReply, len(hits))
	ids := make([]string, len(hits))
	for i, h := range hits {
		out[i] = HitReply{ChunkID: h.Chunk, Score: h.Score, Legs: slices.Clone(h.Legs)}
		ids[i] = h.Chunk
	}
	e := a.engine.Load()
	if e == nil || len(ids) == 0 {
		return out, nil
	}
	chunks, err := e.searcher.Chunks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what was retrieved: %w", err)
	}
	sources := make(map[string]string, len(chunks))
	for _, c := range chunks {
		sources[c.ID] = c.Source
	}
	for i := range out {
		out[i].Source = sources[out[i].ChunkID]
	}
	return out, nil
}
