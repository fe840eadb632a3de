package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

// withThreads opens the assistant without documents for a command on threads.
func (a *app) withThreads(ctx context.Context, do func(*ragflow.Assistant) error) (err error) {
	assistant, err := a.open(ctx, nil)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	return do(assistant)
}

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/(1000*1000))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1000*1000*1000))
}

func (a *app) threadsExportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a conversation to a file that can be imported",
		Long: `Write a conversation as text, one JSON object a line: a header, one line for each
step with all that was changed and noted in it, and a checksum. Importing it
gives the same history, the same state and the same traces.`,
		Example: `  ragflow threads export last -o conversation.jsonl
  ragflow threads export last | gzip > conversation.jsonl.gz`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				id, err := findThread(c.Context(), assistant, args[0])
				if err != nil {
					return err
				}
				if file == "" || file == "-" {
					return failedOrNil("export thread "+id, assistant.Export(c.Context(), id, a.out))
				}
				return failedOrNil("export thread "+id, writeWhole(file, func(w io.Writer) error {
					return assistant.Export(c.Context(), id, w)
				}))
			})
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "write to this `FILE` (default: standard output)")
	return c
}

func failedOrNil(what string, err error) error {
	if err == nil {
		return nil
	}
	return failed(what, err)
}

// writeWhole writes a file that is either there as a whole or as it was before.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	buffered := bufio.NewWriter(f)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (a *app) threadsImportCommand() *cobra.Command {
	var thread string
	var asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Add a conversation that was exported",
		Long: `Add a conversation from a file that "threads export" wrote, or from standard
input with "-". The file is checked as a whole first; one that is damaged changes
nothing. The thread keeps its id, and its runs theirs; where a thread of that id
is there already, give another name with --thread.`,
		Example: `  ragflow threads import conversation.jsonl
  ragflow threads import conversation.jsonl --thread copy
  gunzip < conversation.jsonl.gz | ragflow threads import -`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if line(thread) != thread {
				return usagef("the name of a thread, %q, must be on one line and have no control characters", thread)
			}
			var in io.Reader = a.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return failed("import", err)
				}
				defer func() { _ = f.Close() }() // it was only read
				in = f
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				info, err := assistant.Import(c.Context(), in, thread)
				if err != nil {
					return failed("import "+args[0], err)
				}
				return a.made("imported", info, asJSON)
			})
		},
	}
	c.Flags().StringVar(&thread, "thread", "", "import it under this `NAME`")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

// made tells of a new thread.
func (a *app) made(how string, t ragflow.ThreadInfo, asJSON bool) error {
	if asJSON {
		return a.writeJSON(t)
	}
	fmt.Fprintln(a.out, t.ID)
	if !a.quiet {
		fmt.Fprintf(a.err, "%s: %s, %s: %s\n", how, count(t.Turns, "turn"), byteSize(t.Bytes), line(t.Title))
	}
	return nil
}

func (a *app) threadsForkCommand() *cobra.Command {
	var at string
	var asJSON bool
	c := &cobra.Command{
		Use:   "fork ID [NEW]",
		Short: "Begin a new conversation with the history of another",
		Long: `Begin a new conversation with the history and state of another, as they are, or
with --at as they were after a run (the id that "ask --json" and traces tell, or a
beginning of it) or a commit (a number, as in the table of threads.db). The two
are independent from then on. Without a name the new one gets an id, which is
printed.`,
		Example: `  ragflow threads fork last experiment
  ragflow threads fork work --at 0198f3c2 before-the-mistake`,
		Args: argsBetween(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			to := ""
			if len(args) == 2 {
				if to = args[1]; to == "" || line(to) != to || to == lastName {
					return usagef("%q cannot be the name of a thread", to)
				}
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				id, err := findThread(c.Context(), assistant, args[0])
				if err != nil {
					return err
				}
				info, err := assistant.Fork(c.Context(), id, at, to)
				if err != nil {
					return failed("fork", err)
				}
				return a.made("forked", info, asJSON)
			})
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was after this `RUN` or commit")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

// pruneReply is the schema of "ragflow threads prune --json".
type pruneReply struct {
	DryRun  bool                   `json:"dry_run"`
	Threads []*ragflow.PruneReport `json:"threads"`
}

func (a *app) threadsPruneCommand() *cobra.Command {
	var o ragflow.PruneOptions
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
func pruneConditions(c *cobra.Command, o *ragflow.PruneOptions, before string) error {
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

func (a *app) prune(ctx context.Context, assistant *ragflow.Assistant, args []string, o ragflow.PruneOptions, asJSON bool) error {
	var ids []string
	if len(args) == 1 {
		id, err := findThread(ctx, assistant, args[0])
		if err != nil {
			return err
		}
		ids = []string{id}
	} else {
		list, err := assistant.Threads(ctx)
		if err != nil {
			return failed("list threads", err)
		}
		for _, t := range list {
			ids = append(ids, t.ID)
		}
	}
	reply := pruneReply{DryRun: o.DryRun, Threads: []*ragflow.PruneReport{}}
	went := 0
	for _, id := range ids {
		r, err := assistant.Prune(ctx, id, o)
		if err != nil {
			return failed("prune", err)
		}
		went += r.Commits
		reply.Threads = append(reply.Threads, r)
	}
	if went > 0 && !o.DryRun {
		if err := assistant.Vacuum(ctx); err != nil {
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
		Long: `Delete conversations with all that was said in them. Nothing of them is left in
the file. On a terminal it asks first; elsewhere it needs --yes.`,
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
	list, err := assistant.Threads(ctx)
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
	if err := assistant.Delete(ctx, ids...); err != nil {
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

func (a *app) threadsVerifyCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify [ID]...",
		Short: "Check that conversations are whole",
		Long: `Check conversations, all of them where none is named, and then the file they are
in: every step has the one before it, every text its hash, every change is
understood, each snapshot is what the steps before it give. Nothing is changed.
Exits with 1 where something is found.`,
		Example: `  ragflow threads verify
  ragflow threads verify last --json`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				var ids []string
				for _, name := range args {
					id, err := findThread(c.Context(), assistant, name)
					if err != nil {
						return err
					}
					ids = append(ids, id)
				}
				report, err := assistant.VerifyThreads(c.Context(), ids...)
				if err != nil {
					return failed("verify", err)
				}
				return a.printVerified(report, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

func (a *app) printVerified(r *ragflow.ThreadsVerified, asJSON bool) error {
	if asJSON {
		if err := a.writeJSON(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintln(a.out, line(f.String()))
		}
		if len(r.Findings) == 0 {
			fmt.Fprintf(a.out, "ok: %s, %s\n", count(r.Threads, "thread"), count(r.Commits, "commit"))
		}
	}
	if len(r.Findings) == 0 {
		return nil
	}
	return &failure{
		code: exitFailure, err: fmt.Errorf("%s in threads.db", count(len(r.Findings), "problem")),
		hint: "keep a copy of the data folder; what is whole can be exported: ragflow threads export ID -o FILE",
	}
}
