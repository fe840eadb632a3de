package ragflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/chain"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// flowVersion is part of the graph's fingerprint: it rises when the meaning of
// a node changes, so that a run that stopped under the old one is not resumed
// under the new one. It also rises when state.Apply changes what an update of the log
// does; threads without a snapshot after their last update then need Options.Migrate.
const flowVersion = "1"

// flow is the whole product at a glance: seven nodes, one branch.
//
//	ingest → pre_retrieval → retrieval → check_and_refine ┬→ post_retrieval → summarize_conversation → generate
//	                             ↑         score < 0.50   │
//	                             └────── once, refined ───┘
//
// Where a model grades, the likely route begins while it does; see Config.Speculate.
func flow(c Config, s skills) graph.Graph[state.State, state.Update] {
	return graph.Graph[state.State, state.Update]{
		Name:    "ragflow",
		Version: flowVersion,
		Apply:   state.Apply,
		Restore: func(now, then state.State) ([]state.Update, error) { return state.Restore(now, then), nil },
		Order:   nodes.Order(),
		Nodes: map[string]graph.Task[state.State, state.Update]{
			nodes.IngestID:                {Run: nodes.Ingest()},
			nodes.PreRetrievalID:          {Run: nodes.PreRetrieval(s.rewriter)},
			nodes.RetrievalID:             {Run: nodes.Retrieval(s.searcher, c.RetrievalWorkers, c.topK, c.Retrieval.Fuse)},
			nodes.CheckAndRefineID:        {Run: nodes.CheckAndRefine(s.searcher, s.grader, s.free, c.Threshold), Speculate: c.speculation()},
			nodes.PostRetrievalID:         {Run: nodes.PostRetrieval(s.searcher, s.reranker, c.Context)},
			nodes.SummarizeConversationID: {Run: nodes.SummarizeConversation(s.summarizer, c.SummaryTokens)},
			nodes.GenerateID:              {Run: nodes.Generate(c.answering(s.answerer, s))},
		},
		Edges: []graph.Edge{
			{From: graph.Start, To: nodes.IngestID},
			{From: nodes.IngestID, To: nodes.PreRetrievalID},
			{From: nodes.PreRetrievalID, To: nodes.RetrievalID},
			{From: nodes.RetrievalID, To: nodes.CheckAndRefineID},
			{From: nodes.PostRetrievalID, To: nodes.SummarizeConversationID},
			{From: nodes.SummarizeConversationID, To: nodes.GenerateID},
			{From: nodes.GenerateID, To: graph.End},
		},
		Branches: []graph.Branch[state.State]{{
			From:  nodes.CheckAndRefineID,
			Route: nodes.AfterCheck(c.Threshold),
			To:    []string{nodes.PostRetrievalID, nodes.RetrievalID},
			Label: map[string]string{
				nodes.PostRetrievalID: fmt.Sprintf("score ≥ %.2f, or retried", c.Threshold),
				nodes.RetrievalID:     fmt.Sprintf("score < %.2f, once", c.Threshold),
			},
		}},
	}
}

// speculation lets the nodes after check_and_refine run while a model grades. They do not
// depend on its result. Where it goes back to retrieval, their work is thrown away.
func (c Config) speculation() (s graph.Speculation[state.State]) {
	if c.Speculate && c.Chat != nil && !c.PlainGrades {
		s.Nodes = []string{nodes.PostRetrievalID, nodes.SummarizeConversationID, nodes.GenerateID}
	}
	return s
}

// answering is how generate works.
func (c Config) answering(by nodes.Answerer, s skills) nodes.Answering {
	return nodes.Answering{
		Answerer: by, Closest: s.closest, Verifier: s.verifier, ContentTokens: c.ContentTokens, Context: c.Context, Documents: s.documents,
		Strict: c.Strict, NewID: c.NewID, Clock: c.Clock,
	}
}

// ErrNoModel is the error of a question with Agent where no model is configured.
var ErrNoModel = errors.New("an agent needs a model, and none is configured: set Config.Chat")

// agentFlow is flow with a node before generate, in which a model reads the sources and
// searches for more as often as it likes. generate checks its answer as it checks any other.
// The question is rewritten and graded without a model.
func agentFlow(c Config, s, own skills, engine *search.Engine) (graph.Graph[state.State, state.Update], error) {
	s.rewriter, s.grader, own.verifier = own.rewriter, own.grader, s.verifier
	c.Speculate = false
	g := flow(c, s)
	writer, ok := s.answerer.(chain.Answerer)
	if !ok {
		return g, ErrNoModel
	}
	searching, err := writer.Agent(engine, own.words, c.Context.TrustDocuments, c.answering(writer, own).Task, c.NewID)
	if err != nil {
		return g, err
	}
	g.Name = "ragflow agent"
	g.Nodes[chain.AgentID] = searching
	g.Nodes[nodes.GenerateID] = graph.Task[state.State, state.Update]{Run: func(ctx context.Context, s state.State) (state.Update, error) {
		return nodes.Generate(c.answering(writer.Written(s.Turn.Answer), own))(ctx, s)
	}}
	i := slices.Index(g.Order, nodes.GenerateID)
	g.Order = slices.Insert(slices.Clone(g.Order), i, chain.AgentID)
	for i := range g.Edges {
		if g.Edges[i].To == nodes.GenerateID {
			g.Edges[i].To = chain.AgentID
		}
	}
	g.Edges = append(g.Edges, graph.Edge{From: chain.AgentID, To: nodes.GenerateID})
	return g, nil
}
