package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) graphCommand() *cobra.Command {
	var format string
	c := command("graph", 0, func(*cobra.Command, []string) error {
		drawing, err := ragflow.DrawGraph(format)
		if err != nil {
			return usagef("--format: %w", err)
		}
		fmt.Fprintln(a.out, strings.TrimRight(drawing, "\n"))
		return nil
	})
	c.Flags().StringVar(&format, "format", "ascii", "drawing `FORMAT`: mermaid, ascii")
	return c
}
