package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/threads"
)

func (a *app) listThreads(ctx context.Context, log *threads.Log, _ *threadFlags, _ []string) error {
	list, err := log.List(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	return a.print(threadsReply{append([]threads.Info{}, list...)}, func() {
		if len(list) == 0 {
			a.tell(`no threads yet; begin one: ragflow ask --docs ./docs "…"`)
			return
		}
		columns, _, _ := a.size(a.stdout)
		writeThreads(a.out, list, columns)
	})
}

func (a *app) showThread(ctx context.Context, log *threads.Log, _ *threadFlags, args []string) error {
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

func (a *app) exportThread(ctx context.Context, log *threads.Log, o *threadFlags, args []string) error {
	id, err := findThread(ctx, log, args[0])
	if err != nil {
		return err
	}
	if o.output == "" || o.output == "-" {
		err = log.Export(ctx, id, a.out)
	} else {
		err = writeWhole(o.output, func(w io.Writer) error { return log.Export(ctx, id, w) })
	}
	return failed("export thread "+id, err)
}

// writeWhole writes a file that is either complete or as it was before.
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
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (a *app) importThread(ctx context.Context, log *threads.Log, o *threadFlags, args []string) error {
	if err := checkThreadName(o.as); err != nil {
		return err
	}
	in := a.in
	if args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return failed("import", err)
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	info, err := log.Import(ctx, in, o.as)
	if err != nil {
		return failed("import "+args[0], err)
	}
	return a.made("imported", info)
}

// made prints a new thread.
func (a *app) made(how string, t threads.Info) error {
	return a.print(t, func() {
		fmt.Fprintln(a.out, t.ID)
		a.tell("%s: %s, %s: %s", how, count(t.Turns, "turn"), byteSize(t.Bytes), t.Title)
	})
}

func (a *app) forkThread(ctx context.Context, log *threads.Log, o *threadFlags, args []string) error {
	to := ""
	if len(args) == 2 {
		if to = args[1]; to == "" || to == lastName {
			return usagef("%q cannot be the name of a thread", to)
		}
		if err := checkThreadName(to); err != nil {
			return err
		}
	}
	id, err := findThread(ctx, log, args[0])
	if err != nil {
		return err
	}
	info, err := log.Fork(ctx, id, o.at, to)
	if err != nil {
		return failed("fork", err)
	}
	return a.made("forked", info)
}

// pruneReply is the schema of "ragflow threads prune --json".
type pruneReply struct {
	DryRun  bool                   `json:"dry_run"`
	Threads []*threads.PruneReport `json:"threads"`
}

func (a *app) pruneThreads(ctx context.Context, log *threads.Log, o *threadFlags, args []string) error {
	if o.all == (len(args) == 1) {
		return usagef("name one thread, or --all")
	}
	if err := o.checkPrune(); err != nil {
		return err
	}
	list, err := log.List(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	if !o.all {
		id, err := pickThread(list, args[0])
		if err != nil {
			return err
		}
		list = []threads.Info{{ID: id}}
	}
	reply := pruneReply{DryRun: o.prune.DryRun, Threads: []*threads.PruneReport{}}
	pruned := 0
	for _, t := range list {
		r, err := log.Prune(ctx, t.ID, o.prune)
		if err != nil {
			return failed("prune", err)
		}
		pruned += r.Commits
		reply.Threads = append(reply.Threads, r)
	}
	verb := "would prune"
	if !o.prune.DryRun {
		verb = "pruned"
		if pruned > 0 {
			if err := log.Vacuum(ctx); err != nil {
				return failed("shrink the file", err)
			}
		}
	}
	return a.print(reply, func() {
		for _, r := range reply.Threads {
			fmt.Fprintf(a.out, "%s %s: %s (%s), %s kept\n", verb, r.Thread, count(r.Turns, "turn"), byteSize(r.Bytes), count(r.Kept, "turn"))
		}
	})
}

// checkPrune checks the conditions of prune.
func (o *threadFlags) checkPrune() (err error) {
	switch {
	case !o.given("keep-last") && !o.given("before") && !o.given("max-bytes"):
		return usagef("say which turns stay: --keep-last, --before or --max-bytes")
	case o.given("keep-last") && o.prune.KeepLast < 1, o.given("max-bytes") && o.prune.MaxBytes < 1:
		return usagef("--keep-last and --max-bytes must be 1 or more")
	case !o.given("before"):
		return nil
	}
	if o.prune.Before, err = time.Parse(time.DateOnly, o.before); err != nil {
		o.prune.Before, err = time.Parse(time.RFC3339, o.before)
	}
	if err != nil {
		return usagef("--before: %q is no time such as 2026-01-31 or 2026-01-31T08:30:00Z", o.before)
	}
	return nil
}

// expireReply is the schema of "ragflow threads expire --json".
type expireReply struct {
	DryRun  bool           `json:"dry_run"`
	Threads []threads.Info `json:"threads"`
}

func (a *app) expireThreads(ctx context.Context, log *threads.Log, o *threadFlags, _ []string) error {
	if o.older <= 0 {
		return usagef("say how long they were not used: --older 720h")
	}
	gone, err := log.Expire(ctx, o.older, o.dryRun)
	if err != nil {
		return failed("expire threads", err)
	}
	return a.print(expireReply{o.dryRun, gone}, func() {
		verb := "deleted"
		if o.dryRun {
			verb = "would delete"
		}
		for _, t := range gone {
			fmt.Fprintf(a.out, "%s %s: %s, last used %s, %s\n", verb, t.ID, count(t.Turns, "turn"), t.Used.Format(time.DateOnly), line(t.Title))
		}
		a.tell("%s %s", verb, count(len(gone), "thread"))
	})
}

// deleteReply is the schema of "ragflow threads delete --json".
type deleteReply struct {
	Deleted []string `json:"deleted"`
}

func (a *app) deleteThreads(ctx context.Context, log *threads.Log, o *threadFlags, names []string) error {
	list, err := log.List(ctx)
	if err != nil {
		return failed("list threads", err)
	}
	var ids []string
	question := "delete for good:\n"
	for _, name := range names {
		id, err := pickThread(list, name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
		for _, t := range list {
			if t.ID == id {
				question += fmt.Sprintf("  %s  %s  %s\n", id, count(t.Turns, "turn"), line(t.Title))
			}
		}
	}
	if err := a.confirm(ctx, o.yes, question, "deleted"); err != nil {
		return err
	}
	if err := log.Delete(ctx, ids...); err != nil {
		return failed("delete threads", err)
	}
	if !a.asJSON {
		a.tell("deleted %s", count(len(ids), "thread"))
	}
	return a.print(deleteReply{ids}, func() {})
}

func (a *app) sealThreads(ctx context.Context, log *threads.Log, _ *threadFlags, _ []string) error {
	n, err := log.Seal(ctx)
	if err != nil {
		return failed("encrypt the threads", err)
	}
	a.tell("encrypted %s", count(n, "record"))
	return nil
}

func (a *app) verifyThreads(ctx context.Context, log *threads.Log, _ *threadFlags, names []string) error {
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

func (a *app) backupThreads(ctx context.Context, log *threads.Log, _ *threadFlags, args []string) error {
	if err := log.Backup(ctx, args[0]); err != nil {
		return failed("back up the threads", err)
	}
	a.tell("backed up all threads to %s", args[0])
	return nil
}

// threadsFile is the database of the conversations in a data folder.
const threadsFile = "threads.db"

func (a *app) restoreThreads(ctx context.Context, _ *threads.Log, o *threadFlags, args []string) error {
	s, err := a.settings()
	if err != nil {
		return err
	}
	if s.config.ThreadStore != nil {
		return usagef("the threads are on a server: restore them with its tools, or each with import")
	}
	path := filepath.Join(s.config.DataDir, threadsFile)
	if present(s.config.DataDir, threadsFile) {
		if err := a.confirm(ctx, o.yes, "replace all conversations in "+path+"?\n", "restored"); err != nil {
			return err
		}
	}
	aside, err := checkpoint.Restore(ctx, args[0], path)
	if err != nil {
		return failed("restore the threads", err)
	}
	a.tell("restored all threads from %s", args[0])
	if aside != "" {
		a.tell("the damaged database is now %s", aside)
	}
	return nil
}
