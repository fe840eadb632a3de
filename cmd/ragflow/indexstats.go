package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/settings"
)

func (a *app) indexStatsCommand(g *given) *cobra.Command {
	var files bool
	c := command("stats [PATH]...", -1, func(c *cobra.Command, args []string) error {
		g.setDocs(args)
		all := func(c *ragflow.Config) {
			if len(args) == 0 {
				c.Docs = nil // all there is
			}
		}
		return a.with(c.Context(), g, opening{models: settings.NoModels, change: all}, func(opened *session) error {
			stats, err := opened.Library().Stats(c.Context(), files)
			if err != nil {
				return failed("read the index", err)
			}
			return a.print(stats, func() { a.printStats(stats) })
		})
	})
	a.jsonFlag(c)
	c.Flags().BoolVar(&files, "files", false, "name each file with its status")
	return c
}

// vectors says how many passages have a vector, and by which model; empty if none has.
func vectors(c ingest.CollectionStats) string {
	if c.Embedder == "" {
		return ""
	}
	return fmt.Sprintf("%d of %s, by %s", c.Vectors, count(c.Chunks, "passage"), line(c.Embedder))
}

func (a *app) printStats(stats *ingest.Stats) {
	stats.Collections = slices.DeleteFunc(stats.Collections, func(c ingest.CollectionStats) bool { return c.Files == 0 && len(c.Unread) == 0 })
	if len(stats.Collections) == 0 {
		fmt.Fprintln(a.out, "nothing is indexed")
		return
	}
	s := a.styleOf(a.stdout)
	for _, c := range stats.Collections {
		status := counts(
			ingest.Count{Name: "indexed", Count: c.Indexed}, ingest.Count{Name: "empty", Count: c.Empty},
			ingest.Count{Name: "skipped", Count: c.Skipped}, ingest.Count{Name: "failed", Count: c.Failed},
		)
		fmt.Fprintln(a.out, s.Bold(line(c.Root)))
		for _, row := range [][2]string{
			{"files", strings.TrimSuffix(fmt.Sprintf("%d (%s)", c.Files, status), " ()")},
			{"not read", counts(c.Unread...)},
			{"passages", strconv.Itoa(c.Chunks)},
			{"cut by", counts(c.Chunkers...)},
			{"vectors", vectors(c)},
		} {
			if row[1] != "" {
				fmt.Fprintf(a.out, "  %-11s  %s\n", row[0], row[1])
			}
		}
		for _, f := range c.FileList {
			detail := cmp.Or(line(f.Reason), strings.TrimSuffix(count(f.Chunks, "passage")+" by "+f.Cut, " by "))
			fmt.Fprintf(a.out, "  %-8s %s  %s\n", f.Status, line(f.Source), s.Dim(detail))
		}
	}
	fmt.Fprintf(a.out, "database %s\n", byteSize(stats.Bytes))
}
