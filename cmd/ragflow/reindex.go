package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) reindexCommand() *cobra.Command {
	var embedOnly, asJSON bool
	c := &cobra.Command{
		Use:   "reindex --embed-only",
		Short: "Make the vectors anew, after another embedding model was configured",
		Long: `Make the vectors of all passages anew with the embedding model that is configured
now. They are made beside the old ones; searches change over when all are there.
It may be interrupted at any time: what was embedded is kept, and the next call
goes on from there. No document is read.

Without --docs, all that is indexed is embedded. "ragflow index" brings changed
documents up to date, their vectors too; REBUILD_INDEX=1 makes it do this as well.`,
		Example: `  EMBEDDING_MODEL=nomic-embed-text ragflow reindex --embed-only`,
		Args:    argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if !embedOnly {
				f := usagef("reindex needs --embed-only")
				f.hint = `to bring changed documents up to date: ragflow index; to read all anew, delete index.db first`
				return f
			}
			return a.reembed(c.Context(), asJSON)
		},
	}
	a.docsFlag(c.Flags())
	a.collectionFlag(c.Flags())
	c.Flags().BoolVar(&embedOnly, "embed-only", false, "make vectors, and read no documents")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) reembed(ctx context.Context, asJSON bool) (err error) {
	progress := a.newProgress()
	a.reembedding = true
	assistant, err := a.open(ctx, func(c *ragflow.Config) { c.Progress = progress.report })
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	report, err := assistant.Reembed(ctx)
	progress.end()
	if err != nil {
		if report != nil && report.Embedded > 0 && !a.quiet {
			fmt.Fprintf(a.err, "%s; the next call goes on from there\n", embedded(report))
		}
		return failed("reindex", err)
	}
	if err := a.keepCollection(a.opened); err != nil {
		return err
	}
	if asJSON {
		return a.writeJSON(report)
	}
	a.denseTrouble(report)
	fmt.Fprintf(a.out, "%s; %s of %s found by meaning\n", orNothing(embedded(report)),
		count(report.Chunks-report.Missing, "passage"), strconv.Itoa(report.Chunks))
	return nil
}

func orNothing(s string) string {
	if s == "" {
		return "nothing to embed"
	}
	return s
}
