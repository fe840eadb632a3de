package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// expireReply is the schema of "ragflow threads expire --json".
type expireReply struct {
	DryRun  bool           `json:"dry_run"`
	Threads []threads.Info `json:"threads"`
}

func (a *app) threadsExpireCommand() *cobra.Command {
	var older time.Duration
	var dryRun, asJSON bool
	c := &cobra.Command{
		Use:   "expire --older TIME",
		Short: "Delete the conversations that nobody used for long",
		Long: `Delete the conversations in which nothing was asked for longer than --older, for
good: their content is overwritten in the file. One in which a question is being
answered stays. It does not ask; --dry-run tells first. A time is written in hours
and minutes, such as 720h for 30 days.`,
		Example: `  ragflow threads expire --older 720h --dry-run
  ragflow threads expire --older 720h`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			if older <= 0 {
				return usagef("say how long nobody used them: --older 720h")
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				return a.expire(c.Context(), assistant, older, dryRun, asJSON)
			})
		},
	}
	f := c.Flags()
	f.DurationVar(&older, "older", 0, "delete what was not used for this `TIME`, such as 720h")
	f.BoolVar(&dryRun, "dry-run", false, "only tell what would go")
	f.BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

func (a *app) expire(ctx context.Context, assistant *ragflow.Assistant, older time.Duration, dryRun, asJSON bool) error {
	gone, err := assistant.Threads().Expire(ctx, older, dryRun)
	if err != nil {
		return failed("expire threads", err)
	}
	if asJSON {
		return a.writeJSON(expireReply{dryRun, gone})
	}
	verb := "deleted"
	if dryRun {
		verb = "would delete"
	}
	for _, t := range gone {
		fmt.Fprintf(a.out, "%s %s: %s, last used %s, %s\n", verb, t.ID, count(t.Turns, "turn"), t.Used.Format(time.DateOnly), line(t.Title))
	}
	if !a.quiet {
		fmt.Fprintf(a.err, "%s %s\n", verb, count(len(gone), "thread"))
	}
	return nil
}

func (a *app) threadsSealCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "seal",
		Short: "Encrypt all conversations with the current key",
		Long: `Encrypt what conversations hold with the first key of RAGFLOW_THREAD_KEYS: what was
written before there was a key, and what is under an older one, which is then
needed no more. It works beside running questions and may be stopped and begun
again. A key is written ID:KEY; make one with
  echo "2026:$(openssl rand -base64 32)"
Keep it safe: nothing can be read without it. Names of threads, times and sizes
stay readable, and so does the index of your documents.`,
		Example: `  RAGFLOW_THREAD_KEYS="2027:… 2026:…" ragflow threads seal`,
		Args:    argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				n, err := assistant.Threads().Seal(c.Context())
				if err != nil {
					return failed("encrypt the threads", err)
				}
				if !a.quiet {
					fmt.Fprintf(a.err, "encrypted %s\n", count(n, "record"))
				}
				return nil
			})
		},
	}
}
