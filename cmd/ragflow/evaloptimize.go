package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/eval"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/internal/tune"
	"example.com/ragflow/search"
)

// optimizeOptions are the flags of eval optimize.
type optimizeOptions struct {
	evalOptions

	metric, target string
	try            []string
	write          bool
}

func (a *app) evalOptimizeCommand(g *given) *cobra.Command {
	var o optimizeOptions
	c := command("optimize", 0, func(c *cobra.Command, _ []string) error {
		goal, err := o.goal()
		if err != nil {
			return err
		}
		return a.optimize(c.Context(), g, o, goal)
	})
	f := c.Flags()
	o.addTo(f, g)
	f.StringVar(&o.metric, "metric", eval.MetricDecision, "make this `METRIC` better: one of \"ragflow eval\", latency (mean time of a question) or cost (US dollars a question)")
	f.StringVar(&o.target, "target", "", "say whether it reaches this `VALUE`, such as 0.9, 1000ms for latency or 0.05 for cost")
	f.StringArrayVar(&o.try, "try", nil, "try only these `SETTINGS`, such as RERANKING=off or \"RERANKING=off RAG_MAX_RESULTS=20\"; may be repeated")
	f.BoolVar(&o.write, "write", false, "write what is recommended into the configuration file")
	return a.jsonFlag(c)
}

// goal checks the flags, and returns what is to become better.
func (o optimizeOptions) goal() (tune.Goal, error) {
	g := tune.Goal{Metric: o.metric}
	if _, err := o.check(); err != nil {
		return g, err
	}
	if g.Metric != tune.Latency && g.Metric != tune.Cost {
		if err := o.known(g.Metric); err != nil || limits[g.Metric] != nil {
			return g, usagef("--metric is %q, but must be latency, cost or a metric of \"ragflow eval\" that is measured", g.Metric).
				with("a metric of a judge needs --llm-judge")
		}
	}
	if o.target == "" {
		return g, nil
	}
	ok := false
	if g.Metric == tune.Latency {
		g.Target, ok = limitOf("p50", o.target)
	} else if v, err := strconv.ParseFloat(o.target, 64); err == nil {
		g.Target, ok = v, v > 0 && (v <= 1 || g.Metric == tune.Cost)
	}
	if !ok {
		return g, usagef("--target is %q, but must be like 1000ms for latency, 0.05 US dollars for cost, or 0.9 for another metric", o.target)
	}
	return g, nil
}

// tried are the settings that are tried one by one, with their values. Each acts on the answer to a question, over the
// same index.
func tried(withModel bool) (names []string, values map[string][]string) {
	names = []string{"RETRIEVAL_FUSION", "RETRIEVAL_ALPHA", "RAG_MAX_RESULTS", "RERANKING", "RELEVANCE_THRESHOLD", "RETRIEVAL_GRAPH"}
	values = map[string][]string{
		"RETRIEVAL_FUSION": rank.Methods(), "RETRIEVAL_ALPHA": {"0", "0.3", "0.5", "0.7"}, "RAG_MAX_RESULTS": {"20", "100"},
		"RERANKING":           {search.RerankOffline, search.RerankMMR, search.RerankCombined, search.RerankOff},
		"RELEVANCE_THRESHOLD": {"0.4", "0.6"}, "RETRIEVAL_GRAPH": {"1"},
	}
	if withModel {
		names = append(names, "LLM_GRADER", "LLM_TRANSFORMS", "LLM_VERIFY")
		values["LLM_GRADER"], values["LLM_TRANSFORMS"], values["LLM_VERIFY"] = []string{"off"}, []string{"multi_query"}, []string{"on"}
	}
	return names, values
}

// trials returns the settings to try: those of --try, else each value of tried that is not in force.
func (o optimizeOptions) trials(s *settings.Settings) (trials []tune.Trial, err error) {
	s.ShowInForce()
	inForce := map[string]string{}
	for _, r := range s.Rows {
		inForce[r.Name] = strings.Join(r.Values, " ")
	}
	for _, text := range o.try {
		chosen := map[string]string{}
		for word := range strings.FieldsSeq(text) {
			name, value, ok := strings.Cut(word, "=")
			if !ok || value == "" {
				return nil, usagef("--try is %q, but must be like RERANKING=off", text)
			}
			if err := s.CheckTrial(name); err != nil {
				return nil, failed("", err)
			}
			chosen[name] = value
		}
		trials = append(trials, tune.Trial{Settings: chosen})
	}
	if len(o.try) > 0 {
		return trials, nil
	}
	names, values := tried(s.Models.Smart != "" && !s.Models.Offline)
	for _, name := range names {
		for _, v := range values[name] {
			if v != inForce[name] {
				trials = append(trials, tune.Trial{Settings: map[string]string{name: v}})
			}
		}
	}
	return trials, nil
}

// optimize tries settings on a dataset, and reports which of them answer it better than those in force.
func (a *app) optimize(ctx context.Context, g *given, o optimizeOptions, goal tune.Goal) error {
	s, err := a.trusted(a.input(g))
	if err != nil {
		return err
	}
	m := measurer{app: a, given: g, goal: goal, dir: filepath.Join(s.Config.DataDir, trialsDir)}
	if m.dataset, m.options, err = o.evaluation(s); err != nil {
		return err
	}
	trials, err := o.trials(s)
	if err != nil {
		return err
	}
	for _, t := range trials { // a wrong value is an error now, not after an hour
		of, own := m.with(t.Settings)
		loaded, err := of.load(of.input(own))
		if err != nil {
			return err
		}
		of.tellRecipients(loaded, settings.AllModels)
		a.told = of.told
	}
	before, err := m.all(ctx, trials)
	if ctx.Err() != nil {
		return &unfinishedError{err, m.rest()}
	} else if err != nil {
		return failed("measure the answers", err)
	}
	report, err := tune.Choose(goal, before, trials)
	if err != nil {
		return &failure{code: exitFailure, what: "compare", err: err, hint: "measured are: " + strings.Join(measured(before), ", ") + "; name one with --metric"}
	}
	if o.write && report.Recommended {
		if report.Written, err = s.Write(report.Best); err != nil {
			return failed("", err)
		}
	}
	if err := a.printTable(report, func(w io.Writer) error { writeOptimized(w, report); return nil }); err != nil {
		return err
	}
	a.tellOptimized(s, report, o.write)
	return nil
}

// measured lists the metrics of a run.
func measured(r *eval.Result) (names []string) {
	for _, m := range r.Summary.Metrics {
		names = append(names, m.Name)
	}
	return append(names, tune.Latency, tune.Cost)
}

// tellOptimized says what was written, or how to.
func (a *app) tellOptimized(s *settings.Settings, r *tune.Report, write bool) {
	switch {
	case r.Written != "":
		a.tell("%s now says %s", r.Written, tune.Text(r.Best))
		for _, name := range slices.Sorted(maps.Keys(r.Best)) {
			if source := s.Source(name); source != "default" && !strings.HasPrefix(source, r.Written) {
				a.warn(name + " is set by " + source + " too, which counts first")
			}
		}
	case r.Recommended && !write:
		a.tell("write it into the configuration with --write")
	}
}

// writeOptimized writes a report for a terminal.
func writeOptimized(w io.Writer, r *tune.Report) {
	figure := func(v float64) string {
		switch r.Metric {
		case tune.Latency:
			return fmt.Sprintf("%.1f ms", v)
		case tune.Cost:
			return fmt.Sprintf("%.5f USD", v)
		}
		return fmt.Sprintf("%.3f", v)
	}
	interval := func(i eval.Interval) string { return "[" + figure(i.Low) + ", " + figure(i.High) + "]" }
	fmt.Fprintf(w, "%s of %s: %s as it is\n\n", r.Metric, count(r.Questions, "question"), figure(r.Before))
	for _, t := range r.Trials {
		switch {
		case t.Refused != "":
			fmt.Fprintf(w, "%-42s not chosen: %s\n", tune.Text(t.Settings), line(t.Refused))
		default:
			fmt.Fprintf(w, "%-42s %s  gain %s %s\n", tune.Text(t.Settings), figure(t.Mean), figure(t.Gain), interval(t.Interval))
		}
	}
	fmt.Fprintln(w)
	switch {
	case r.Recommended:
		fmt.Fprintf(w, "better: %s, with %s; on questions that did not choose it, it gains %s %s\n", tune.Text(r.Best), figure(r.After), figure(r.Gain), interval(r.Interval))
	case len(r.Best) > 0:
		fmt.Fprintf(w, "keep the settings: %s looks best, but the best of so many gains %s %s on other questions, which may be chance (%.3f)\n",
			tune.Text(r.Best), figure(r.Gain), interval(r.Interval), r.Chance)
	default:
		fmt.Fprintln(w, "keep the settings: none of the others is better")
	}
	if r.Reached != nil {
		fmt.Fprintf(w, "target %s: %s\n", figure(r.Target), map[bool]string{true: "reached", false: "not reached"}[*r.Reached])
	}
}
