package ragflow

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/model"
	"example.com/ragflow/nodes"
	"example.com/ragflow/state"
)

// ErrNoModel is the error of a question with Agent without a model.
var ErrNoModel = errors.New("an agent needs a model, and none is configured: set Config.Models")

// chooseRunner sets the runner of a question: that of an agent if it asks for one, or if it
// resumes a run of one.
func (a *Assistant) chooseRunner(ctx context.Context, r *request, q Question) error {
	r.runner = a.runner
	writer, ok := r.writer.(model.Quoting)
	if !ok {
		if q.Agent {
			return ErrNoModel
		}
		return nil
	}
	if !q.Agent && !q.Resume {
		return nil
	}
	plain := r.offlineSkills(true)
	plain.verifier = r.verifier
	answering := a.answering(plain, writer, r.settings)
	searching, err := r.models.Agent(r.engine, r.words, r.settings.Context.TrustDocuments, answering.Task, a.config.NewID)
	if err != nil {
		return err
	}
	p, err := graph.Compile(agentFlow(searching))
	if err != nil {
		return err
	}
	if q.Resume {
		head, err := a.store.Head(ctx, q.Thread)
		if err != nil {
			return fmt.Errorf("resume thread %q: %w", q.Thread, err)
		}
		if head.Fingerprint != p.Fingerprint() {
			return nil
		}
	}
	r.nodes[nodes.PreRetrievalID] = nodes.PreRetrieval(plain.rewriter)
	r.nodes[nodes.CheckAndRefineID] = nodes.CheckAndRefine(plain.searcher, plain.grader, plain.free, r.settings.Threshold)
	r.nodes[nodes.GenerateID] = func(ctx context.Context, s state.State) (state.Update, error) {
		return nodes.Generate(a.answering(plain, writer.Answered(s.Turn), r.settings))(ctx, s)
	}
	r.runner = p.Runner(a.runnerOptions())
	return nil
}
