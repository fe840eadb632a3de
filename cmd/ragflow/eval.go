package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow/eval"
)

// stageAsking is the stage of progress that counts questions.
const stageAsking = "asking"

// evalOptions are the flags of eval.
type evalOptions struct {
	dataset    string
	name       string
	workers    int
	limit      int
	judge      bool
	judgeModel string
	failUnder  []string
	csv        string
	html       string
}

func (a *app) evalCommand() *cobra.Command {
	var o evalOptions
	c := &cobra.Command{
		Use:  "eval",
		Args: subcommands,
		RunE: func(c *cobra.Command, _ []string) error {
			gates, err := o.check()
			if err != nil {
				return err
			}
			return a.eval(c.Context(), o, gates)
		},
	}
	f := c.Flags()
	a.docsFlag(f)
	a.dictionaryFlag(f)
	f.StringVar(&o.dataset, "dataset", "", "ask the questions of this `FILE`, or of a built-in dataset: "+strings.Join(eval.BuiltIn(), ", "))
	f.BoolVar(&o.judge, "llm-judge", false, "have answers graded by a model, too")
	f.StringVar(&o.judgeModel, "judge-model", "", "language model `NAME` that grades (default: SMART_LLM_MODEL)")
	a.runFlags(c, &o)
	a.modelFlags(f)
	c.AddCommand(a.evalCompareCommand(), a.evalRunsCommand(), a.evalShowCommand())
	return c
}

// runFlags adds the flags that all kinds of runs have.
func (a *app) runFlags(c *cobra.Command, o *evalOptions) {
	f := c.Flags()
	f.StringVar(&o.name, "name", "", "`NAME` of the run, to find it again")
	f.IntVar(&o.workers, "workers", 0, "ask `N` questions side by side, 1 to 256 (default: the number of processors)")
	f.IntVar(&o.limit, "limit", 0, "ask only the first `N` questions")
	f.StringArrayVar(&o.failUnder, "fail-under", nil, "exit with code 1 where the mean of a metric is lower, as `METRIC=VALUE`; may be repeated")
	a.reportFlags(c, o)
}

// reportFlags adds the flags that say how a run is shown.
func (a *app) reportFlags(c *cobra.Command, o *evalOptions) {
	a.jsonFlag(c)
	c.Flags().StringVar(&o.csv, "csv", "", "write one line a question to this `FILE`, too")
	c.Flags().StringVarP(&o.html, "output", "o", "", "write a report to this `FILE`, too; it is one HTML page that needs nothing else")
}

// maxWorkers is the greatest --workers.
const maxWorkers = 256

// metricFloor is what a metric must not fall below.
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
	}
	if err := o.checkCommon(); err != nil {
		return nil, err
	}
	return parseGates(o.failUnder, eval.Metrics(), o.judge)
}

// checkCommon checks the flags that all kinds of runs have.
func (o evalOptions) checkCommon() error {
	switch {
	case o.workers < 0 || o.workers > maxWorkers:
		return usagef("--workers is %d, but must be from 1 to %d", o.workers, maxWorkers)
	case o.limit < 0:
		return usagef("--limit is %d, but must be 1 or more", o.limit)
	case utf8.RuneCountInString(o.name) > 100 || strings.ContainsFunc(o.name, func(r rune) bool { return !unicode.IsPrint(r) }) || o.name == lastName:
		return usagef("the name of a run has at most 100 characters that can be printed, and is not %q", lastName)
	}
	for _, file := range []string{o.csv, o.html} { // better now than after an hour
		if err := outputFolder(file); err != nil {
			return err
		}
	}
	return nil
}

// parseGates reads --fail-under, whose metrics are among all.
func parseGates(given []string, all []eval.Metric, judged bool) ([]metricFloor, error) {
	var gates []metricFloor
	for _, text := range given {
		name, value, ok := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		floor, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || err != nil || !(floor >= 0 && floor <= 1) {
			return nil, usagef("--fail-under is %q, but must be like citation_precision=0.95, with a value from 0 to 1", text)
		}
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
		}
		i := slices.Index(names, name)
		if i < 0 {
			return nil, usagef("there is no metric %q", name).with("there are: " + strings.Join(names, ", "))
		}
		if all[i].Judged && !judged {
			return nil, usagef("--fail-under %s needs --llm-judge", name)
		}
		gates = append(gates, metricFloor{name, floor})
	}
	return gates, nil
}
