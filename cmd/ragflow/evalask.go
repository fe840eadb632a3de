package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/transcript"
)

// evaluation is a run that is about to begin or to go on.
type evaluation struct {
	opening *eval.Result // the run as it begins: without outcomes
	run     func(context.Context, eval.Options) (*eval.Result, error)

	store   eval.Store
	dataset eval.Dataset
	options eval.Options
	earlier *eval.Result  // the run to go on with; nil: a new one
	journal *eval.Journal // of the earlier run, until the new one has its own
}

// eval runs a dataset and says what came of it.
func (a *app) eval(ctx context.Context, o evalOptions, gates []metricFloor) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if slices.Contains(s.config.Docs, stdinDocs) {
		return usagef("an evaluation reads its documents from files, for its citations are checked there; standard input is not one")
	}
	e := &evaluation{store: s.evalStore()}
	if err := a.evalPrepare(s, o, e); err != nil {
		return err
	}
	return a.withDocuments(ctx, func(c *ragflow.Config) { c.ForgetThreads = true }, func(assistant *ragflow.Assistant) (err error) {
		if e.options.Setup, err = a.evalSetup(ctx, s, assistant); err != nil {
			return err
		}
		a.missingPages(ctx, assistant, e.dataset)
		e.opening = eval.NewResult(e.dataset, e.options)
		if e.earlier == nil && e.opening.Dataset.Questions == 0 {
			return nothingToAsk(e.dataset, o)
		}
		e.run = func(ctx context.Context, options eval.Options) (*eval.Result, error) {
			options.Delete = assistant.Threads().Delete
			return eval.Run(ctx, assistant, e.dataset, options)
		}
		result, err := a.evalRun(ctx, e, o)
		if err != nil {
			return err
		}
		if err := a.evalReport(result, o); err != nil {
			return err
		}
		return verdict(result, gates)
	})
}

// evalPrepare reads the dataset, or the run to go on with, and makes the judge.
func (a *app) evalPrepare(s *settings, o evalOptions, e *evaluation) (err error) {
	if o.resume != "" {
		if e.journal, e.earlier, e.dataset, err = e.store.Resume(o.resume); err != nil {
			return failed("go on with "+o.resume, err)
		}
		id := e.earlier.ID
		switch judged := e.earlier.JudgeModel != ""; {
		case e.earlier.Retrieval != nil:
			return usagef("%s measures what the search finds; run it again with \"ragflow eval retrieval\"", id)
		case judged && !o.judge:
			return usagef("the run %s has its answers graded by %s", id, e.earlier.JudgeModel).
				with("say that models may be asked: ragflow eval --resume " + id + " --llm-judge")
		case !judged && o.judge:
			return usagef("the run %s was begun without a judge", id)
		}
		e.options.Earlier = e.earlier.Outcomes
	} else if e.dataset, err = eval.Load(o.dataset); err != nil {
		return a.datasetFailed(o.dataset, err)
	}
	e.options.Workers, e.options.Limit, e.options.Kinds = o.workers, o.limit, o.kinds
	if !o.judge {
		return nil
	}
	judge := o.judgeModel
	if judge == "" && !s.models.offline {
		judge = s.models.smart
	}
	if judge == "" {
		return usagef("--llm-judge needs a model to ask").with("name one with --judge-model, or SMART_LLM_MODEL where --offline is not given")
	}
	price := s.models.smartPrice
	if judge != s.models.smart {
		price = nil
	}
	chat, err := s.models.chat(judge, price)
	e.options.Judge = &eval.Judge{Chat: chat}
	return err
}

// exampleItem shows how a dataset is written.
const exampleItem = `an item is one line: {"id": "q1", "question": "…", "expected_keywords": ["…"], "relevant": ["page.md"]}`

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
	return usagef("%s of the dataset %s; nothing was asked", count(len(broken.Faults), "fault"), name).with(exampleItem)
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
	stats, err := assistant.Library().Stats(ctx, false)
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
	stats, err := assistant.Library().Stats(ctx, true)
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
			return nil, usagef("the run %s was begun with something else: %s", e.earlier.ID, d[0]).with("begin a new run, or set it back")
		}
		opening = e.earlier
	} else {
		opening.Name = o.name
		var err error
		if e.journal, err = e.store.Create(opening, e.dataset, e.options); err != nil {
			return nil, failed("begin the run", err)
		}
	}
	if opening.Retrieval == nil {
		a.goOn = "what is done was kept; go on with: ragflow eval --resume " + opening.ID
		if e.options.Judge != nil {
			a.goOn += " --llm-judge"
		}
	}
	progress := a.newProgress()
	e.options.Progress = func(done, total int) {
		progress.report(ingest.Progress{Stage: stageAsking, Done: done, Total: total})
	}
	e.options.Record = e.journal.Record
	result, err := e.run(ctx, e.options)
	progress.end()
	result.TakeOver(opening)
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

// nothingToAsk says why a dataset leaves nothing to ask.
func nothingToAsk(d eval.Dataset, o evalOptions) error {
	f := &failure{code: exitUsage, what: "read the dataset " + d.Name, err: eval.ErrEmptyDataset, hint: exampleItem}
	if len(d.Items) > 0 {
		f.err = fmt.Errorf("it holds no question of the kind %s", strings.Join(o.kinds, ", "))
		f.hint = "it has the kinds: " + strings.Join(d.Kinds(), ", ")
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
	err := a.print(r, func() {
		var table strings.Builder
		_ = eval.WriteTable(&table, r) // a builder takes all
		fmt.Fprint(a.out, transcript.Visible(table.String()))
	})
	if err = errors.Join(err, a.out.Flush()); err != nil { // the figures before what is said about them
		return failed("write the figures", err)
	}
	for _, path := range written {
		a.tell("wrote %s", path)
	}
	if r.ID != "" {
		a.tell("run %s — compare with: ragflow eval compare %s OTHER", r.ID, r.ID)
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
		if r.Retrieval == nil {
			f.hint = "ask them again with: ragflow eval --resume " + r.ID
		}
		return f
	}
	return nil
}
