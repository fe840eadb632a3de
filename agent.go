package ragflow

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/nodes"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// ErrNoModel is the error of a question with Agent without a model.
var ErrNoModel = errors.New("an agent needs a model, and none is configured: set Config.Models")

// agentHits is the number of passages that a search of an agent finds.
const agentHits = 4

// agentPlan compiles the flow of questions with Agent.
func (a *Assistant) agentPlan() (*graph.Plan[state.State, state.Update], error) {
	agent, err := model.Research{
		Task: func(s state.State) state.Task {
			s.Settings, _ = a.config.ResolveSettings(s.Settings) // resolved without an error before the run began
			return nodes.Answering{ContentTokens: s.Settings.ContentTokens, Context: nodes.ContextOptions(s.Settings.Context)}.Task(s)
		},
		Custom: func(s state.State) prompts.Set {
			set, _ := a.prompts(s.Settings) // as above
			return set
		},
		NewID: a.config.NewID,
		Of:    func(ctx context.Context) *model.Researcher { return turnOf(ctx).researcher },
		Tools: a.agentTools(),
	}.Node()
	if err != nil {
		return nil, err
	}
	return graph.Compile(agentFlow(agent))
}

// chooseRunner sets the runner of a question: that of an agent if it asks for one, or if it
// resumes a run of one.
func (a *Assistant) chooseRunner(ctx context.Context, r *request, q Question) error {
	r.runner = a.runner
	if q.Agent && r.writer == nil {
		return ErrNoModel
	}
	if r.writer == nil || !q.Agent && !q.Resume {
		return nil
	}
	if q.Resume {
		head, err := a.store.Head(ctx, q.Thread)
		if err != nil {
			return fmt.Errorf("resume thread %q: %w", q.Thread, err)
		}
		if head.Fingerprint != a.agentPrint {
			return nil
		}
	}
	a.research(r.turn)
	r.runner = a.agentRunner
	return nil
}

// research lets the nodes of a turn work for an agent. The question is rewritten and graded without a model.
func (a *Assistant) research(t *turn) {
	plain := t.offlineSkills(true)
	plain.verifier = t.verifier
	t.researcher = t.models.Researcher(t.find)
	t.nodes[nodes.PreRetrievalID] = nodes.PreRetrieval(plain.rewriter)
	t.nodes[nodes.CheckAndRefineID] = nodes.CheckAndRefine(plain.searcher, plain.grader, plain.free, t.settings.Threshold)
	t.nodes[nodes.GenerateID] = func(ctx context.Context, s state.State) (state.Update, error) {
		answering := a.answering(plain, t.settings)
		answering.Writer, answering.NoRefusals = t.models.Answered(s.Turn), false // it has been asked
		return nodes.Generate(answering)(ctx, s)
	}
}

// find searches for an agent.
func (t *turn) find(ctx context.Context, query string) ([]state.Source, error) {
	q := state.Query{Text: query, Weight: 1, Attempt: 1, Boosts: t.words.Boosts(query, nil)}
	list, err := t.engine.List(ctx, q, search.Request{K: agentHits})
	if err != nil {
		return nil, err
	}
	for _, w := range list.Warnings {
		graph.Warn(ctx, w)
	}
	var out []state.Source
	for _, h := range list.Hits {
		out = append(out, state.Source{Chunk: h.Chunk, Score: h.Score})
	}
	return nodes.WithoutInjections(ctx, out, t.settings.Context.TrustDocuments), nil
}
