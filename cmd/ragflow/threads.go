package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

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

func (a *app) threadsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "threads",
		Short: "List, show, copy, prune and delete conversations",
		Long: `Conversations are kept in threads.db of the data folder until you delete them.
A thread is named by its id, by a beginning of its id that no other has, or by
"last".`,
		Example: `  ragflow threads list
  ragflow threads show last
  ragflow threads export last -o conversation.jsonl
  ragflow threads verify
  ragflow ask --thread last "and how do I back it up?"`,
		Args: subcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	for _, t := range threadOperations() {
		c.AddCommand(t.command(a))
	}
	return c
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
		f := usagef("thread %q: %s begin so", name, count(len(found), "thread"))
		f.hint = "give more of the id"
		return "", f
	}
	f := notFoundf("thread %q: not found", name)
	f.hint = `"ragflow threads list" shows the threads there are`
	return "", f
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

// threadMarkdown writes a conversation as Markdown.
func threadMarkdown(ctx context.Context, t *threads.Thread) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", line(t.Title))
	fmt.Fprintf(&b, "Thread %s, %s, %s to %s UTC\n", t.ID, count(t.Turns, "turn"),
		t.Created.UTC().Format("2006-01-02 15:04"), t.Used.UTC().Format("2006-01-02 15:04"))
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
