package ragflow

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// bound is what questions over some collections share: one snapshot of their indexes. A turn
// uses one from beginning to end, whatever is indexed meanwhile.
type bound struct {
	version   string            // of the views of the libraries
	content   string            // changes with what is found and how, and is the same in all processes
	libraries []*ingest.Library // of the collections
	offline   offline.Skills
	words     *offline.Rewriter // of offline, with the person's dictionary
	engine    *search.Engine
	order     *order           // of passages, by words and meaning; nil: by words alone
	retrieval search.Retrieval // how lists are fused

	compare sync.Once // promoted answers were compared with their documents; it guards what follows
	dropped []string  // those that do not hold any more: then these are not the documents to answer from
	fault   error
}

// turn is one question under way: what its nodes work with. It does not change; another turn
// may take its place.
type turn struct {
	*bound
	settings Settings // resolved
	nodes    map[string]nodes.Node
	engine   *search.Engine // narrowed to the filter of the question
	chunks   *chunkCache
	models   model.Setup // zero without a model

	researcher *model.Researcher // of an agent; nil: none

	rewriter nodes.Rewriter
	writer   nodes.Writer // nil without a model
	verifier nodes.Verifier

	next atomic.Pointer[turn] // that took its place; nil: none
}

type turnKey struct{}

var errNoTurn = errors.New("the graph of ragflow runs only for a question")

// ofTurn returns the node that runs the node of the turn in its context.
func ofTurn(id string) graph.Node[state.State, state.Update] {
	return func(ctx context.Context, s state.State) (state.Update, error) {
		t := turnOf(ctx)
		if t == nil {
			return state.Update{}, errNoTurn
		}
		return t.nodes[id](ctx, s)
	}
}

// turnOf returns the turn in a context, which [Runs] has set; nil: none.
func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	if t == nil {
		return nil
	}
	return t.newest()
}

// newest returns the turn that took the place of this one, or this one.
func (t *turn) newest() *turn { return cmp.Or(t.next.Load(), t) }

// newTurn makes the turn of a question with settings, over the documents that pass a filter.
func (a *Assistant) newTurn(ctx context.Context, b *bound, s Settings, f state.Filter) (*turn, error) {
	chat, err := a.config.chat(s)
	if err != nil {
		return nil, err
	}
	engine, err := b.engine.Narrowed(ctx, f)
	if err != nil {
		return nil, err
	}
	if engine.Passing() == 0 && !f.Empty() {
		return nil, ErrFiltered
	}
	custom, err := a.prompts(s)
	if err != nil {
		return nil, err
	}
	t := &turn{bound: b, settings: s, engine: engine, chunks: &chunkCache{read: engine.Chunks}}
	k := t.offlineSkills(chat != nil)
	if chat != nil {
		t.models = model.Setup{
			Models:    model.Models{Chat: chat, Tasks: a.config.Models.Tasks},
			NoGrading: s.NoModelGrading, Verify: s.Verify, Checked: s.Checked, Threshold: s.Threshold,
			Transforms: s.Transforms, Answers: answerOptions(s), Stats: b.engine.Snapshot, Custom: custom,
		}
		with := t.models.Skills(model.Skills{Rewriter: k.rewriter, Grader: k.grader, Summarizer: k.summarizer})
		k.rewriter, k.grader, k.summarizer, k.writer, k.verifier = with.Rewriter, with.Grader, with.Summarizer, with.Writer, with.Verifier
	}
	if s.Language != "" {
		k.rewriter = inLanguage{k.rewriter, s.Language}
	}
	t.rewriter, t.writer, t.verifier = k.rewriter, k.writer, k.verifier
	t.nodes = a.nodesOf(k, s, b.retrieval.Fuse)
	return t, nil
}

// nodesOf makes the nodes of a turn.
func (a *Assistant) nodesOf(k skills, s Settings, fuse func([]state.Hit, func(state.Leg) float64) []state.Hit) map[string]nodes.Node {
	out := map[string]nodes.Node{
		nodes.IngestID:       nodes.Ingest(),
		nodes.PreRetrievalID: nodes.PreRetrieval(k.rewriter),
		nodes.RetrievalID: nodes.Retrieval(nodes.Retrieving{
			Searcher: k.searcher, Workers: a.config.Workers, TopK: s.TopK, Fuse: fuse, Reranker: k.reranker, Texts: &a.texts,
		}),
		nodes.CheckAndRefineID:        nodes.CheckAndRefine(k.searcher, k.grader, k.free, s.Threshold),
		nodes.PostRetrievalID:         nodes.PostRetrieval(k.searcher, &a.texts, nodes.ContextOptions(s.Context)),
		nodes.SummarizeConversationID: nodes.SummarizeConversation(k.summarizer, s.SummaryTokens),
		nodes.GenerateID:              nodes.Generate(a.answering(k, s)),
	}
	for id, node := range out {
		out[id] = a.unlessCached(id, node)
	}
	return out
}

// answering configures generate.
func (a *Assistant) answering(k skills, s Settings) nodes.Answering {
	return nodes.Answering{
		Quotes: k.quotes, Writer: k.writer, Grader: k.free, Verifier: k.verifier, ContentTokens: s.ContentTokens, Context: nodes.ContextOptions(s.Context),
		Documents: k.documents, Threshold: s.Threshold, NoRefusals: s.NoRefusals, Strict: s.Strict, Checked: s.Checked, NewID: a.config.NewID, Clock: a.config.Clock,
	}
}

// prompts returns the prompts of a question.
func (a *Assistant) prompts(s Settings) (prompts.Set, error) {
	if s.System == "" {
		return a.custom, nil
	}
	return a.custom.WithSystem(s.System)
}

// chunkCache reads each chunk of a turn once. It is safe for concurrent use.
type chunkCache struct {
	read func(ctx context.Context, ids []string) ([]state.Chunk, error)

	mu    sync.Mutex
	known map[string]state.Chunk
}

// Chunks returns chunks by ID, in the order of ids. Those that left the index are missing.
func (c *chunkCache) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := c.known[id]; return ok })
	if len(missing) > 0 {
		chunks, err := c.read(ctx, missing)
		if err != nil {
			return nil, err
		}
		if c.known == nil {
			c.known = map[string]state.Chunk{}
		}
		for _, chunk := range chunks {
			c.known[chunk.ID] = chunk
		}
	}
	var out []state.Chunk
	for _, id := range ids {
		if chunk, ok := c.known[id]; ok {
			out = append(out, chunk)
		}
	}
	return out, nil
}
