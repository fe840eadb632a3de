package ragflow

import (
	"context"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/prompts"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
	"example.com/ragflow/transcript"
)

// Threads lists, shows and edits the conversations of the data folder.
func (a *Assistant) Threads() *threads.Log { return a.log }

// heard is a run as its durable events told of it while it went on: of its
// commits, when they were made and what their tasks noted. Its state is shared with the
// thread, and not to be written to.
func heard(told []Event) *transcript.Run {
	last := told[len(told)-1]
	r := &transcript.Run{Thread: last.Thread, ID: last.Run, State: last.State}
	for _, e := range slices.Backward(told) {
		if e.Kind != graph.RunEnded { // which tells of the commit before once more
			r.Commits = append(r.Commits, graph.Commit{ID: e.Commit, Run: e.Run, Step: e.Step, Status: e.Status, Time: e.Time, Deltas: e.Tasks})
		}
	}
	return r
}

// Trace renders answer.md and flow_trace.md of any run from the log: the same
// bytes as when it ended, but for a line below each quote whose document has
// changed since.
func (a *Assistant) Trace(ctx context.Context, run string) (answerMD, flowTraceMD string, err error) {
	r, err := a.log.Run(ctx, run)
	if err != nil {
		return "", "", err
	}
	answerMD, flowTraceMD = a.render(ctx, r)
	return answerMD, flowTraceMD, nil
}

func (*Assistant) render(ctx context.Context, r *transcript.Run) (answerMD, flowTraceMD string) {
	var files sourceFiles
	answerMD = transcript.AnswerMD(*r, transcript.Options{
		SourcesHeader: prompts.Say(prompts.SourcesHeader, r.State.Turn.Language),
		Path:          func(c state.Citation) string { return citedPath(c.Root, c.Source) },
		Changed:       prompts.Say(prompts.Changed, r.State.Turn.Language),
		IsChanged:     func(c state.Citation) bool { return files.changed(ctx, c) },
	})
	return answerMD, transcript.FlowTraceMD(*r)
}
