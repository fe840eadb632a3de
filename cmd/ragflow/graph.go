package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) graphCommand() *cobra.Command {
	return command("graph", 0, func(*cobra.Command, []string) error {
		drawing, err := ragflow.DrawGraph()
		if err != nil {
			return err
		}
		fmt.Fprintln(a.out, strings.TrimRight(drawing, "\n"))
		return nil
	})
}
