package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/tune"
)

// measurer runs a dataset with one choice of settings after the other.
type measurer struct {
	app     *app
	given   *given
	goal    tune.Goal
	dataset eval.Dataset
	options eval.Options
	dir     string // for the runs, which stay there if the call is interrupted

	documents   string // state of the index, of the first run
	done, total int    // questions
	told        bool   // what a run says first was said
}

// trialsDir is the folder of the data folder with the runs of an optimisation that was interrupted.
const trialsDir = "optimize"

// all fills in the runs of trials, and returns the run without them. If times are compared, each trial has a run without
// it before and after, asked one question at a time: the shorter time of each question counts, so that a machine that
// becomes faster meanwhile is no gain.
func (m *measurer) all(ctx context.Context, trials []tune.Trial) (before *eval.Result, err error) {
	timed := m.goal.Metric == tune.Latency
	m.total = (len(trials) + 1) * m.dataset.Questions()
	if timed {
		m.options.Workers = 1
		m.total = (2*len(trials) + 2) * m.dataset.Questions()
		if _, err := m.run(ctx, nil, false); err != nil { // the first one fills caches
			return nil, err
		}
	}
	m.app.tell("asking %s with %s of settings", count(m.total, "question"), count(len(trials)+1, "choice"))
	if before, err = m.run(ctx, nil, !timed); err != nil {
		return nil, err
	}
	last := before
	for i := range trials {
		t := &trials[i]
		if t.Run, err = m.run(ctx, t.Settings, !timed); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			t.Run, t.Fault = nil, err.Error()
		}
		if timed {
			after, err := m.run(ctx, nil, false)
			if err != nil {
				return nil, err
			}
			t.Before, last = shorter(last, after), after
		}
	}
	return before, os.RemoveAll(m.dir)
}

// rest says how to resume an interrupted call, and what it has done.
func (m *measurer) rest() string {
	if m.goal.Metric == tune.Latency {
		return "the same command, which begins again, since times are not kept; no setting was written"
	}
	return fmt.Sprintf("the same command; %d of %s are kept, and no setting was written", m.done, count(m.total, "answer"))
}

// shorter returns a run with the shorter time of each question.
func shorter(a, b *eval.Result) *eval.Result {
	out := *a
	out.Outcomes = append([]eval.Outcome{}, a.Outcomes...)
	for i := range out.Outcomes {
		out.Outcomes[i].LatencyMS = min(a.Outcomes[i].LatencyMS, b.Outcomes[i].LatencyMS)
	}
	return &out
}

// with returns an app and flags under which some settings have other values.
func (m *measurer) with(values map[string]string) (*app, *given) {
	of, own := *m.app, *m.given
	of.env, own.settings = maps.Clone(m.app.env), maps.Clone(m.given.settings)
	for name, v := range values {
		of.env["RAGFLOW_"+name] = v
		if f := own.settings[name]; f != nil {
			own.settings[name] = &settings.Flag{Name: f.Name, Usage: f.Usage}
		}
	}
	return &of, &own
}

// run asks the dataset with some settings, or with kept reads what an interrupted call has kept of it.
func (m *measurer) run(ctx context.Context, values map[string]string, kept bool) (result *eval.Result, err error) {
	of, own := m.with(values)
	of.quiet = of.quiet || m.told
	m.told = true
	err = of.with(ctx, own, opening{sync: true, change: func(c *ragflow.Config) { c.ForgetThreads = true }}, func(opened *session) error {
		documents, err := m.ready(ctx, opened)
		if err != nil {
			return err
		}
		path := filepath.Join(m.dir, m.key(opened, documents)+".json")
		if kept {
			if result, err = eval.ReadResult(path); err == nil && result.Complete {
				m.done += len(result.Outcomes)
				return nil
			}
		}
		progress, options := m.app.newProgress(), m.options
		options.Progress = func(done, _ int) {
			progress.report(ingest.Progress{Stage: stageAsking, Done: m.done + done, Total: m.total})
		}
		result, err = eval.Run(ctx, opened.Assistant, m.dataset, options)
		progress.end()
		if err != nil {
			return err
		}
		m.done += len(result.Outcomes)
		if kept {
			if err := keepRun(path, result); err != nil {
				m.app.warnOnce("nothing is kept for an interruption: " + err.Error())
			}
		}
		return nil
	})
	m.app.told = of.told
	return result, err
}

// ready makes all vectors, and makes sure that the documents are those of the first run.
func (m *measurer) ready(ctx context.Context, opened *session) (documents string, err error) {
	if m.documents == "" {
		if _, err := m.app.follow(ctx, opened.Library().StartEmbed(ctx)); err != nil {
			return "", err
		}
		if err := m.app.warnUnknownPages(ctx, opened, m.dataset); err != nil {
			return "", err
		}
	}
	stats, err := opened.Library().Stats(ctx, false)
	if err != nil {
		return "", err
	}
	for _, c := range stats.Collections {
		text, err := json.Marshal([]any{c.Root, c.Chunks, c.Vectors, c.LastChange})
		if err != nil {
			return "", err
		}
		documents += string(text)
	}
	if m.documents != "" && documents != m.documents {
		return "", errors.New("the documents changed while settings were tried: run it again")
	}
	m.documents = documents
	return documents, nil
}

// key names a run by all that its answers depend on.
func (m *measurer) key(opened *session, documents string) string {
	judge := ""
	if m.options.Judge != nil {
		judge = m.options.Judge.Chat.Model()
	}
	text, _ := json.Marshal([]any{readVersion(), m.dataset.Items, opened.settings.Rows, documents, judge}) // plain data
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

// keepRun stores a run without its answers, which a comparison does not need.
func keepRun(path string, r *eval.Result) error {
	slim := *r
	slim.Outcomes = append([]eval.Outcome{}, r.Outcomes...)
	for i := range slim.Outcomes {
		o := &slim.Outcomes[i]
		o.Reply = ragflow.Reply{CostUSD: o.Reply.CostUSD, Unpriced: o.Reply.Unpriced}
	}
	text, err := json.Marshal(slim)
	if err == nil {
		err = newfile.WriteBytes(path, text)
	}
	return err
}
