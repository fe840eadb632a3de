package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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
	g.add(f, "RAGFLOW_DOCS", "RAGFLOW_DICTIONARY")
	f.StringVar(&o.dataset, "dataset", "", "ask the questions of this `FILE`, or of a built-in dataset: "+strings.Join(eval.BuiltIn(), ", "))
	f.BoolVar(&o.judge, "llm-judge", false, "have answers graded by a model, too")
	f.StringVar(&o.judgeModel, "judge-model", "", "language model `NAME` that grades (default: SMART_LLM_MODEL)")
	f.IntVar(&o.workers, "workers", 0, "ask `N` questions side by side, 1 to 256 (default: the number of processors)")
	f.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with code 1 if the mean of a metric is lower, as `METRIC=VALUE`; may be repeated")
	a.jsonFlag(c)
	f.StringVar(&o.csv, "csv", "", "write one line a question to this `FILE`, too")
	f.StringVarP(&o.html, "output", "o", "", "write a report to this `FILE`, too; it is one HTML page that needs nothing else")
	g.addModels(f)
	c.AddCommand(a.evalCompareCommand(), a.evalRetrievalCommand(g))
	return c
}

// maxWorkers is the greatest --workers.
const maxWorkers = 256

// metricFloor is the lowest mean that a metric may have.
type metricFloor struct {
	metric string
	floor  float64
}

// check makes sure that the flags go together, before anything is asked.
func (o evalOptions) check() ([]metricFloor, error) {
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
	var gates []metricFloor
	for _, text := range o.failUnder {
		gate, err := o.gate(text)
		if err != nil {
			return nil, err
		}
		gates = append(gates, gate)
	}
	return gates, nil
}

// gate reads one --fail-under.
func (o evalOptions) gate(text string) (metricFloor, error) {
	name, value, ok := strings.Cut(text, "=")
	floor, err := strconv.ParseFloat(value, 64)
	if !ok || err != nil || !(floor >= 0 && floor <= 1) {
		return metricFloor{}, usagef("--fail-under is %q, but must be like citation_precision=0.95, with a value from 0 to 1", text)
	}
	var names []string
	for _, m := range eval.Metrics() {
		if m.Name == name && m.Judged && !o.judge {
			return metricFloor{}, usagef("--fail-under %s needs --llm-judge", name)
		}
		names = append(names, m.Name)
	}
	if !slices.Contains(names, name) {
		return metricFloor{}, usagef("there is no metric %q", name).with("there are: " + strings.Join(names, ", "))
	}
	return metricFloor{name, floor}, nil
}
