package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/threads"
)

// threadsReply is the schema of "ragflow threads list --json".
type threadsReply struct {
	Threads []threads.Info `json:"threads"`
}

// threadWork is the work of a command below "ragflow threads", and subThreads makes that command.
type (
	threadWork = func(ctx context.Context, log *threads.Log, args []string) error
	subThreads = func(use string, maxArgs int, do threadWork) *cobra.Command
)

func (a *app) threadsCommand(g *given) *cobra.Command {
	sub := func(use string, maxArgs int, do threadWork) *cobra.Command {
		return command(use, maxArgs, func(c *cobra.Command, args []string) error {
			return a.with(c.Context(), g, opening{models: settings.NoModels}, func(opened *session) error { return do(c.Context(), opened.Threads(), args) })
		})
	}
	return group(
		"threads",
		a.jsonFlag(sub("list", 0, a.listThreads)), a.jsonFlag(sub("show ID", 1, a.showThread)), a.threadsExportCommand(sub),
		a.threadsImportCommand(sub), a.threadsPruneCommand(sub), a.threadsDeleteCommand(sub), a.jsonFlag(sub("verify [ID]...", -1, a.verifyThreads)),
		sub("seal", 0, a.sealThreads), sub("backup FILE", 1, a.backupThreads), a.threadsRestoreCommand(g),
	)
}

func (a *app) listThreads(ctx context.Context, log *threads.Log, _ []string) error {
	list, err := log.All(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	return a.print(threadsReply{append([]threads.Info{}, list...)}, func() {
		if len(list) == 0 {
			a.tell(`no threads yet; begin one: ragflow ask --docs ./docs "…"`)
			return
		}
		rows := [][]string{{"ID", "TURNS", "LAST USED (UTC)", "SIZE", "TITLE"}}
		for _, t := range list {
			title := t.Title
			if unfinished(t) {
				title += " [" + t.Status + "]"
			}
			rows = append(rows, []string{t.ID, strconv.Itoa(t.Turns), t.Used.UTC().Format("2006-01-02 15:04"), byteSize(t.Bytes), title})
		}
		a.table(rows...)
	})
}

func (a *app) threadsExportCommand(sub subThreads) *cobra.Command {
	output := ""
	c := sub("export ID", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		id, err := findThread(ctx, log, args[0])
		if err != nil {
			return err
		}
		if output == "" || output == "-" {
			return failed("export thread "+id, log.Export(ctx, id, a.out))
		}
		if err = writeOutput(output, func(w io.Writer) error { return log.Export(ctx, id, w) }); err == nil {
			a.tell("wrote %s", output)
		}
		return failed("export thread "+id, err)
	})
	c.Flags().StringVarP(&output, "output", "o", "", "write to this `FILE` (default: standard output)")
	return c
}

func (a *app) threadsImportCommand(sub subThreads) *cobra.Command {
	name := ""
	c := sub("import FILE", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.importThread(ctx, log, args[0], name)
	})
	c.Flags().StringVar(&name, "thread", "", "import it under this `NAME`")
	return a.jsonFlag(c)
}

func (a *app) importThread(ctx context.Context, log *threads.Log, file, name string) error {
	if err := checkThreadName(name); err != nil {
		return err
	}
	in := a.in
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return failed("import", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	info, err := log.Import(ctx, in, name)
	if err != nil {
		return failed("import "+file, err)
	}
	return a.print(info, func() {
		fmt.Fprintln(a.out, info.ID)
		a.tell("imported: %s, %s: %s", count(info.Turns, "turn"), byteSize(info.Bytes), info.Title)
	})
}

func (a *app) threadsPruneCommand(sub subThreads) *cobra.Command {
	keep := 0
	c := sub("prune ID", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		if keep < 1 {
			return usagef("say how many turns stay, 1 or more: --keep-last 50")
		}
		id, err := findThread(ctx, log, args[0])
		if err != nil {
			return err
		}
		r, err := log.Prune(ctx, id, keep)
		if err != nil {
			return failed("prune", err)
		}
		if r.Commits > 0 {
			if err := log.Vacuum(ctx); err != nil {
				return failed("shrink the file", err)
			}
		}
		return a.print(r, func() {
			fmt.Fprintf(a.out, "pruned %s: the steps of %s are gone (%s), %s kept whole\n", r.Thread, count(r.Turns, "turn"), byteSize(r.Bytes), count(r.Kept, "turn"))
		})
	})
	c.Flags().IntVar(&keep, "keep-last", 0, "keep the last `N` turns")
	return a.jsonFlag(c)
}

// deleteReply is the schema of "ragflow threads delete --json".
type deleteReply struct {
	Deleted []string `json:"deleted"`
}

func (a *app) threadsDeleteCommand(sub subThreads) *cobra.Command {
	var older age
	var yes bool
	c := sub("delete [ID]...", -1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.deleteThreads(ctx, log, args, time.Duration(older), yes)
	})
	c.Flags().Var(&older, "older", "delete what was not used for this `TIME`, such as 30d or 12h")
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return a.jsonFlag(c)
}

func (a *app) deleteThreads(ctx context.Context, log *threads.Log, names []string, older time.Duration, yes bool) error {
	if (len(names) > 0) == (older > 0) {
		return usagef("name the threads to delete, or say how long they were not used: --older 30d")
	}
	list, err := log.All(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	reply := deleteReply{Deleted: []string{}}
	for _, name := range names {
		id, err := pickThread(list, name)
		if err != nil {
			return err
		}
		reply.Deleted = append(reply.Deleted, id)
	}
	question := "delete for good:\n"
	for _, t := range list {
		if older > 0 && time.Since(t.Used) > older {
			reply.Deleted = append(reply.Deleted, t.ID)
		}
		if slices.Contains(reply.Deleted, t.ID) {
			question += fmt.Sprintf("  %s  %s  %s\n", t.ID, count(t.Turns, "turn"), line(t.Title))
		}
	}
	if len(reply.Deleted) > 0 {
		if err := a.confirm(ctx, yes, question, "deleted"); err != nil {
			return err
		}
		if err := log.Delete(ctx, reply.Deleted...); err != nil {
			return failed("delete threads", err)
		}
	}
	return a.print(reply, func() { a.tell("deleted %s", count(len(reply.Deleted), "thread")) })
}

func (a *app) sealThreads(ctx context.Context, log *threads.Log, _ []string) error {
	n, err := log.Seal(ctx)
	if err != nil {
		return failed("encrypt the threads", err)
	}
	a.tell("encrypted %s", count(n, "record"))
	return nil
}

func (a *app) verifyThreads(ctx context.Context, log *threads.Log, names []string) error {
	var ids []string
	for _, name := range names {
		id, err := findThread(ctx, log, name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	r, err := log.Verify(ctx, ids...)
	if err != nil {
		return failed("verify", err)
	}
	err = a.print(r, func() {
		for _, f := range r.Findings {
			fmt.Fprintln(a.out, line(f.String()))
		}
		if len(r.Findings) == 0 {
			fmt.Fprintf(a.out, "ok: %s, %s\n", count(r.Threads, "thread"), count(r.Commits, "commit"))
		}
	})
	if err != nil || len(r.Findings) == 0 {
		return err
	}
	return &failure{
		code: exitFailure, err: fmt.Errorf("%s in the threads", count(len(r.Findings), "problem")),
		hint: "keep a copy of the data folder; what is whole can be exported: ragflow threads export ID -o FILE",
	}
}

func (a *app) backupThreads(ctx context.Context, log *threads.Log, args []string) error {
	if err := checkOutput(filepath.Dir(args[0])); err != nil {
		return err
	}
	if err := log.Backup(ctx, args[0]); err != nil {
		return failed("back up the threads", err)
	}
	a.tell("backed up all threads to %s", args[0])
	return nil
}

func (a *app) threadsRestoreCommand(g *given) *cobra.Command {
	yes := false
	c := command("restore FILE", 1, func(c *cobra.Command, args []string) error { return a.restoreThreads(c.Context(), g, args[0], yes) })
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// restoreThreads opens no store, for a damaged database cannot be opened.
func (a *app) restoreThreads(ctx context.Context, g *given, file string, yes bool) error {
	s, err := a.trusted(a.input(g))
	if err != nil {
		return err
	}
	if s.Config.ThreadStore != nil {
		return usagef("the threads are on a server: restore them with its tools, or each with import")
	}
	path := filepath.Join(s.Config.DataDir, settings.ThreadsFile)
	if present(s.Config.DataDir, settings.ThreadsFile) {
		if err := a.confirm(ctx, yes, "replace all conversations in "+path+"?\n", "restored"); err != nil {
			return err
		}
	}
	if err := a.makeData(s); err != nil {
		return err
	}
	aside, err := checkpoint.Restore(ctx, file, path)
	if err != nil {
		return failed("restore the threads", err)
	}
	a.tell("restored all threads from %s", file)
	if aside != "" {
		a.tell("the damaged database is now %s", aside)
	}
	return nil
}

// age is a duration as a flag; it may be in days.
type age time.Duration

func (*age) Type() string { return "duration" }

func (d *age) String() string {
	if *d == 0 {
		return "" // there is no default to show
	}
	return time.Duration(*d).String()
}

// Set implements pflag.Value.
func (d *age) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			text = strconv.FormatUint(24*n, 10) + "h"
		}
	}
	v, err := time.ParseDuration(text)
	*d = age(v)
	if err != nil || v <= 0 {
		return errors.New("it must be a time such as 30d or 12h")
	}
	return nil
}
