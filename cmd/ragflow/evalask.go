package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/transcript"
)

// evaluation is a run that is about to begin or to go on.
type evaluation struct {
	command string       // that goes on with it
	opening *eval.Result // the run as it begins: without outcomes
	run     func(context.Context, eval.Options) (*eval.Result, error)

	store   eval.Store
	dataset eval.Dataset
	options eval.Options
	earlier *eval.Result  // the run to go on with; nil: a new one
	journal *eval.Journal // of the earlier run, until the new one has its own
}

// eval runs a dataset and says what came of it.
func (a *app) eval(ctx context.Context, o evalOptions, gates []metricFloor) (err error) {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if slices.Contains(s.config.Docs, stdinDocs) {
		return usagef("an evaluation reads its documents from files, for its citations are checked there; standard input is not one")
	}
	e := &evaluation{command: "ragflow eval --resume", store: eval.Store{Dir: filepath.Join(s.config.DataDir, "eval")}}
	if err := a.evalPrepare(s, o, e); err != nil {
		return err
	}
	assistant, err := a.openIndexed(ctx, func(c *ragflow.Config) { c.ForgetThreads = true })
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	if e.options.Setup, err = a.evalSetup(ctx, s, assistant); err != nil {
		return err
	}
	a.missingPages(ctx, assistant, e.dataset)
	e.opening = eval.NewResult(e.dataset, e.options)
	if e.earlier == nil && e.opening.Dataset.Questions == 0 {
		return a.nothingToAsk(e, o)
	}
	e.run = func(ctx context.Context, options eval.Options) (*eval.Result, error) {
		options.Delete = assistant.Threads().Delete
		return eval.Run(ctx, assistant, e.dataset, options)
	}
	result, err := a.evalRun(ctx, e, o)
	if result == nil || err != nil {
		return err
	}
	if err := a.evalReport(result, o); err != nil {
		return err
	}
	return verdict(result, gates)
}

// evalPrepare reads the dataset, or the run to go on with, and makes the judge.
func (a *app) evalPrepare(s *settings, o evalOptions, e *evaluation) (err error) {
	if o.resume != "" {
		if e.journal, e.earlier, e.dataset, err = e.store.Resume(o.resume); err != nil {
			return failed("go on with "+o.resume, err)
		}
		if (e.earlier.JudgeModel != "") != o.judge {
			f := usagef("the run %s was begun without a judge", e.earlier.ID)
			if e.earlier.JudgeModel != "" {
				f = usagef("the run %s has its answers graded by %s", e.earlier.ID, e.earlier.JudgeModel)
				f.hint = "say that models may be asked: ragflow eval --resume " + e.earlier.ID + " --llm-judge"
			}
			return f
		}
		e.options.Earlier = e.earlier.Outcomes
		if e.earlier.Retrieval != nil {
			f := usagef("%s measures what the search finds, not answers", e.earlier.ID)
			f.hint = "go on with it: ragflow eval retrieval --resume " + e.earlier.ID
			return f
		}
	} else if e.dataset, err = eval.Load(o.dataset); err != nil {
		return a.datasetFailed(o.dataset, err)
	}
	e.options.Workers, e.options.Limit, e.options.Kinds = o.workers, o.limit, o.kinds
	if o.judge {
		name := o.judgeModel
		if name == "" && !s.models.offline {
			name = s.models.smart
		}
		if name == "" {
			f := usagef("--llm-judge needs a model to ask")
			f.hint = "name one with --judge-model, or SMART_LLM_MODEL where --offline is not given"
			return f
		}
		price := s.models.smartPrice
		if name != s.models.smart {
			price = nil
		}
		chat, err := s.models.chat(name, price)
		if err != nil {
			return err
		}
		e.options.Judge = &eval.Judge{Chat: chat}
	}
	return nil
}

// datasetFailed tells all that is wrong with a dataset, one fault a line.
func (a *app) datasetFailed(name string, err error) error {
	broken, ok := errors.AsType[*eval.DatasetError](err)
	if !ok {
		f, _ := errors.AsType[*failure](failed("read the dataset", err))
		if f != nil && f.code == exitNotFound {
			f.hint = "name a file, or a built-in dataset: " + strings.Join(eval.BuiltIn(), ", ")
		}
		return f
	}
	a.printFaults(name, broken)
	f := usagef("%s of the dataset %s; nothing was asked", count(len(broken.Faults), "fault"), name)
	f.hint = `an item is one line: {"id": "q1", "question": "…", "expected_keywords": ["…"], "relevant": ["page.md"]}`
	return f
}

// printFaults tells what is wrong with a file, one fault a line.
func (a *app) printFaults(name string, broken *eval.DatasetError) {
	const most = 50
	for _, fault := range broken.Faults[:min(most, len(broken.Faults))] {
		fmt.Fprintf(a.err, "%s: %s\n", line(name), line(fault.String()))
	}
	if more := len(broken.Faults) - most; more > 0 {
		fmt.Fprintf(a.err, "%s: and %s more\n", line(name), count(more, "fault"))
	}
}

// evalSetup notes what is measured.
func (*app) evalSetup(ctx context.Context, s *settings, assistant *ragflow.Assistant) (eval.Setup, error) {
	setup := eval.Setup{Version: readVersion().Version, Go: runtime.Version(), Model: "offline", Settings: map[string]string{}, Index: []eval.IndexInfo{}}
	if s.models.smart != "" && !s.models.offline {
		setup.Model = s.models.smart
	}
	for _, row := range s.rows {
		used := !s.models.offline || !strings.HasSuffix(row.Name, "_MODEL")
		if used && bearsOnAnswers(row.Name) && len(row.Values) > 0 {
			setup.Settings[row.Name] = strings.Join(row.Values, " ")
		}
	}
	stats, err := assistant.Stats(ctx, false)
	if err != nil {
		return setup, failed("read the index", err)
	}
	for _, c := range stats.Collections {
		setup.Index = append(setup.Index, eval.IndexInfo{Root: c.Root, Files: c.Files, Chunks: c.Chunks, Generation: c.Generation})
	}
	return setup, nil
}

// bearsOnAnswers reports whether a setting may change an answer: neither where
// things lie, nor keys, nor how many work at a time.
func bearsOnAnswers(name string) bool {
	for _, part := range []string{"_KEY", "_URL", "_PRICE", "DATA_DIR", "_DOCS", "DURABILITY", "WORKERS"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	return true
}

// missingPages warns where pages that the dataset names are not indexed: the
// usual cause of poor figures is another folder than the paths begin at.
func (a *app) missingPages(ctx context.Context, assistant *ragflow.Assistant, d eval.Dataset) {
	stats, err := assistant.Stats(ctx, true)
	if err != nil || a.quiet {
		return
	}
	known := map[string]bool{}
	for _, c := range stats.Collections {
		for _, f := range c.FileList {
			known[f.Source] = true
		}
	}
	var missing []string
	all := d.Pages()
	for _, p := range all {
		if !known[p] {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		fmt.Fprintf(a.err, "warning: %d of the %s that the dataset calls relevant are not among the documents, such as %s; is --docs the folder that the paths begin at?\n",
			len(missing), count(len(all), "page"), line(missing[0]))
	}
}

// evalRun asks, keeps what comes, and says how to go on where it is interrupted.
func (a *app) evalRun(ctx context.Context, e *evaluation, o evalOptions) (*eval.Result, error) {
	opening := e.opening
	if e.earlier != nil {
		if d := e.earlier.Setup.Differences(e.options.Setup); len(d) > 0 {
			f := usagef("the run %s was begun with something else: %s", e.earlier.ID, d[0])
			f.hint = "begin a new run, or set it back"
			return nil, f
		}
		opening = e.earlier
	} else {
		opening.Name = o.name
		var err error
		if e.journal, err = e.store.Create(opening, e.dataset, e.options); err != nil {
			return nil, failed("begin the run", err)
		}
	}
	a.goOn = "what is done was kept; go on with: " + e.command + " " + opening.ID
	if e.options.Judge != nil {
		a.goOn += " --llm-judge"
	}
	progress := a.newProgress()
	e.options.Progress = func(done, total int) {
		progress.report(ragflow.Progress{Stage: stageAsking, Done: done, Total: total})
	}
	e.options.Record = e.journal.Record
	agreement, err := a.agreement(ctx, e, opening)
	if err != nil {
		return nil, err
	}
	result, err := e.run(ctx, e.options)
	progress.end()
	result.TakeOver(opening)
	result.Agreement = agreement
	if keepErr := e.journal.Finish(result); err == nil && keepErr != nil {
		err = keepErr
	}
	if err != nil {
		f := failed("evaluate", err)
		if told, ok := errors.AsType[*failure](f); ok && told.hint == "" {
			told.hint = a.goOn
		}
		return nil, f
	}
	return result, nil
}

// agreement has the judge grade the answers that the authors graded, once a run.
func (*app) agreement(ctx context.Context, e *evaluation, r *eval.Result) (*eval.Agreement, error) {
	if e.options.Judge == nil || r.Agreement != nil {
		return r.Agreement, nil
	}
	agreement, err := e.options.Judge.Agreement(ctx, max(1, e.options.Workers))
	if err != nil {
		return nil, failed("compare the judge with people", err)
	}
	return agreement, nil
}

// nothingToAsk says why a dataset leaves nothing to ask.
func (*app) nothingToAsk(e *evaluation, o evalOptions) error {
	f := &failure{code: exitUsage, what: "read the dataset " + e.dataset.Name, err: eval.ErrEmptyDataset}
	f.hint = `an item is one line: {"id": "q1", "question": "…", "expected_keywords": ["…"], "relevant": ["page.md"]}`
	if len(e.dataset.Items) > 0 {
		f.err = fmt.Errorf("it holds no question of the kind %s", strings.Join(o.kinds, ", "))
		f.hint = "it has the kinds: " + strings.Join(e.dataset.Kinds(), ", ")
	}
	return f
}

// evalReport prints a result and writes the files asked for.
func (a *app) evalReport(r *eval.Result, o evalOptions) error {
	var written []string
	for _, f := range []struct {
		path  string
		write func(io.Writer, *eval.Result) error
	}{{o.csv, eval.WriteCSV}, {o.html, eval.WriteHTML}} {
		if f.path == "" {
			continue
		}
		if err := writeWhole(f.path, func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return failed("write "+f.path, err)
		}
		written = append(written, f.path)
	}
	if o.asJSON {
		if err := a.writeJSON(r); err != nil {
			return err
		}
	} else {
		var table strings.Builder
		if err := eval.WriteTable(&table, r); err != nil {
			return failed("write the table", err)
		}
		fmt.Fprint(a.out, transcript.Visible(table.String()))
	}
	if err := a.out.Flush(); err != nil { // the figures before what is said about them
		return failed("write the figures", err)
	}
	if a.quiet {
		return nil
	}
	for _, path := range written {
		fmt.Fprintf(a.err, "wrote %s\n", line(path))
	}
	if r.ID != "" {
		fmt.Fprintf(a.err, "run %s — compare with: ragflow eval compare %s OTHER\n", r.ID, r.ID)
	}
	return nil
}

// verdict is the error of a run whose figures are not good enough.
func verdict(r *eval.Result, gates []metricFloor) error {
	var below []string
	for _, g := range gates {
		m, ok := r.Summary.Metric(g.metric)
		switch {
		case !ok:
			below = append(below, g.metric+" cannot be measured with this dataset")
		case m.Mean < g.floor:
			below = append(below, fmt.Sprintf("%s is %.3f, below %s", g.metric, m.Mean, strconv.FormatFloat(g.floor, 'f', -1, 64)))
		}
	}
	if len(below) > 0 {
		return &failure{code: exitFailure, err: errors.New(strings.Join(below, "; "))}
	}
	if n := r.Summary.Errors; n > 0 {
		f := &failure{code: exitFailure, err: fmt.Errorf("%d of %s failed", n, count(r.Summary.Questions, "question"))}
		f.hint = "ask them again with: ragflow eval --resume " + r.ID
		if r.Retrieval != nil {
			f.hint = "search for them again with: ragflow eval retrieval --resume " + r.ID
		}
		return f
	}
	return nil
}
