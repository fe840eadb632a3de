package main

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/newfile"
	"example.com/ragflow/internal/settings"
)

func (a *app) traceCommand(g *given) *cobra.Command {
	var dir string
	c := command("trace RUN", 1, func(c *cobra.Command, args []string) error {
		if a.asJSON && c.Flags().Changed("output") {
			return usagef("--json prints the run, and -o writes files: give one of them")
		}
		return a.with(c.Context(), g, opening{models: settings.NoModels}, func(opened *session) error {
			return a.trace(c.Context(), opened, args[0], dir)
		})
	})
	c.Flags().StringVarP(&dir, "output", "o", defaultTraceDir, "folder `DIR` to write to")
	a.jsonFlag(c)
	return c
}

func (a *app) trace(ctx context.Context, opened *session, run, dir string) error {
	reply, err := opened.Reply(ctx, run)
	switch {
	case err != nil:
		return failed("trace", err)
	case a.asJSON:
		return a.print(reply, nil)
	}
	return a.writeTrace(dir, reply.AnswerMD, reply.FlowTraceMD)
}

// writeTrace writes answer.md and flow_trace.md, and nothing else, into dir. A link in the place
// of such a file is replaced, not followed.
func (a *app) writeTrace(dir, answer, flow string) error {
	if err := checkOutput(dir); err != nil {
		return err
	}
	var paths []string
	for _, f := range []struct{ name, text string }{{"answer.md", answer}, {"flow_trace.md", flow}} {
		path := filepath.Join(dir, f.name)
		if err := newfile.WriteBytes(path, []byte(f.text)); err != nil {
			return failed("write the trace", err)
		}
		paths = append(paths, path)
	}
	a.tell("wrote %s and %s", paths[0], paths[1])
	return nil
}
