package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/eval"
	"example.com/ragflow/transcript"
)

// runsReply is the schema of "ragflow eval runs --json".
type runsReply struct {
	Runs []eval.RunInfo `json:"runs"`
}

// evalStore is where runs are kept.
func (a *app) evalStore() (eval.Store, error) {
	s, err := a.settings()
	if err != nil {
		return eval.Store{}, err
	}
	return s.evalStore(), nil
}

func (s *settings) evalStore() eval.Store {
	return eval.Store{Dir: filepath.Join(s.config.DataDir, "eval")}
}

func (a *app) evalRunsCommand() *cobra.Command {
	c := command("runs", 0, func(*cobra.Command, []string) error {
		store, err := a.evalStore()
		if err != nil {
			return err
		}
		runs, err := store.List()
		if err != nil {
			return failed("list runs", err)
		}
		return a.print(runsReply{runs}, func() {
			if len(runs) == 0 {
				a.tell("no runs yet; begin one: ragflow eval --docs ./docs --dataset guide")
				return
			}
			a.printRuns(runs)
		})
	})
	a.jsonFlag(c)
	return c
}

func (a *app) printRuns(runs []eval.RunInfo) {
	rows := [][]string{{"ID", "DATASET", "QUESTIONS", "MODEL", "STATE"}}
	for _, r := range runs {
		state := cmp.Or(r.Problem, "complete")
		if r.Problem == "" && !r.Complete {
			state = "unfinished"
		}
		rows = append(rows, []string{r.ID, r.Dataset, strconv.Itoa(r.Questions), r.Model, state})
	}
	a.table(rows...)
}

func (a *app) evalShowCommand() *cobra.Command {
	var o evalOptions
	c := command("show RUN", 1, func(_ *cobra.Command, args []string) error {
		r, err := a.loadRun(args[0])
		if err != nil {
			return err
		}
		return a.evalReport(r, o)
	})
	a.reportFlags(c, &o)
	return c
}

func (a *app) loadRun(name string) (*eval.Result, error) {
	store, err := a.evalStore()
	if err != nil {
		return nil, err
	}
	r, err := store.Load(name)
	if err != nil {
		return nil, failed("", err)
	}
	return r, nil
}

func (a *app) evalCompareCommand() *cobra.Command {
	var gated bool
	var file string
	c := command("compare A B", 2, func(_ *cobra.Command, args []string) error {
		before, err := a.loadRun(args[0])
		if err != nil {
			return err
		}
		after, err := a.loadRun(args[1])
		if err != nil {
			return err
		}
		comparison, err := eval.Compare(before, after)
		if err != nil {
			f := &failure{code: exitFailure, what: "compare", err: err}
			return f.with("compare runs of the same dataset; ids of questions must be the same")
		}
		if file != "" {
			if err := writeOutput(file, func(w io.Writer) error { return comparison.WriteCSV(w) }); err != nil {
				return failed("write "+file, err)
			}
		}
		if err := a.printComparison(comparison); err != nil {
			return err
		}
		if gated && len(comparison.Regressions) > 0 {
			return &failure{code: exitFailure, err: errors.New("fell by more than its interval: " + strings.Join(comparison.Regressions, ", "))}
		}
		return nil
	})
	c.Flags().BoolVar(&gated, "gate", false, "exit with code 1 where a metric fell by more than its interval")
	a.jsonFlag(c)
	c.Flags().StringVar(&file, "csv", "", "write one line a metric to this `FILE`, too")
	return c
}

func (a *app) printComparison(c *eval.Comparison) error {
	err := a.print(c, func() {
		var table strings.Builder
		_ = c.WriteTable(&table) // a builder takes all
		fmt.Fprint(a.out, transcript.Visible(table.String()))
	})
	return errors.Join(err, a.out.Flush())
}
