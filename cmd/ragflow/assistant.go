package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/telemetry"
	"example.com/ragflow/search"
)

// opening says how a command opens the assistant.
type opening struct {
	models        settings.Asked
	sync          bool // bring the index up to date first
	newCollection bool // --collection may name one that does not exist yet
	tools         bool // an agent may call tools
	metrics       bool // they can be read, see [telemetry.Telemetry.Handler]
	reembed       bool // the embedding model configured now makes the vectors, not the one of the collection
	change        func(*ragflow.Config)
}

// session is an open assistant, and the settings it was opened with.
type session struct {
	*ragflow.Assistant

	settings *settings.Settings
	report   *ingest.Report // of opening.sync
	tools    []io.Closer    // what opening.tools opened

	telemetry *telemetry.Telemetry // nil: nothing is recorded
}

// Close closes the assistant, and then what its agents used.
func (s *session) Close() error {
	var err error
	if s.Assistant != nil {
		err = s.Assistant.Close()
	}
	for _, t := range s.tools {
		_ = t.Close() // of a server that has ended
	}
	_ = s.telemetry.Close() // what could not be sent was logged
	return err
}

// with opens the assistant and closes it after do.
func (a *app) with(ctx context.Context, g *given, o opening, do func(*session) error) (err error) {
	s, err := a.open(ctx, g, o)
	if err != nil {
		return err
	}
	defer closeInto(&err, s)
	closed := make(chan struct{})
	defer close(closed)
	go func() {
		select {
		case <-a.ending.drain:
			s.Runs().Drain()
		case <-closed:
		}
	}()
	if o.sync {
		if err := a.sync(ctx, g, s); err != nil {
			return err
		}
	}
	err = do(s)
	_ = a.out.Flush() // the answer does not wait for the log; an error of the output is reported at the end
	return err
}

// open reads the settings and opens the assistant.
func (a *app) open(ctx context.Context, g *given, o opening) (*session, error) {
	in := a.input(g)
	in.NewCollection, in.Reembed = o.newCollection, o.reembed
	s, err := a.trusted(in)
	if err != nil {
		return nil, err
	}
	c := &s.Config
	if err := s.Models.Configure(c, o.models); err != nil {
		return nil, failed("", err)
	}
	if err := cmp.Or(needsModel(s, "--transform", g.of("LLM_TRANSFORMS") != ""), needsModel(s, "--rerank llm", g.of("RERANKING") == search.RerankLLM)); err != nil {
		return nil, err
	}
	a.tellRecipients(s, o.models)
	if o.change != nil {
		o.change(c)
	}
	if g.collection != "" && len(g.docs()) > 0 && !o.newCollection {
		return nil, usagef("--docs does not go with --collection, which has folders of its own").
			with("to add a folder to it: ragflow index --collection " + quoted(g.collection) + " PATH")
	}
	if err := exist(c.Docs); err != nil {
		if f, ok := errors.AsType[*failure](err); ok && len(g.docs()) == 0 {
			f.hint = "correct it in " + s.Source("RAGFLOW_DOCS") + ", or name others with --docs"
		}
		return nil, err
	}
	if err := a.makeData(s); err != nil {
		return nil, err
	}
	opened := &session{settings: s}
	if opened.telemetry, err = a.record(ctx, s, o.metrics); err != nil {
		return nil, err
	}
	opened.telemetry.Instrument(c)
	if o.tools && c.Models.Chat != nil {
		a.openTools(ctx, opened)
	}
	if opened.Assistant, err = ragflow.Open(ctx, *c); err != nil {
		return nil, failed("", errors.Join(err, opened.Close()))
	}
	if notice := opened.Library().Notice(); notice != "" {
		a.warn("index.db: " + notice)
	}
	return opened, nil
}

// record starts the telemetry that is configured, and names its receivers before the first call.
func (a *app) record(ctx context.Context, s *settings.Settings, metrics bool) (*telemetry.Telemetry, error) {
	o := s.Models.Telemetry
	o.Metrics, o.Version = o.Metrics && metrics, readVersion().Version
	o.Logger = slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	t, err := telemetry.Start(ctx, o)
	if err != nil {
		return nil, &failure{code: exitUsage, what: "telemetry", err: err, hint: "correct the variable in the environment, or set OTEL_SDK_DISABLED=true to send nothing"}
	}
	what := "names, times and numbers of tokens"
	if o.Content {
		what = "questions, answers and passages"
	}
	for _, to := range t.Recipients() {
		a.tellOnce("telemetry with " + what + " goes to " + line(to)) // spans and metrics often go to the same receiver
	}
	return t, nil
}

// makeData makes the data folder if it is missing.
func (a *app) makeData(s *settings.Settings) error {
	notice, err := s.MakeData()
	if notice != "" {
		a.warn(string(notice))
	}
	return failed("", err)
}

// sync brings the index of a session up to date and reports what that did. It is an error if
// nothing can be read of the documents that are named or configured.
func (a *app) sync(ctx context.Context, g *given, s *session) (err error) {
	docs, what := s.settings.Config.Docs, "read the index"
	if len(docs) > 0 {
		what = "index " + strings.Join(docs, ", ")
	}
	s.report, err = a.follow(ctx, s.Library().Start(ctx))
	switch {
	case err != nil:
		return failed(what, err)
	case len(docs) == 0:
		return nil
	case s.report.Files == 0:
		a.problems(g, s.report)
		return noneRead(what, s.report)
	}
	if s.report.Added+s.report.Changed+s.report.Removed > 0 {
		a.tell("%s", indexed(s.report))
	}
	if s.report.Dense != nil && s.report.Dense.Embedded > 0 {
		a.denseTrouble(s.report.Dense) // else the search itself warns
	}
	a.problems(g, s.report)
	return nil
}

// noneRead is the error of folders that hold no file that is read.
func noneRead(what string, r *ingest.Report) error {
	hint := "nothing there can be read; " + kindsRead
	if len(r.Skipped)+len(r.Failed) == 0 {
		hint = "there are no files, or only hidden and ignored ones"
	}
	return &failure{code: exitFailure, what: what, err: ingest.ErrNoDocuments, hint: hint}
}

// tellRecipients says before the first call what is sent to other machines, and which setting says so.
func (a *app) tellRecipients(s *settings.Settings, asked settings.Asked) {
	for _, u := range s.Models.Uses() {
		host, plain := u.Remote()
		if host == "" || asked == settings.NoModels || asked == settings.SearchModels && u.Setting != "EMBEDDING_MODEL" && u.Setting != "RERANK_MODEL" {
			continue
		}
		a.tellOnce(fmt.Sprintf("questions and passages go to %s: %s from %s", line(host), u.Setting, line(s.Source(u.Setting))))
		if plain {
			a.warnOnce(line(host) + " is asked over plain http: others can read what is sent; use https")
		}
	}
}

// needsModel is the error of a flag that was given and needs a model, if none is configured.
func needsModel(s *settings.Settings, flag string, given bool) error {
	switch {
	case !given || s.Config.Models.Chat != nil:
		return nil
	case s.Models.Offline:
		return usagef("%s does not go with --offline, which uses no model", flag)
	}
	which := map[string]string{"--agent": "one that can call tools", "--image": "one that reads pictures", "--transform": "the model that writes the queries"}[flag]
	return usagef("%s, but no model is configured", flag).
		with("name " + cmp.Or(which, "one") + ": --model or SMART_LLM_MODEL; ragflow models shows what there is")
}

// errReadOnly is the error of a change to a data folder that can only be read.
func errReadOnly(what string) error {
	return failed(what, fmt.Errorf("data folder: %w", ragflow.ErrReadOnly))
}

// exist makes sure that there is something at every path.
func exist(docs []string) error {
	for _, p := range docs {
		if err := ingest.CheckPath(p); err != nil {
			if cause := errors.Unwrap(err); cause != nil && p != "" { // the path stands in front
				err = fmt.Errorf("%s: %w", p, cause)
			}
			err = failed("read documents", err)
			if f, ok := errors.AsType[*failure](err); ok && f.code == exitNotFound && strings.ContainsAny(p, "*?[{") {
				f.hint = "name a folder; ask and search with --path '**/*.md' use only some of its files"
			}
			return err
		}
	}
	return nil
}
