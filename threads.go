package ragflow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
	"example.com/ragflow/transcript"
)

// titleRunes is how much of the first question a thread's title shows.
const titleRunes = 80

// Threads lists all threads, last used first: by the order in which they were
// written, whatever the clock said.
func (a *Assistant) Threads(ctx context.Context) ([]ThreadInfo, error) {
	infos, err := a.threads.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	out := make([]ThreadInfo, len(infos))
	for i, info := range infos {
		if out[i], err = a.threadInfo(ctx, info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (a *Assistant) threadInfo(ctx context.Context, info checkpoint.Info) (ThreadInfo, error) {
	t := ThreadInfo{
		ID: info.Thread, Turns: info.Inputs, Created: info.Created, Used: info.Touched,
		Bytes: info.Bytes, Status: string(info.Status),
	}
	for c, err := range a.threads.Walk(ctx, info.Thread, info.First) {
		if err != nil {
			return t, fmt.Errorf("thread %q: %w", info.Thread, err)
		}
		for _, d := range c.Deltas {
			if i := slices.IndexFunc(d.Notes.Details, func(n graph.Detail) bool { return n.Key == titleDetail }); c.Source == graph.SourceBase && i >= 0 {
				t.Title = d.Notes.Details[i].Value
				break
			}
			var u state.Update
			if len(d.Body) == 0 {
				continue
			}
			if err := json.Unmarshal(d.Body, &u); err != nil {
				return t, fmt.Errorf("thread %q: first input: %w", info.Thread, err)
			}
			if m := slices.IndexFunc(u.Messages, func(op state.MessageOp) bool { return op.Put != nil }); m >= 0 {
				t.Title = title(u.Messages[m].Put.Content)
			}
		}
	}
	return t, nil
}

func title(question string) string {
	question = text.Clean(question)
	if short := text.First(question, titleRunes-1); short != question {
		return strings.TrimSpace(short) + "…"
	}
	return question
}

// Thread returns a whole conversation: every message that was said, those that
// are summarised too. An unknown id matches ErrNotFound.
func (a *Assistant) Thread(ctx context.Context, id string) (*Thread, error) {
	infos, err := a.threads.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("read thread %q: %w", id, err)
	}
	i := slices.IndexFunc(infos, func(info checkpoint.Info) bool { return info.Thread == id })
	if i < 0 {
		return nil, fmt.Errorf("thread %q: %w", id, ErrNotFound)
	}
	t := &Thread{Messages: []ThreadMessage{}, Summaries: []string{}}
	if t.ThreadInfo, err = a.threadInfo(ctx, infos[i]); err != nil {
		return nil, err
	}
	var commits []graph.Commit
	for c, err := range a.threads.Walk(ctx, id, 0) {
		if err != nil {
			return nil, fmt.Errorf("read thread %q: %w", id, err)
		}
		commits = append(commits, c)
	}
	h := history{thread: t, runs: map[string]string{}}
	for _, c := range slices.Backward(commits) {
		for _, d := range c.Deltas {
			if err := h.add(c, d); err != nil {
				return nil, fmt.Errorf("read thread %q: commit %d: %w", id, c.ID, err)
			}
		}
	}
	for _, m := range h.messages {
		t.Messages = append(t.Messages, ThreadMessage{m, h.runs[m.ID]})
	}
	return t, nil
}

// history folds a thread's log into what was said.
type history struct {
	thread   *Thread // its summaries
	messages []state.Message
	runs     map[string]string // that said a message, by the message's id
}

// add folds one delta into the history. What summarising takes out of the live
// state stays; see views.go for the same rule in SQL.
func (h *history) add(c graph.Commit, d graph.Delta) error {
	if d.Error != "" || len(d.Body) == 0 {
		return nil
	}
	var u state.Update
	if err := json.Unmarshal(d.Body, &u); err != nil {
		return err
	}
	ops := u.Messages
	if u.Summary != nil {
		h.thread.Summary = *u.Summary
		h.thread.Summaries = append(h.thread.Summaries, *u.Summary)
		ops = slices.DeleteFunc(slices.Clone(ops), func(op state.MessageOp) bool { return op.Put == nil })
	}
	for _, op := range ops {
		if op.Put == nil || c.Source != graph.SourceInput && c.Source != graph.SourceLoop {
			continue // said before: an undo only brings it back, and what was pruned has no run any more
		}
		h.runs[op.Put.ID] = c.Run
	}
	messages, err := state.FoldMessages(h.messages, ops)
	h.messages = messages
	return err
}

// Run returns a run as the log holds it. It may be named by its id, by the
// beginning of its id, or by "last" for the newest of all threads. An unknown
// one matches ErrNotFound, the beginning of several ErrAmbiguous.
func (a *Assistant) Run(ctx context.Context, run string) (*transcript.Run, error) {
	id, thread, last, err := a.findRun(ctx, run)
	if err != nil {
		return nil, err
	}
	return a.readRun(ctx, id, thread, last)
}

// readRun reads a run of a thread up to a commit, its last.
func (a *Assistant) readRun(ctx context.Context, id, thread string, last graph.CommitID) (*transcript.Run, error) {
	commits, err := a.commits(ctx, id, thread, last)
	if err != nil {
		return nil, err
	}
	r := &transcript.Run{Thread: thread, ID: id, Commits: commits}
	if r.State, err = a.stateAt(ctx, thread, last); err != nil {
		return nil, fmt.Errorf("read run %q: %w", id, err)
	}
	return r, nil
}

// commits reads those of a run, newest first. They are looked for in the thread: a fork
// may hold the run, too.
func (a *Assistant) commits(ctx context.Context, run, thread string, last graph.CommitID) (out []graph.Commit, err error) {
	for c, err := range a.threads.Walk(ctx, thread, last) {
		if err != nil {
			return nil, fmt.Errorf("read run %q: %w", run, err)
		}
		if c.Run != run {
			break // a run's commits stand together
		}
		out = append(out, c)
	}
	return out, nil
}

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

func (a *Assistant) stateAt(ctx context.Context, thread string, at graph.CommitID) (state.State, error) {
	plan, err := graph.Compile(flow(a.config, skills{}))
	if err != nil {
		return state.State{}, err
	}
	return plan.Runner(graph.Options{Store: a.threads}).StateAt(ctx, thread, at)
}

// findRun resolves a run's name.
func (a *Assistant) findRun(ctx context.Context, run string) (id, thread string, last graph.CommitID, err error) {
	if run == "last" {
		return a.newestRun(ctx)
	}
	ids, err := a.threads.Runs(ctx, run)
	switch {
	case err != nil:
		return "", "", 0, fmt.Errorf("find run %q: %w", run, err)
	case run == "" || len(ids) == 0:
		return "", "", 0, fmt.Errorf("run %q: %w", run, ErrNotFound)
	case len(ids) > 1 && !slices.Contains(ids, run):
		return "", "", 0, fmt.Errorf("run %q: %w", run, ErrAmbiguous)
	case len(ids) == 1:
		run = ids[0]
	}
	thread, last, err = a.threads.FindRun(ctx, run)
	if err != nil {
		return "", "", 0, fmt.Errorf("run %q: %w", run, err)
	}
	return run, thread, last, nil
}

func (a *Assistant) newestRun(ctx context.Context) (id, thread string, last graph.CommitID, err error) {
	infos, err := a.threads.Threads(ctx)
	if err != nil || len(infos) == 0 {
		return "", "", 0, cmp.Or(err, fmt.Errorf("no run yet: %w", ErrNotFound))
	}
	for _, info := range infos {
		for c, err := range a.threads.Walk(ctx, info.Thread, 0) {
			if err != nil {
				return "", "", 0, err
			}
			if c.Source != graph.SourceUndo && c.Source != graph.SourceUpdate && c.Source != graph.SourceBase {
				return c.Run, info.Thread, c.ID, nil
			}
		}
	}
	return "", "", 0, fmt.Errorf("no run yet: %w", ErrNotFound)
}

// Trace renders answer.md and flow_trace.md of any run from the log: the same
// bytes as when it ended, but for a line below each quote whose document has
// changed since.
func (a *Assistant) Trace(ctx context.Context, run string) (answerMD, flowTraceMD string, err error) {
	r, err := a.Run(ctx, run)
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
