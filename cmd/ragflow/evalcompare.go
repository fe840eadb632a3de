package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/eval"
)

func (a *app) evalCompareCommand() *cobra.Command {
	var gated bool
	var file string
	c := command("compare A B", 2, func(_ *cobra.Command, args []string) error {
		before, err := eval.ReadResult(args[0])
		if err != nil {
			return failed("", err)
		}
		after, err := eval.ReadResult(args[1])
		if err != nil {
			return failed("", err)
		}
		comparison, err := eval.Compare(before, after)
		if err != nil {
			f := &failure{code: exitFailure, what: "compare", err: err}
			return f.with("compare runs of the same dataset; ids of questions must be the same")
		}
		if file != "" {
			if err := writeOutput(file, comparison.WriteCSV); err != nil {
				return failed("write "+file, err)
			}
		}
		if err := a.printTable(comparison, comparison.WriteTable); err != nil {
			return err
		}
		if gated && len(comparison.Regressions) > 0 {
			return &failure{code: exitFailure, err: errors.New("fell by more than its interval: " + strings.Join(comparison.Regressions, ", "))}
		}
		return nil
	})
	c.Flags().BoolVar(&gated, "gate", false, "exit with code 1 if a metric fell by more than its interval")
	a.jsonFlag(c)
	c.Flags().StringVar(&file, "csv", "", "write one line a metric to this `FILE`, too")
	return c
}
