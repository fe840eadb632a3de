package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// lastName stands for the thread or run that was used last.
const lastName = "last"

// threadsReply is the schema of "ragflow threads list --json".
type threadsReply struct {
	Threads []threads.Info `json:"threads"`
}

// threadWork is what a command below "ragflow threads" does.
type threadWork = func(ctx context.Context, log *threads.Log, args []string) error

func (a *app) threadsCommand() *cobra.Command {
	c := &cobra.Command{Use: "threads", Args: subcommands, RunE: func(c *cobra.Command, _ []string) error { return c.Help() }}
	add := func(use string, most int, do threadWork) *cobra.Command {
		sub := command(use, most, func(c *cobra.Command, args []string) error {
			return a.withAssistant(c.Context(), nil, func(assistant *ragflow.Assistant) error {
				return do(c.Context(), assistant.Threads(), args)
			})
		})
		c.AddCommand(sub)
		return sub
	}
	a.jsonFlag(add("list", 0, a.listThreads))
	a.jsonFlag(add("show ID", 1, a.showThread))
	a.jsonFlag(add("verify [ID]...", -1, a.verifyThreads))
	add("seal", 0, a.sealThreads)
	add("backup FILE", 1, a.backupThreads)

	var output, name string
	var older age
	var yes bool
	keep := 0
	add("export ID", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.exportThread(ctx, log, args[0], output)
	}).Flags().StringVarP(&output, "output", "o", "", "write to this `FILE` (default: standard output)")
	sub := add("import FILE", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.importThread(ctx, log, args[0], name)
	})
	sub.Flags().StringVar(&name, "thread", "", "import it under this `NAME`")
	a.jsonFlag(sub)
	sub = add("prune ID", 1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.pruneThread(ctx, log, args[0], keep)
	})
	sub.Flags().IntVar(&keep, "keep-last", 0, "keep the last `N` turns")
	a.jsonFlag(sub)
	sub = add("delete [ID]...", -1, func(ctx context.Context, log *threads.Log, args []string) error {
		return a.deleteThreads(ctx, log, args, time.Duration(older), yes)
	})
	sub.Flags().Var(&older, "older", "delete what was not used for this `TIME`, such as 30d or 12h")
	sub.Flags().BoolVar(&yes, "yes", false, "do not ask")
	a.jsonFlag(sub)
	sub = command("restore FILE", 1, func(c *cobra.Command, args []string) error { return a.restoreThreads(c.Context(), args[0], yes) })
	sub.Flags().BoolVar(&yes, "yes", false, "do not ask")
	c.AddCommand(sub)
	return c
}

// age is a duration as a flag; it may be in days.
type age time.Duration

func (d *age) String() string { return time.Duration(*d).String() }
func (*age) Type() string     { return "duration" }

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

// findThread returns the id of the thread that a person means by an id, a
// beginning of one, or "last".
func findThread(ctx context.Context, log *threads.Log, name string) (string, error) {
	list, err := log.All(ctx)
	if err != nil {
		return "", failed("list threads", err)
	}
	return pickThread(list, name)
}

// pickThread does what findThread says; list has the last used first. Only the
// beginning of an id finds a thread, never that of a name: a question to "user-1" must not
// go to "user-12".
func pickThread(list []threads.Info, name string) (string, error) {
	var found []string
	short := ""
	for _, t := range list {
		if t.ID == name {
			return name, nil
		}
		if len(name) >= shortestStart && idStart.MatchString(t.ID) && strings.HasPrefix(t.ID, name) {
			short = t.ID
		}
		if idStart.MatchString(name) && strings.HasPrefix(t.ID, name) {
			found = append(found, t.ID)
		}
	}
	switch {
	case name == lastName && len(list) > 0:
		return list[0].ID, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usagef("thread %q: %s begin so", name, count(len(found), "thread")).with("give more of the id; ragflow threads list shows them")
	}
	if short != "" {
		return "", usagef("thread %q: too short for the beginning of an id", name).with("give at least eight characters, such as " + short[:8])
	}
	return "", notFoundf("thread %q: not found", name).with(threadsHint)
}

// idStart is the beginning of an id as ragflow makes them, long enough to be
// no name that a person gives.
var idStart = regexp.MustCompile(`^[0-9a-f]{8}[0-9a-f-]*$`)

// shortestStart is the length from which on the beginning of an id is taken for one. It is
// refused instead of beginning a thread of that name, if it is no idStart.
const shortestStart = 5

// checkThreadName refuses a name that is too long or cannot be printed on one line.
func checkThreadName(name string) error {
	if utf8.RuneCountInString(name) > 200 {
		return failed("", ragflow.ErrThreadName)
	}
	if line(name) != name {
		return usagef("the name of a thread, %q, must be on one line and have no control characters", name)
	}
	return nil
}

// threadToAsk returns the id of the thread a question goes to, and whether it
// begins there. A name that no thread has begins one of that name: people who
// call ragflow for others name threads after them.
func threadToAsk(ctx context.Context, log *threads.Log, name string, resume bool) (id string, isNew bool, err error) {
	if err := checkThreadName(name); err != nil {
		return "", false, err
	}
	id, err = findThread(ctx, log, name)
	f, ok := errors.AsType[*failure](err)
	if ok && f.code == exitNotFound && !resume && name != lastName {
		return name, true, nil
	}
	return id, false, err
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

// unfinished reports whether the last run of a thread can be resumed.
func unfinished(t threads.Info) bool { return t.Status != "" && t.Status != string(graph.Completed) }

// threadMarkdown writes a conversation as Markdown.
func threadMarkdown(ctx context.Context, t *threads.Thread) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", line(t.Title))
	pruned := 0
	for _, m := range t.Messages {
		if m.Role == state.Human && m.Run == "" {
			pruned++
		}
	}
	turns := count(t.Turns, "turn")
	if pruned > 0 {
		turns += fmt.Sprintf(" (of %d earlier ones only question and answer are left)", pruned)
	}
	fmt.Fprintf(&b, "Thread %s, %s, %s to %s UTC\n", t.ID, turns,
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
	if unfinished(t.Info) {
		fmt.Fprintf(&b, "\nThe last run is not finished (%s). Go on with: ragflow ask --thread %s --resume\n", t.Status, quoted(t.ID))
	}
	if t.Summary != "" {
		fmt.Fprintf(&b, "\n## Summary of what is no longer live\n\n%s\n", strings.TrimSpace(t.Summary))
	}
	return b.String()
}
