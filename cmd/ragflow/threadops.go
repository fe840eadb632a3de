package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/threads"
)

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

func (a *app) showThread(ctx context.Context, log *threads.Log, args []string) error {
	id, err := findThread(ctx, log, args[0])
	if err != nil {
		return err
	}
	t, err := log.Thread(ctx, id)
	if err != nil {
		return failed("show thread "+id, err)
	}
	return a.print(t, func() { a.printMarkdown(threadMarkdown(ctx, t)) })
}

func (a *app) exportThread(ctx context.Context, log *threads.Log, name, output string) error {
	id, err := findThread(ctx, log, name)
	if err != nil {
		return err
	}
	if output == "" || output == "-" {
		err = log.Export(ctx, id, a.out)
	} else {
		err = writeOutput(output, func(w io.Writer) error { return log.Export(ctx, id, w) })
		if err == nil {
			a.tell("wrote %s", output)
		}
	}
	return failed("export thread "+id, err)
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

func (a *app) pruneThread(ctx context.Context, log *threads.Log, name string, keep int) error {
	if keep < 1 {
		return usagef("say how many turns stay, 1 or more: --keep-last 50")
	}
	id, err := findThread(ctx, log, name)
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
}

// deleteReply is the schema of "ragflow threads delete --json".
type deleteReply struct {
	Deleted []string `json:"deleted"`
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

// threadsFile is the database of the conversations in a data folder.
const threadsFile = "threads.db"

// restoreThreads opens no store: a damaged database cannot be opened.
func (a *app) restoreThreads(ctx context.Context, file string, yes bool) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if s.config.ThreadStore != nil {
		return usagef("the threads are on a server: restore them with its tools, or each with import")
	}
	path := filepath.Join(s.config.DataDir, threadsFile)
	if present(s.config.DataDir, threadsFile) {
		if err := a.confirm(ctx, yes, "replace all conversations in "+path+"?\n", "restored"); err != nil {
			return err
		}
	}
	if err := a.makeData(s.config.DataDir); err != nil {
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
