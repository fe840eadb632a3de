package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/transcript"
)

// evaluation reads the dataset, and makes the options of a run and its judge.
func (o evalOptions) evaluation(s *settings.Settings) (dataset eval.Dataset, options eval.Options, err error) {
	dataset, err = eval.Load(o.dataset)
	if err != nil {
		f, _ := errors.AsType[*failure](failed("read the dataset", err))
		if f != nil && f.code == exitNotFound {
			f.hint = "name a file, or a built-in dataset: " + strings.Join(eval.BuiltIn(), ", ")
		}
		return dataset, options, f
	}
	options = eval.Options{Workers: o.workers, Model: offlineName}
	if s.Models.Smart != "" && !s.Models.Offline {
		options.Model = s.Models.Smart
	}
	if !o.judge {
		return dataset, options, nil
	}
	options.Judge = new(eval.Judge)
	if options.Judge.Chat, err = s.Models.Judge(o.judgeModel); err != nil {
		return dataset, options, failed("", err)
	}
	if options.Judge.Chat == nil {
		return dataset, options, usagef("--llm-judge needs a model to ask").with("name one with --judge-model, or SMART_LLM_MODEL without --offline")
	}
	options.Judge.Custom, err = s.Config.ReadPrompts()
	return dataset, options, failed("", err)
}

// eval asks the questions of a dataset, reports the answers and compares them with gates.
func (a *app) eval(ctx context.Context, g *given, o evalOptions, gates []gate) error {
	s, err := a.trusted(a.input(g))
	if err != nil {
		return err
	}
	dataset, options, err := o.evaluation(s)
	if err != nil {
		return err
	}
	return a.with(ctx, g, opening{sync: true, change: func(c *ragflow.Config) { c.ForgetThreads = true }}, func(opened *session) error {
		if err := a.warnUnknownPages(ctx, opened, dataset); err != nil {
			return err
		}
		progress := a.newProgress()
		options.Progress = func(done, total int) {
			progress.report(ingest.Progress{Stage: stageAsking, Done: done, Total: total})
		}
		result, err := eval.Run(ctx, opened.Assistant, dataset, options)
		progress.end()
		if err == nil || len(result.Outcomes) > 0 { // also what was done before an interruption
			err = errors.Join(failed("evaluate", err), a.evalReport(result, o))
		}
		if err != nil {
			return failed("evaluate", err)
		}
		return verdict(result, gates)
	})
}

// warnUnknownPages warns of relevant pages of a dataset that are no documents: no answer can cite them.
func (a *app) warnUnknownPages(ctx context.Context, opened *session, dataset eval.Dataset) error {
	stats, err := opened.Library().Stats(ctx, true)
	if err != nil {
		return failed("list the documents", err)
	}
	known := map[string]bool{}
	for _, c := range stats.Collections {
		for _, f := range c.FileList {
			known[f.Source] = true
		}
	}
	var unknown []string
	note := func(e eval.Expected) {
		for _, page := range e.Relevant {
			if !known[page] && !slices.Contains(unknown, page) {
				unknown = append(unknown, page)
			}
		}
	}
	for _, item := range dataset.Items {
		note(item.Expected)
		for _, turn := range item.Turns {
			note(turn.Expected)
		}
	}
	if n := len(unknown); n > 0 {
		more := ""
		if n > 3 {
			more = fmt.Sprintf(" and %d more", n-3)
		}
		a.warn(fmt.Sprintf("%s of the dataset not among the documents: %s%s", count(n, "relevant page"), strings.Join(unknown[:min(n, 3)], ", "), more))
	}
	return nil
}

// exampleItem shows how a dataset is written.
const exampleItem = `an item is one line: {"id": "q1", "question": "…", "expected_keywords": ["…"], "relevant": ["page.md"]}`

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
		if err := writeOutput(f.path, func(w io.Writer) error { return f.write(w, r) }); err != nil {
			return failed("write "+f.path, err)
		}
		written = append(written, f.path)
	}
	if err := a.printTable(r, func(w io.Writer) error { return eval.WriteTable(w, r) }); err != nil {
		return err
	}
	for _, path := range written {
		a.tell("wrote %s", path)
	}
	return nil
}

// printTable prints figures: as JSON, or the table that write makes.
func (a *app) printTable(figures any, write func(io.Writer) error) error {
	err := a.print(figures, func() {
		var table strings.Builder
		_ = write(&table) // a builder takes all
		fmt.Fprint(a.out, transcript.Visible(table.String()))
	})
	return failed("write the figures", errors.Join(err, a.out.Flush())) // before what is said about them
}

// verdict is the error of a run that does not pass its gates, or that has failed questions.
func verdict(r *eval.Result, gates []gate) error {
	var faults []string
	for _, g := range gates {
		if fault := g.fault(r.Summary); fault != "" {
			faults = append(faults, fault)
		}
	}
	if n := r.Summary.Errors; n > 0 {
		faults = append(faults, fmt.Sprintf("%d of %s failed", n, count(r.Summary.Questions, "question")))
	}
	if len(faults) == 0 {
		return nil
	}
	return (&failure{code: exitFailure, err: errors.New(strings.Join(faults, "; "))}).with("see each question: ragflow eval … --output report.html")
}

// fault says why a run does not pass; empty if it does.
func (g gate) fault(s eval.Summary) string {
	if limit := limits[g.figure]; limit != nil {
		value, text := limit(s)
		switch {
		case g.figure == "cost" && len(s.Unpriced) > 0:
			return "the cost is not known, for there is no price of " + strings.Join(s.Unpriced, ", ") + ": set it with LLM_PRICES"
		case value > g.value:
			return fmt.Sprintf("%s is %s, above %s", g.figure, text, g.text)
		}
		return ""
	}
	m, ok := s.Metric(g.figure)
	switch {
	case !ok:
		return g.figure + " cannot be measured with this dataset"
	case m.Mean < g.value:
		return fmt.Sprintf("%s is %.3f, below %s", g.figure, m.Mean, g.text)
	}
	return ""
}
