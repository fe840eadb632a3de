package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
	"example.com/ragflow/transcript"
)

// lastName stands for the thread or run that was used last.
const lastName = "last"

// threadsReply is the schema of "ragflow threads list --json".
type threadsReply struct {
	Threads []threads.Info `json:"threads"`
}

// threadWork is what a command below "ragflow threads" does.
type threadWork = func(context.Context, *threads.Log, []string) error

func (a *app) threadsCommand() *cobra.Command {
	c := &cobra.Command{Use: "threads", Args: subcommands, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	add := func(use string, most int, do threadWork) *pflag.FlagSet {
		sub := a.threadCommand(use, most, do)
		c.AddCommand(sub)
		return sub.Flags()
	}
	withJSON := func(f *pflag.FlagSet) *pflag.FlagSet {
		f.BoolVar(&a.asJSON, "json", false, "write one JSON object instead of text")
		return f
	}
	o := &threadFlags{}
	withJSON(add("list", 0, a.listThreads))
	withJSON(add("show ID", 1, a.showThread))
	add("export ID", 1, o.with(a.exportThread)).StringVarP(&o.output, "output", "o", "", "write to this `FILE` (default: standard output)")
	withJSON(add("import FILE", 1, o.with(a.importThread))).StringVar(&o.as, "thread", "", "import it under this `NAME`")
	f := withJSON(add("prune [ID]", 1, o.with(a.pruneThreads)))
	f.BoolVar(&o.all, "all", false, "all conversations")
	f.IntVar(&o.prune.KeepLast, "keep-last", 0, "keep the last `N` turns")
	f.BoolVar(&o.prune.DryRun, "dry-run", false, "only say what would go")
	f = withJSON(add("delete [ID]...", -1, o.with(a.deleteThreads)))
	f.DurationVar(&o.older, "older", 0, "delete what was not used for this `TIME`, such as 720h")
	f.BoolVar(&o.dryRun, "dry-run", false, "only say what would go")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	add("seal", 0, a.sealThreads)
	withJSON(add("verify [ID]...", -1, a.verifyThreads))
	add("backup FILE", 1, a.backupThreads)
	add("restore FILE", 1, o.with(a.restoreThreads)).BoolVar(&o.yes, "yes", false, "do not ask")
	return c
}

// threadFlags are the flags of all commands below "ragflow threads", of which one runs.
type threadFlags struct {
	all, dryRun, yes bool
	output, as       string
	older            time.Duration
	prune            threads.PruneOptions
}

// with gives the flags to what a command does.
func (o *threadFlags) with(do func(context.Context, *threads.Log, *threadFlags, []string) error) threadWork {
	return func(ctx context.Context, log *threads.Log, args []string) error { return do(ctx, log, o, args) }
}

// threadCommand makes a command that does something with the conversations.
func (a *app) threadCommand(use string, most int, do threadWork) *cobra.Command {
	return command(use, most, func(c *cobra.Command, args []string) error {
		if c.Name() == "restore" { // a damaged database cannot be opened
			return do(c.Context(), nil, args)
		}
		return a.withAssistant(c.Context(), nil, func(assistant *ragflow.Assistant) error {
			return do(c.Context(), assistant.Threads(), args)
		})
	})
}

// findThread returns the id of the thread that a person means by an id, a
// beginning of one, or "last".
func findThread(ctx context.Context, log *threads.Log, name string) (string, error) {
	list, err := log.List(ctx)
	if err != nil {
		return "", failed("list threads", err)
	}
	return pickThread(list, name)
}

// pickThread does what findThread says; list has the last used first.
func pickThread(list []threads.Info, name string) (string, error) {
	var found []string
	for _, t := range list {
		if t.ID == name {
			return name, nil
		}
		if name != "" && strings.HasPrefix(t.ID, name) {
			found = append(found, t.ID)
		}
	}
	switch {
	case name == lastName && len(list) > 0:
		return list[0].ID, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usagef("thread %q: %s begin so", name, count(len(found), "thread")).with("give more of the id")
	}
	return "", notFoundf("thread %q: not found", name).with(`"ragflow threads list" shows the threads there are`)
}

// checkThreadName refuses a name that cannot be printed on one line.
func checkThreadName(name string) error {
	if line(name) != name {
		return usagef("the name of a thread, %q, must be on one line and have no control characters", name)
	}
	return nil
}

// idStart is the beginning of an id as ragflow makes them, long enough to be
// no name that a person gives.
var idStart = regexp.MustCompile(`^[0-9a-f]{8}[0-9a-f-]*$`)

// threadToAsk returns the id of the thread a question goes to, and whether it
// begins there. A name that no thread has begins one of that name: whoever
// calls ragflow for others names threads after them. Only what looks like the
// beginning of an id stands for a whole one, so that a question to "user-1"
// never lands with "user-12".
func threadToAsk(ctx context.Context, log *threads.Log, name string, resume bool) (id string, isNew bool, err error) {
	if name == "" {
		return "", true, nil
	}
	if err := checkThreadName(name); err != nil {
		return "", false, err
	}
	list, err := log.List(ctx)
	if err != nil {
		return "", false, failed("list threads", err)
	}
	exact := slices.ContainsFunc(list, func(t threads.Info) bool { return t.ID == name })
	if exact || resume || name == lastName || idStart.MatchString(name) {
		id, err = pickThread(list, name)
		f, ok := errors.AsType[*failure](err)
		if !ok || resume || name == lastName || f.code != exitNotFound {
			return id, false, err
		}
	}
	return name, true, nil
}

// conversation is the thread a question goes to, and what it is answered from.
type conversation struct {
	thread string // empty: a new one without a name
	isNew  bool
	scope  state.Scope // without Docs: those of flags and settings
}

// converse finds the thread of a name (see threadToAsk) and what it was answered from
// before, which is used again as far as no flag says otherwise. Other documents are
// announced; the next question keeps them in the thread. A run is resumed only with
// those that it began with.
func (a *app) converse(ctx context.Context, name string, resume bool) (c conversation, err error) {
	c.isNew = true
	if c.scope.Filter, err = a.filter(); err != nil || name == "" {
		return c, err
	}
	s, err := a.settings()
	if err != nil {
		return c, err
	}
	log, store, err := ragflow.OpenThreads(ctx, s.config)
	if err != nil {
		return c, failed("open "+s.config.DataDir, err)
	}
	defer closeInto(&err, store)
	if c.thread, c.isNew, err = threadToAsk(ctx, log, name, resume); err != nil || c.isNew {
		return c, err
	}
	last, err := log.StateAt(ctx, c.thread, 0)
	if err != nil || last.Scope.Empty() {
		return c, err
	}
	kept := last.Scope
	switch {
	case len(a.flags.docs) == 0 && a.flags.collection == "":
		c.scope.Docs, a.flags.collection = kept.Docs, kept.Collection
		if c.scope.Filter.Empty() {
			c.scope.Filter = kept.Filter
		}
		err = exist(kept.Docs)
		if f, ok := errors.AsType[*failure](err); ok {
			f.hint = fmt.Sprintf("thread %q was answered from there; name other documents with --docs", c.thread)
		}
		return c, err
	}
	now := state.Scope{Collection: a.flags.collection, Filter: c.scope.Filter}
	for _, p := range a.flags.docs {
		now.Docs = append(now.Docs, absolute(s.here, p))
	}
	switch {
	case now.Equal(kept):
	case resume:
		return c, usagef("--resume goes on with the documents of the question, %s; leave out --docs and --collection", scopeName(kept)).
			with("ragflow ask --thread " + quoted(c.thread) + " --resume")
	default:
		a.tell("thread %q was answered from %s; from now on it is answered from %s", c.thread, scopeName(kept), scopeName(now))
	}
	return c, nil
}

// configure makes c answer from the documents of the conversation.
func (v conversation) configure(c *ragflow.Config) {
	c.Filter = v.scope.Filter
	if len(v.scope.Docs) > 0 {
		c.Docs = v.scope.Docs
	}
}

// scopeName names the documents of a thread.
func scopeName(s state.Scope) string {
	name := line(strings.Join(s.Docs, ", "))
	if s.Collection != "" {
		name = "the collection " + line(s.Collection)
	}
	if !s.Filter.Empty() {
		name += " (filtered)"
	}
	return cmp.Or(name, "all that is indexed")
}

// threadMarkdown writes a conversation as Markdown.
func threadMarkdown(ctx context.Context, t *threads.Thread) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", line(t.Title))
	fmt.Fprintf(&b, "Thread %s, %s, %s to %s UTC\n", t.ID, count(t.Turns, "turn"),
		t.Created.UTC().Format("2006-01-02 15:04"), t.Used.UTC().Format("2006-01-02 15:04"))
	if !t.Scope.Empty() {
		fmt.Fprintf(&b, "Answered from %s\n", scopeName(t.Scope))
	}
	var files ingest.CitedFiles
	for _, m := range t.Messages {
		if m.Role == state.Human {
			fmt.Fprintf(&b, "\n## Question\n\n%s\n", strings.TrimSpace(m.Content))
			continue
		}
		fmt.Fprintf(&b, "\n## Answer\n\n%s\n", strings.TrimSpace(m.Content))
		for i, c := range m.Citations {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- [%d] %s %s\n", c.N, line(transcript.Place(c, "")), line(c.Title))
			if files.Changed(ctx, c) {
				b.WriteString("  (the document has changed since)\n")
			}
		}
		if m.Run != "" {
			fmt.Fprintf(&b, "\nRun %s\n", m.Run)
		}
	}
	if t.Summary != "" {
		fmt.Fprintf(&b, "\n## Summary of what is no longer live\n\n%s\n", strings.TrimSpace(t.Summary))
	}
	return b.String()
}
