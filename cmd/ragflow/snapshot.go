package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) indexSnapshotCommand() *cobra.Command {
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "snapshot FILE",
		Short: "Write the whole index to one file, for a backup or another machine",
		Long: `Write the whole index to one file, as it is at one moment, with the vectors:
to keep it, or to take it to another machine instead of indexing and embedding
there again. It may be done while other processes index and search. The file
carries a checksum; "ragflow index restore" reads it.`,
		Example: `  ragflow index snapshot ./docs-index.snapshot`,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if _, err := os.Lstat(args[0]); err == nil && !force {
				f := usagef("%s is there already", args[0])
				f.hint = "choose another name, or replace it with --force"
				return f
			}
			assistant, err := a.open(c.Context(), func(c *ragflow.Config) { c.Docs = nil })
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			report, err := assistant.Snapshot(c.Context(), args[0])
			if err != nil {
				return failed("write the snapshot "+args[0], err)
			}
			if asJSON {
				return a.writeJSON(report)
			}
			a.printSnapshot("wrote", report)
			return nil
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace a file of that name")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) indexRestoreCommand() *cobra.Command {
	var asJSON bool
	var docs []string
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put the folders of a snapshot into the index",
		Long: `Put what a snapshot holds into the index: each folder in place of what the index
has of the same folder, all or none. Other folders stay. The documents need not be
there to be searched; where they are, the next "ragflow index" reads only what
differs from the snapshot.

Where the documents lie elsewhere on this machine, say so with --docs: once for
each folder of the snapshot, in the order in which "ragflow index stats" lists
them on the machine that made it.`,
		Example: `  ragflow index restore ./docs-index.snapshot
  ragflow index restore ./docs-index.snapshot --docs ./docs`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			assistant, err := a.open(c.Context(), func(c *ragflow.Config) { c.Docs = nil })
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			report, err := assistant.Restore(c.Context(), args[0], docs...)
			if err != nil {
				return failed("restore "+args[0], err)
			}
			if asJSON {
				return a.writeJSON(report)
			}
			a.printSnapshot("restored", report)
			for _, held := range report.Collections {
				if _, err := os.Stat(held.Root); errors.Is(err, fs.ErrNotExist) {
					a.warn(held.Root + " is not on this machine; its passages are found all the same. Where it lies elsewhere, restore again with --docs")
				}
			}
			return nil
		},
	}
	c.Flags().StringArrayVar(&docs, "docs", nil, "where the folder of the snapshot lies here: `PATH`; once for each, in order")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) printSnapshot(what string, r *ragflow.SnapshotReport) {
	fmt.Fprintf(a.out, "%s %s, %s\n", what, line(r.File), bytesText(r.Bytes))
	for _, c := range r.Collections {
		fmt.Fprintf(a.out, "  %s: %s in %s\n", line(c.Root), count(c.Chunks, "passage"), count(c.Files, "file"))
	}
}
