package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/ragflow/cmd/ragflow/internal/chat"
	"example.com/ragflow/internal/settings"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

func (a *app) chatCommand(g *given) *cobra.Command {
	var thread string
	var agent bool
	c := command("chat", 0, func(c *cobra.Command, _ []string) error { return a.chat(c.Context(), g, thread, agent) })
	f := c.Flags()
	g.addAsk(f)
	g.add(f, "MCP_SERVERS")
	f.BoolVar(&agent, "agent", false, "let the model search as often as it likes before each answer")
	f.StringVar(&thread, "thread", "", "conversation `ID` to go on with, or to begin: an id, a name, or last")
	return c
}

func (a *app) chat(ctx context.Context, g *given, name string, agent bool) error {
	with, err := a.converse(ctx, g, name, false)
	if err != nil {
		return err
	}
	err = a.with(ctx, with.given, opening{sync: true, tools: agent, change: with.configure}, func(opened *session) (err error) {
		if err := needsModel(opened.settings, "--agent", agent); err != nil {
			return err
		}
		if opened.ReadOnly() {
			return errReadOnly("begin the session")
		}
		config := a.chatConfig(opened)
		config.Agent, config.Filter, config.Size, config.Indexed = agent, with.scope.Filter, nil, opened.report
		if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) && a.terminal(a.stdout) {
			if config.Terminal, err = chat.OpenTerminal(filepath.Join(opened.settings.Config.DataDir, settings.ChatHistory)); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, config.Terminal.Close()) }()
			config.Interrupts = a.ending.sessionInterrupts()
		}
		config.Threads = opened.Threads()
		config.Undo = func(ctx context.Context, thread string) (string, error) {
			return takeBack(ctx, opened.Threads(), thread)
		}
		config.Thread = with.thread
		return chat.Run(ctx, config)
	})
	if ctx.Err() != nil {
		return ctx.Err() // see interrupted
	}
	return err
}

// chatConfig is what ask and chat have in common.
func (a *app) chatConfig(opened *session) chat.Config {
	return chat.Config{
		Assistant: opened, In: a.in, Out: a.stdout, Err: a.err, Quiet: a.quiet, Running: a.ending.running,
		Style: a.styleOf(a.stdout), Quote: quoted, Pick: pickThread,
		Size: func() (columns, rows int) {
			columns, rows, _ = a.size(a.stdout)
			return columns, rows
		},
		Models: opened.settings.Models.Describe(),
		Explain: func(err error) (what, hint string) {
			if f, ok := errors.AsType[*failure](failed("", err)); ok {
				return f.Error(), f.hint
			}
			return err.Error(), ""
		},
	}
}

// takeBack undoes the last turn of a thread and returns its question.
func takeBack(ctx context.Context, log *threads.Log, thread string) (string, error) {
	t, err := log.Thread(ctx, thread)
	if err != nil {
		return "", err
	}
	question := ""
	for _, m := range t.Messages {
		if m.Role == state.Human {
			question = m.Content
		}
	}
	return question, log.Undo(ctx, thread)
}
