package ragflow

import (
	"sync"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/draw"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// flowVersion is part of the graph's fingerprint. It rises when the meaning of a node
// changes, so that a run that stopped under the old meaning is not resumed under the new
// one, and when state.Apply changes what an update of the log does.
const flowVersion = "2"

// flow is the whole product at a glance: seven nodes, one branch.
//
//	ingest → pre_retrieval → retrieval → check_and_refine ┬→ post_retrieval → summarize_conversation → generate
//	                             ↑         score < 0.50   │
//	                             └────── once, refined ───┘
//
// The graph is the same for all questions. The skills and settings of a question
// are in the turn that its nodes find in the context; see turn.go.
func flow() graph.Graph[state.State, state.Update] {
	return graph.Graph[state.State, state.Update]{
		Name:    "ragflow",
		Version: flowVersion,
		Apply:   state.Apply,
		Restore: func(now, then state.State) ([]state.Update, error) { return state.Restore(now, then), nil },
		Order:   nodes.Order(),
		Nodes: map[string]graph.Task[state.State, state.Update]{
			nodes.IngestID:       {Run: ofTurn(nodes.IngestID)},
			nodes.PreRetrievalID: {Run: ofTurn(nodes.PreRetrievalID)},
			nodes.RetrievalID:    {Run: ofTurn(nodes.RetrievalID)},
			nodes.CheckAndRefineID: {Run: ofTurn(nodes.CheckAndRefineID), Speculate: graph.Speculation[state.State]{
				// These do not depend on the grade. If the route goes back to retrieval, their work is lost.
				Nodes: []string{nodes.PostRetrievalID, nodes.SummarizeConversationID, nodes.GenerateID},
				If:    func(s state.State) bool { return s.Settings.Speculate },
			}},
			nodes.PostRetrievalID:         {Run: ofTurn(nodes.PostRetrievalID)},
			nodes.SummarizeConversationID: {Run: ofTurn(nodes.SummarizeConversationID)},
			nodes.GenerateID:              {Run: ofTurn(nodes.GenerateID)},
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
			Route: nodes.AfterCheck,
			To:    []string{nodes.PostRetrievalID, nodes.RetrievalID},
			Label: map[string]string{
				nodes.PostRetrievalID: "score ≥ 0.50, or retried",
				nodes.RetrievalID:     "score < 0.50, once",
			},
		}},
	}
}

// agentFlow is flow with a node before generate, in which a model reads the sources and
// searches for more as often as it likes. generate checks its answer as any other.
//
//	… → post_retrieval → summarize_conversation → agent → generate
func agentFlow(agent graph.Task[state.State, state.Update]) graph.Graph[state.State, state.Update] {
	plain := flow()
	return graph.Graph[state.State, state.Update]{
		Name:    "ragflow agent",
		Version: plain.Version,
		Apply:   plain.Apply,
		Restore: plain.Restore,
		Order: []string{
			nodes.IngestID, nodes.PreRetrievalID, nodes.RetrievalID, nodes.CheckAndRefineID,
			nodes.PostRetrievalID, nodes.SummarizeConversationID, nodes.AgentID, nodes.GenerateID,
		},
		Nodes: map[string]graph.Task[state.State, state.Update]{
			nodes.IngestID:                {Run: ofTurn(nodes.IngestID)},
			nodes.PreRetrievalID:          {Run: ofTurn(nodes.PreRetrievalID)},
			nodes.RetrievalID:             {Run: ofTurn(nodes.RetrievalID)},
			nodes.CheckAndRefineID:        {Run: ofTurn(nodes.CheckAndRefineID)},
			nodes.PostRetrievalID:         {Run: ofTurn(nodes.PostRetrievalID)},
			nodes.SummarizeConversationID: {Run: ofTurn(nodes.SummarizeConversationID)},
			nodes.AgentID:                 agent,
			nodes.GenerateID:              {Run: ofTurn(nodes.GenerateID)},
		},
		Edges: []graph.Edge{
			{From: graph.Start, To: nodes.IngestID},
			{From: nodes.IngestID, To: nodes.PreRetrievalID},
			{From: nodes.PreRetrievalID, To: nodes.RetrievalID},
			{From: nodes.RetrievalID, To: nodes.CheckAndRefineID},
			{From: nodes.PostRetrievalID, To: nodes.SummarizeConversationID},
			{From: nodes.SummarizeConversationID, To: nodes.AgentID},
			{From: nodes.AgentID, To: nodes.GenerateID},
			{From: nodes.GenerateID, To: graph.End},
		},
		Branches: plain.Branches,
	}
}

// plan is the compiled flow.
var plan = sync.OnceValues(func() (*graph.Plan[state.State, state.Update], error) { return graph.Compile(flow()) })

// DrawGraph draws the flow as a Mermaid flowchart.
func DrawGraph() (string, error) {
	p, err := plan()
	if err != nil {
		return "", err
	}
	return draw.Mermaid(p.Shape()), nil
}
