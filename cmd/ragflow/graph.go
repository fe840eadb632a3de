package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) graphCommand() *cobra.Command {
	var format string
	formats := []string{"mermaid", "ascii"}
	c := command("graph", 0, func(*cobra.Command, []string) error {
		if format == "svg" {
			return usagef("--format svg is gone: draw the text of --format mermaid with mermaid.live or mmdc")
		}
		if !slices.Contains(formats, format) {
			return usagef("--format is %q, but must be one of %s", format, strings.Join(formats, ", "))
		}
		drawing, err := ragflow.DrawGraph(format)
		if err != nil {
			return failed("draw the graph", err)
		}
		fmt.Fprintln(a.out, strings.TrimRight(drawing, "\n"))
		return nil
	})
	c.Flags().StringVar(&format, "format", "ascii", "drawing `FORMAT`: "+strings.Join(formats, ", "))
	return c
}
