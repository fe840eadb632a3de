package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow/eval"
)

// stageAsking is the stage of progress that counts questions.
const stageAsking = "asking"

// evalOptions are the flags of eval.
type evalOptions struct {
	dataset    string
	workers    int
	judge      bool
	judgeModel string
	failUnder  []string
	csv        string
	html       string
}

func (a *app) evalCommand(g *given) *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:  "eval",
		Args: subcommands,
		RunE: func(c *cobra.Command, _ []string) error {
			gates, err := o.check()
			if err != nil {
				return err
			}
			return a.eval(c.Context(), g, o, gates)
		},
	}
	f := c.Flags()
	o.addTo(f, g)
	f.StringSliceVar(&o.failUnder, "fail-under", nil, "exit with code 1 if the mean of a metric is lower, or cost (US dollars a question), p50 or p95 higher, as `METRIC=VALUE`; may be repeated")
	a.jsonFlag(c)
	f.StringVar(&o.csv, "csv", "", "write one line a question to this `FILE`, too")
	f.StringVarP(&o.html, "output", "o", "", "write a report to this `FILE`, too; it is one HTML page that needs nothing else")
	c.AddCommand(a.evalCompareCommand(), a.evalRetrievalCommand(g), a.evalOptimizeCommand(g))
	return c
}

// addTo adds the flags of all commands that ask the questions of a dataset.
func (o *evalOptions) addTo(f *pflag.FlagSet, g *given) {
	g.add(f, "RAGFLOW_DOCS", "RAGFLOW_DICTIONARY")
	f.StringVar(&o.dataset, "dataset", "", "ask the questions of this `FILE`, or of a built-in dataset: "+strings.Join(eval.BuiltIn(), ", "))
	f.BoolVar(&o.judge, "llm-judge", false, "have answers graded by a model, too")
	f.StringVar(&o.judgeModel, "judge-model", "", "language model `NAME` that grades (default: SMART_LLM_MODEL)")
	f.IntVar(&o.workers, "workers", 0, "ask `N` questions side by side, 1 to 256 (default: the number of processors)")
	g.addModels(f)
}

// maxWorkers is the greatest --workers.
const maxWorkers = 256

// gate is a figure that a run must reach.
type gate struct {
	figure string // a metric, or one of limits
	value  float64
	text   string // the value as it was given
}

// limits are the figures that must not be higher than asked for: what they are in a summary, and in words.
var limits = map[string]func(s eval.Summary) (value float64, text string){
	"cost": func(s eval.Summary) (float64, string) {
		mean := s.CostUSD / float64(max(1, s.Questions))
		return mean, fmt.Sprintf("%.4f US dollars a question", mean)
	},
	"p50": func(s eval.Summary) (float64, string) { return s.Latency.P50, fmt.Sprintf("%.0f ms", s.Latency.P50) },
	"p95": func(s eval.Summary) (float64, string) { return s.Latency.P95, fmt.Sprintf("%.0f ms", s.Latency.P95) },
}

// check makes sure that the flags go together, before anything is asked.
func (o evalOptions) check() ([]gate, error) {
	switch {
	case o.dataset == "":
		return nil, usagef("no dataset").with("name one: ragflow eval --docs ./docs --dataset guide, or a file of yours")
	case o.judgeModel != "" && !o.judge:
		return nil, usagef("--judge-model names who grades, but --llm-judge is missing")
	case o.workers < 0 || o.workers > maxWorkers:
		return nil, usagef("--workers is %d, but must be from 1 to %d", o.workers, maxWorkers)
	}
	for _, file := range []string{o.csv, o.html} { // better now than after an hour
		if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
			return nil, notFoundf("there is no folder %s to write %s to", filepath.Dir(file), filepath.Base(file))
		}
	}
	var gates []gate
	for _, text := range o.failUnder {
		g, err := o.gate(text)
		if err != nil {
			return nil, err
		}
		gates = append(gates, g)
	}
	return gates, nil
}

// gate reads one --fail-under.
func (o evalOptions) gate(text string) (gate, error) {
	name, value, _ := strings.Cut(text, "=")
	if err := o.known(name); err != nil {
		return gate{}, err
	}
	if limits[name] != nil {
		bound, ok := limitOf(name, value)
		if !ok {
			return gate{}, usagef("--fail-under is %q, but must be like cost=0.05 in US dollars, or p95=2s", text)
		}
		return gate{name, bound, value}, nil
	}
	floor, err := strconv.ParseFloat(value, 64)
	if err != nil || !(floor >= 0 && floor <= 1) {
		return gate{}, usagef("--fail-under is %q, but must be like citation_precision=0.95, with a value from 0 to 1", text)
	}
	return gate{name, floor, value}, nil
}

// limitOf reads the value of one of limits: US dollars, or a time in milliseconds.
func limitOf(name, value string) (bound float64, ok bool) {
	if name == "cost" {
		usd, err := strconv.ParseFloat(value, 64)
		return usd, err == nil && usd >= 0
	}
	d, err := time.ParseDuration(value)
	return float64(d) / float64(time.Millisecond), err == nil && d > 0
}

// known refuses a name that is no metric of this run.
func (o evalOptions) known(metric string) error {
	var names []string
	for _, m := range eval.Metrics() {
		if m.Name == metric && m.Judged && !o.judge {
			return usagef("--fail-under %s needs --llm-judge", metric)
		}
		names = append(names, m.Name)
	}
	if names = append(names, slices.Sorted(maps.Keys(limits))...); !slices.Contains(names, metric) {
		return usagef("there is no metric %q", metric).with("there are: " + strings.Join(names, ", "))
	}
	return nil
}
