package ragflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Reply is the answer to a question, and all that led to it. Its JSON is the
// schema of `ragflow ask --json`.
type Reply struct {
	ThreadID  string               `json:"thread_id"`
	RunID     string               `json:"run_id"`
	Begun     time.Time            `json:"begun"` // UTC
	Question  string               `json:"question"`
	Answer    string               `json:"answer"`
	Abstained bool                 `json:"abstained"`
	Grade     GradeReply           `json:"grade"`
	Certainty CertaintyReply       `json:"certainty"`
	Citations []CitationReply      `json:"citations"`
	Others    []OtherReply         `json:"others"`           // sources that were found and are not cited, best first
	Unread    []ingest.FileProblem `json:"unread,omitempty"` // if the answer was not found: files that were not read, or not wholly
	Retrieved []HitReply           `json:"retrieved"`        // every fused hit in rank order, before the cut to the context
	Queries   []state.Query        `json:"queries"`
	Quality   Quality              `json:"quality"`
	Chunks    ChunkCounts          `json:"chunks"`
	Model     string               `json:"model"`            // what wrote the answer; "offline" without a model
	Cached    *state.Cached        `json:"cached,omitempty"` // if the answer is from the cache: the question that it was made for; read-only
	Usage     Usage                `json:"usage"`
	CostUSD   float64              `json:"cost_usd"`           // of the models whose price is known
	Unpriced  []string             `json:"unpriced,omitempty"` // models that were asked and whose price is not known
	LatencyMS map[string]float64   `json:"latency_ms"`         // per node, and "total"
	Warnings  []string             `json:"warnings"`

	// Context is the sources that the answer was made from, as Settings.Context
	// assembles them: [Source N] is the N of the citations. It is there to ask
	// another model with.
	Context       string `json:"-"`
	SourcesHeader string `json:"-"` // "Sources", in the language of the answer
	OthersHeader  string `json:"-"` // "Also found", in the language of the answer
	UnreadHeader  string `json:"-"` // "Not read, so not searched", in the language of the answer
	ChangedNotice string `json:"-"` // what to say of a citation whose Changed is set, in the language of the answer
	FoundNotice   string `json:"-"` // what to say of a citation that is Found, in the language of the answer
	AnswerMD      string `json:"-"` // answer.md, if requested
	FlowTraceMD   string `json:"-"` // flow_trace.md, if requested

	Prompt *PromptReply `json:"-"` // if requested
}

// GradeReply is the verdict on what was found.
type GradeReply struct {
	Score    float64 `json:"score"`    // 0.00–1.00
	Attempts int     `json:"attempts"` // retrievals done: 1, or 2 after a retry
	Refined  string  `json:"refined"`  // the query of the retry; empty without one
}

// CertaintyReply says how sure a person may be of the answer. A model's own words
// have the certainty of the sources that it was given.
type CertaintyReply struct {
	Band string  `json:"band"` // answers, probably, unsure: answered below 0.50, as models do, or closest: only the closest passages were found
	P    float64 `json:"p"`    // probability that the sources answer, 0.00–1.00
}

// Quality is how far the sources say what the answer says, as package cite
// checks it. The shares are within 0 and 1, and 1 if there was nothing to get
// wrong. Answers kept before there was a check have no claims.
type Quality = state.Quality

// ChunkCounts counts chunks by how far they got.
type ChunkCounts struct {
	Total         int `json:"total"`          // in the index; 0 if none is open
	Retrieved     int `json:"retrieved"`      // hits of all searches, fused
	Context       int `json:"context"`        // given to the answer
	Used          int `json:"used"`           // cited by it, or four of whose words stand in it in a row
	ContextTokens int `json:"context_tokens"` // of those given to the answer
}

// CitationReply is a passage that the answer cites: Quote is in Source at bytes Start
// to End, lines StartLine to EndLine or pages Page to EndPage.
type CitationReply struct {
	state.Citation

	Path    string `json:"path"` // the file itself
	Pages   string `json:"-"`    // Page and EndPage in words, in the language of the answer: page 12
	ChunkID string `json:"chunk_id"`
	Changed bool   `json:"changed"` // the file does not say this any more, or is gone
	// Metadata is what the document says of itself now, in front matter or a file beside
	// it, each value of its kind; absent if it says nothing or left the index.
	Metadata state.Metadata `json:"metadata,omitempty"`
}

// OtherReply is a source that was found and is not cited. Its citation is that of the whole passage.
type OtherReply struct {
	state.Citation

	Path    string `json:"path"`    // the file itself
	Pages   string `json:"-"`       // Page and EndPage in words, in the language of the answer
	Telling string `json:"telling"` // its sentence or line with the most words of the question
}

// HitReply is one retrieved chunk.
type HitReply struct {
	ChunkID string      `json:"chunk_id"`
	Source  string      `json:"source"`
	Score   float64     `json:"score"`
	Legs    []state.Leg `json:"legs"`
}

// Usage counts what models were asked.
type Usage struct {
	InputTokens  int64 `json:"input_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	TotalTokens  int64 `json:"total_tokens"` // of both
	Calls        int64 `json:"calls"`
}

// SearchReply is the schema of `ragflow search --json`.
type SearchReply struct {
	Query   string        `json:"query"`
	Phrases []string      `json:"phrases,omitempty"` // in quotes in the query: each hit holds them
	Filter  *state.Filter `json:"filter,omitempty"`
	Hits    []SearchHit   `json:"hits"`

	Duplicates int      `json:"duplicates,omitempty"` // hits left out because a better one says nearly the same: 0.95 and more of its words
	Warnings   []string `json:"warnings,omitempty"`   // why the dense search did not take part, or not wholly
	Note       string   `json:"note,omitempty"`       // says that a leg counts less than it usually does

	// Expanded is what Config.Dictionary adds to the query.
	Expanded []Expansion `json:"expanded,omitempty"`
	// Respelled are words of the query that no document has, with what was
	// searched for besides.
	Respelled []Respelled `json:"searched_also,omitempty"`

	Cached *time.Time `json:"cached,omitempty"` // when all of this was found, if it is from the cache
}

// Expansion is a word of a query with the words that a dictionary adds to it.
type Expansion = dictionary.Expansion

// Respelled is a word that no document has, with the terms spelled almost like it
// that are searched for besides, at a lower weight.
type Respelled struct {
	Word  string   `json:"word"`  // as written
	Terms []string `json:"terms"` // as indexed: without endings
}

// SearchHit is one passage found, with its place and text.
type SearchHit struct {
	Rank    int    `json:"rank"`
	ChunkID string `json:"chunk_id"`
	Path    string `json:"path"`
	EndPage int    `json:"end_page,omitempty"` // that it ends on; absent if the file has no pages
	state.Chunk
	Score float64     `json:"score"`
	Legs  []state.Leg `json:"legs"`
	// Metadata is what the document says of itself: front matter, or the file beside it.
	Metadata state.Metadata `json:"metadata,omitempty"`
	// RerankScore is the score of reranking, by which hits are ordered then; nil if
	// nothing was reranked, or this hit follows those that were. A model's is within
	// 0 and 1; offline it is the chance that this is the passage asked for.
	RerankScore *float64     `json:"rerank_score,omitempty"`
	Snippet     SnippetReply `json:"snippet"`
}

func newSearchHit(h *search.ListedHit, rank int) SearchHit {
	c := h.Chunk
	c.Headings = append([]string{}, c.Headings...)
	out := SearchHit{
		Rank: rank, ChunkID: c.ID, Path: ingest.Path(c.Root, c.Source), EndPage: c.PageAt(c.End - 1), Chunk: c,
		Score: h.Score, Legs: h.Legs, Metadata: c.Metadata, RerankScore: h.Rerank,
		Snippet: SnippetReply{Text: c.Text[h.Snippet.Start:h.Snippet.End], Start: c.Start + h.Snippet.Start, End: c.Start + h.Snippet.End, Marks: []search.Mark{}},
	}
	for _, m := range h.Snippet.Marks {
		out.Snippet.Marks = append(out.Snippet.Marks, search.Mark{Start: c.Start + m.Start, End: c.Start + m.End})
	}
	return out
}

// SnippetReply is the stretch of a passage that says most of what was asked for.
// Places are bytes of the document, as Start and End of the hit are.
type SnippetReply struct {
	Text  string        `json:"text"`
	Start int           `json:"start"`
	End   int           `json:"end"`
	Marks []search.Mark `json:"marks"` // words of the query
}

// Reply returns the reply of an earlier run, with all that Question.Trace asks for. AnswerMD and FlowTraceMD are the
// same bytes as when it ended, but for a line below each quote whose document has changed
// since. The run is named as for [threads.Log.Run]. It has no answer if it ended before.
func (a *Assistant) Reply(ctx context.Context, run string) (*Reply, error) {
	r, err := a.log.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	b := a.collections.known(ctx, collectionsOf(r.State.Scope)...)
	var chunks *chunkCache
	if b != nil {
		chunks = &chunkCache{read: b.engine.Chunks}
	}
	reply, err := a.reply(ctx, b, chunks, r)
	if err == nil {
		err = a.trace(ctx, reply, r)
	}
	return reply, err
}

// replyOf makes the reply of a run that completed from its durable events.
func (a *Assistant) replyOf(ctx context.Context, q *request, durable []graph.Event[state.State]) (*Reply, error) {
	r := runOf(durable)
	if q.trace || q.graph.Resume { // the beginning of a resumed run is in the log alone
		var err error
		if r.Commits, err = a.log.Commits(ctx, r.ID, r.Thread, durable[len(durable)-1].Commit); err != nil {
			return nil, err
		}
	}
	t := q.newest()
	reply, err := a.reply(ctx, t.bound, t.chunks, r)
	if err == nil && q.trace {
		err = a.trace(ctx, reply, r)
	}
	return reply, err
}

// reply makes the Reply of a run that ended, with what b and chunks have of its chunks; both
// may be nil. It shares nothing that could be written to with the state of the run.
func (a *Assistant) reply(ctx context.Context, b *bound, chunks *chunkCache, r *transcript.Run) (*Reply, error) {
	settings, _ := a.config.ResolveSettings(r.State.Settings) // those that were in force, also if its model is gone
	turn := r.State.Turn
	reply := &Reply{
		ThreadID: r.Thread, RunID: r.ID, Question: turn.Query, Answer: turn.Answer, Abstained: turn.Abstained,
		Grade:     GradeReply{Score: turn.Grade.Score, Attempts: turn.Attempts},
		Certainty: CertaintyReply{Band: state.Band(turn.Grade.Score, turn.Abstained), P: turn.Grade.Score},
		Queries:   cloneQueries(turn.Queries), Model: turn.Model, Cached: turn.Cached, Warnings: []string{},
		LatencyMS: map[string]float64{}, SourcesHeader: prompts.Say(prompts.SourcesHeader, turn.Language),
		OthersHeader: prompts.Say(prompts.AlsoFound, turn.Language), UnreadHeader: prompts.Say(prompts.NotRead, turn.Language), Others: others(turn),
		ChangedNotice: prompts.Say(prompts.Changed, turn.Language), FoundNotice: prompts.Say(prompts.Found, turn.Language),
	}
	if m, ok := state.LastHuman(r.State.Messages); ok {
		reply.Question = m.Content
	}
	for _, q := range turn.Queries {
		if q.Attempt == 2 {
			reply.Grade.Refined = q.Text
		}
	}
	reply.Citations = b.citations(ctx, chunks, turn)
	reply.Quality = Quality{Faithfulness: 1, CitationPrecision: 1, CitationRecall: 1}
	if turn.Quality != (Quality{}) {
		reply.Quality = turn.Quality
	}
	reply.Context = nodes.ContextOptions(settings.Context).Assemble(turn.Sources, turn.Language)
	reply.Chunks = b.counts(turn)
	if len(turn.Sources) > 0 {
		reply.Chunks.ContextTokens = text.Count(reply.Context)
	}
	reply.account(r.Commits)
	reply.Retrieved = make([]HitReply, len(turn.Hits))
	for i, h := range turn.Hits {
		reply.Retrieved[i] = HitReply{ChunkID: h.Chunk, Score: h.Score, Legs: slices.Clone(h.Legs)}
	}
	if err := chunks.locate(ctx, reply); err != nil {
		return nil, err
	}
	if b != nil && turn.Abstained {
		var err error
		if reply.Unread, err = b.libraries[0].Unread(ctx); err != nil {
			return nil, fmt.Errorf("list what was not read: %w", err)
		}
	}
	return reply, nil
}

// citations describes the citations of a turn, and which of them have changed.
func (b *bound) citations(ctx context.Context, chunks *chunkCache, turn state.Turn) []CitationReply {
	files := &ingest.CitedFiles{}
	if b != nil {
		files = b.libraries[0].CitedFiles(chunks.Chunks)
	}
	out := make([]CitationReply, len(turn.Citations))
	for i, c := range turn.Citations {
		out[i] = CitationReply{
			Citation: c, Path: ingest.Path(c.Root, c.Source), Pages: prompts.Pages(c.Page, c.EndPage, c.PageLabel, turn.Language), ChunkID: c.Chunk,
			Changed: files.Changed(ctx, c),
		}
	}
	return out
}

// others describes the sources of a turn that are not cited.
func others(turn state.Turn) []OtherReply {
	out := []OtherReply{}
	for _, o := range transcript.Others(turn) {
		out = append(out, OtherReply{
			Citation: o.Citation, Path: ingest.Path(o.Root, o.Source), Pages: prompts.Pages(o.Page, o.EndPage, o.PageLabel, turn.Language), Telling: o.Telling,
		})
	}
	return out
}

func cloneQueries(queries []state.Query) []state.Query {
	out := slices.Clone(queries)
	for i := range out {
		q := &out[i]
		q.Boosts, q.Cited, q.QuoteEnds = slices.Clone(q.Boosts), slices.Clone(q.Cited), slices.Clone(q.QuoteEnds)
		q.Phrases = slices.Clone(q.Phrases)
	}
	return out
}

// locate adds the places of hits from the index, and the metadata that cited documents say of
// themselves. A chunk that left the index since has neither.
func (c *chunkCache) locate(ctx context.Context, reply *Reply) error {
	if c == nil {
		return nil
	}
	var ids []string
	for _, h := range reply.Retrieved {
		ids = append(ids, h.ChunkID)
	}
	for _, c := range reply.Citations {
		ids = append(ids, c.Chunk)
	}
	chunks, err := c.Chunks(ctx, ids)
	if err != nil {
		return fmt.Errorf("read what was found: %w", err)
	}
	known := make(map[string]state.Chunk, len(chunks))
	for _, c := range chunks {
		known[c.ID] = c
	}
	for i := range reply.Retrieved {
		reply.Retrieved[i].Source = known[reply.Retrieved[i].ChunkID].Source
	}
	for i := range reply.Citations {
		reply.Citations[i].Metadata = known[reply.Citations[i].Chunk].Metadata
	}
	return nil
}

// counts counts the chunks of a turn by how far they got.
func (b *bound) counts(turn state.Turn) ChunkCounts {
	out := ChunkCounts{Retrieved: len(turn.Hits), Context: len(turn.Sources)}
	if b != nil {
		out.Total = b.engine.Docs()
	}
	var used []string
	for _, c := range turn.Citations {
		if !slices.Contains(used, c.Chunk) {
			used = append(used, c.Chunk)
		}
	}
	for _, source := range turn.Sources {
		if !slices.Contains(used, source.ID) && cite.SharesPhrase(turn.Answer, source.Text) {
			used = append(used, source.ID)
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
			for _, call := range d.Notes.Spent() {
				r.Usage.Calls++
				r.Usage.InputTokens += call.Counts[llm.CountInput]
				r.Usage.OutputTokens += call.Counts[llm.CountOutput]
				usd, priced := call.Counts[llm.CountCost]
				r.CostUSD += float64(usd) / 1e9
				if !priced && call.Error == "" && !slices.Contains(r.Unpriced, call.Name) {
					r.Unpriced = append(r.Unpriced, call.Name)
				}
			}
			if d.Node != "" {
				nodes[d.Node] += d.Notes.Duration
			}
		}
	}
	r.Usage.TotalTokens = r.Usage.InputTokens + r.Usage.OutputTokens
	if len(commits) > 0 {
		r.Begun = commits[len(commits)-1].Time.UTC()
		total = commits[0].Time.Sub(commits[len(commits)-1].Time)
	}
	for node, d := range nodes {
		r.LatencyMS[node] = milliseconds(d)
	}
	r.LatencyMS["total"] = milliseconds(total)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
