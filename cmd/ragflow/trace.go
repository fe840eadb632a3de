package main

import (
	"context"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

func (a *app) traceCommand() *cobra.Command {
	var dir string
	c := command("trace RUN", 1, func(c *cobra.Command, args []string) error {
		if a.asJSON && c.Flags().Changed("output") {
			return usagef("--json prints the run, and -o writes files: give one of them")
		}
		return a.withAssistant(c.Context(), nil, func(assistant *ragflow.Assistant) error {
			return a.trace(c.Context(), assistant, args[0], dir)
		})
	})
	c.Flags().StringVarP(&dir, "output", "o", defaultTraceDir, "folder `DIR` to write to")
	a.jsonFlag(c)
	return c
}

func (a *app) trace(ctx context.Context, assistant *ragflow.Assistant, run, dir string) error {
	reply, err := assistant.Reply(ctx, run)
	switch {
	case err != nil:
		return failed("trace", err)
	case a.asJSON:
		return a.print(reply, nil)
	}
	return a.writeTrace(dir, reply.AnswerMD, reply.FlowTraceMD)
}
