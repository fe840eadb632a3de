package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// pruneReply is the schema of "ragflow threads prune --json".
type pruneReply struct {
	DryRun  bool                   `json:"dry_run"`
	Threads []*threads.PruneReport `json:"threads"`
}

func (a *app) threadsPruneCommand() *cobra.Command {
	var o threads.PruneOptions
	var all, asJSON bool
	var before string
	c := &cobra.Command{
		Use:   "prune ID",
		Short: "Drop the oldest turns of a conversation from its log",
		Long: `Drop the oldest turns of a conversation, or of all with --all, from the log: what
was retrieved, noted and answered in them. What the conversation knows stays, and
so do the turns kept with their traces. Turns stay that meet every condition.
Messages that no summary holds yet stay readable. The file shrinks at the end.`,
		Example: `  ragflow threads prune last --keep-last 10
  ragflow threads prune --all --before 2026-01-31 --dry-run
  ragflow threads prune --all --max-bytes 1000000`,
		Args: argsBetween(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return usagef("name one thread, or --all")
			}
			if err := pruneConditions(c, &o, before); err != nil {
				return err
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				return a.prune(c.Context(), assistant, args, o, asJSON)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&all, "all", false, "all conversations")
	f.IntVar(&o.KeepLast, "keep-last", 0, "keep the last `N` turns")
	f.StringVar(&before, "before", "", "drop turns asked before this `TIME`: 2026-01-31 or 2026-01-31T08:30:00Z")
	f.Int64Var(&o.MaxBytes, "max-bytes", 0, "keep the newest turns that together take at most `N` bytes")
	f.BoolVar(&o.DryRun, "dry-run", false, "only tell what would go")
	f.BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

// pruneConditions checks the conditions that were given.
func pruneConditions(c *cobra.Command, o *threads.PruneOptions, before string) error {
	changed := c.Flags().Changed
	switch {
	case !changed("keep-last") && !changed("before") && !changed("max-bytes"):
		return usagef("say which turns stay: --keep-last, --before or --max-bytes")
	case changed("keep-last") && o.KeepLast < 1, changed("max-bytes") && o.MaxBytes < 1:
		return usagef("--keep-last and --max-bytes must be 1 or more")
	case before == "" && changed("before"):
		return usagef("--before needs a time")
	case before == "":
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, before); err == nil {
			o.Before = at
			return nil
		}
	}
	return usagef("--before: %q is no time such as 2026-01-31 or 2026-01-31T08:30:00Z", before)
}

func (a *app) prune(ctx context.Context, assistant *ragflow.Assistant, args []string, o threads.PruneOptions, asJSON bool) error {
	var ids []string
	if len(args) == 1 {
		id, err := findThread(ctx, assistant, args[0])
		if err != nil {
			return err
		}
		ids = []string{id}
	} else {
		list, err := assistant.Threads().List(ctx)
		if err != nil {
			return failed("list threads", err)
		}
		for _, t := range list {
			ids = append(ids, t.ID)
		}
	}
	reply := pruneReply{DryRun: o.DryRun, Threads: []*threads.PruneReport{}}
	went := 0
	for _, id := range ids {
		r, err := assistant.Threads().Prune(ctx, id, o)
		if err != nil {
			return failed("prune", err)
		}
		went += r.Commits
		reply.Threads = append(reply.Threads, r)
	}
	if went > 0 && !o.DryRun {
		if err := assistant.Threads().Vacuum(ctx); err != nil {
			return failed("shrink the file", err)
		}
	}
	if asJSON {
		return a.writeJSON(reply)
	}
	verb := "pruned"
	if o.DryRun {
		verb = "would prune"
	}
	for _, r := range reply.Threads {
		fmt.Fprintf(a.out, "%s %s: %s (%s), %s kept\n", verb, r.Thread, count(r.Turns, "turn"), byteSize(r.Bytes), count(r.Kept, "turn"))
	}
	return nil
}

// deleteReply is the schema of "ragflow threads delete --json".
type deleteReply struct {
	Deleted []string `json:"deleted"`
}

func (a *app) threadsDeleteCommand() *cobra.Command {
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete conversations for good",
		Long: `Delete conversations with all that was said in them. Their content is overwritten
in the file. On a terminal it asks first; elsewhere it needs --yes.`,
		Example: `  ragflow threads delete last
  ragflow threads delete --yes work experiment`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				return a.deleteThreads(c.Context(), assistant, args, yes, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

func (a *app) deleteThreads(ctx context.Context, assistant *ragflow.Assistant, names []string, yes, asJSON bool) error {
	list, err := assistant.Threads().List(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	var ids, lines []string
	for _, name := range names {
		id, err := pickThread(list, name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		for _, t := range list {
			if t.ID == id {
				lines = append(lines, fmt.Sprintf("  %s  %s  %s", id, count(t.Turns, "turn"), line(t.Title)))
			}
		}
	}
	if !yes {
		if in, ok := a.in.(*os.File); !ok || !a.isTerm(in) {
			return usagef("deleting cannot be taken back: confirm with --yes")
		}
		fmt.Fprintf(a.err, "delete for good:\n%s\nreally? [y/N] ", strings.Join(lines, "\n"))
		answer, err := readLine(ctx, a.in)
		if err != nil {
			return err
		}
		if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
			return &failure{code: exitFailure, err: errors.New("nothing was deleted")}
		}
	}
	if err := assistant.Threads().Delete(ctx, ids...); err != nil {
		return failed("delete threads", err)
	}
	if asJSON {
		return a.writeJSON(deleteReply{ids})
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "deleted %s\n", count(len(ids), "thread"))
	}
	return nil
}

// readLine reads what a person types, and stops waiting when ctx ends.
func readLine(ctx context.Context, r io.Reader) (string, error) {
	done := make(chan string, 1)
	go func() { // a read cannot be called off; it ends with the program
		text, _ := bufio.NewReader(r).ReadString('\n') // the end of input is an answer too: no
		done <- text
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case text := <-done:
		return text, nil
	}
}
