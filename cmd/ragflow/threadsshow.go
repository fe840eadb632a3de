package main

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

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
