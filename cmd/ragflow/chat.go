package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/chat"
	"example.com/ragflow/state"
)

// chatHistory is the file of the data folder that keeps what was typed.
const chatHistory = "chat_history"

func (a *app) chatCommand() *cobra.Command {
	var thread string
	var agent bool
	c := command("chat", 0, func(c *cobra.Command, _ []string) error { return a.chat(c.Context(), thread, agent) })
	f := c.Flags()
	a.askFlags(f)
	f.BoolVar(&agent, "agent", false, "let the model search as often as it likes before each answer")
	f.StringVar(&thread, "thread", "", "conversation `ID` to go on with, or to begin: an id, a name, or last")
	return c
}

func (a *app) chat(ctx context.Context, name string, agent bool) (err error) {
	with, err := a.converse(ctx, name, false)
	if err != nil {
		return err
	}
	assistant, report, err := a.openReport(ctx, with.configure)
	if err != nil {
		return failed("begin the session", err)
	}
	defer closeInto(&err, assistant)
	if err := a.needsModel("--agent", agent); err != nil {
		return err
	}
	if assistant.ReadOnly() {
		return a.readOnly("begin the session")
	}
	config := a.chatConfig(assistant)
	config.Agent, config.Filter, config.Size, config.Indexed = agent, with.scope.Filter, nil, report
	if in, ok := a.in.(*os.File); ok && term.IsTerminal(int(in.Fd())) && a.terminal(a.stdout) {
		if config.Terminal, err = chat.OpenTerminal(filepath.Join(a.opened.config.DataDir, chatHistory)); err != nil {
			return failed("begin the session", err)
		}
		defer func() { err = errors.Join(err, config.Terminal.Close()) }()
		config.Interrupts = a.ending.sessionInterrupts()
	}
	config.Threads = assistant.Threads()
	config.Undo = func(ctx context.Context, thread string) (string, error) { return takeBack(ctx, assistant, thread) }
	config.Thread = with.thread
	err = chat.Run(ctx, config)
	if ctx.Err() != nil {
		return ctx.Err() // what it means stands in failure.go
	}
	return err
}

// chatConfig is what all conversations at the terminal have in common.
func (a *app) chatConfig(assistant *ragflow.Assistant) chat.Config {
	return chat.Config{
		Assistant: assistant, In: a.in, Out: a.stdout, Err: a.err, Quiet: a.quiet, Running: a.ending.running,
		Style: a.styleOf(a.stdout).on, Quote: quoted, Pick: pickThread,
		Size: func() (columns, rows int) {
			columns, rows, _ = a.size(a.stdout)
			return columns, rows
		},
		Models: func(context.Context) []string {
			s, err := a.settings()
			if err != nil {
				return []string{err.Error()}
			}
			return s.models.Describe()
		},
		Explain: func(err error) (what, hint string) {
			if f, ok := errors.AsType[*failure](failed("", err)); ok {
				return f.Error(), f.hint
			}
			return err.Error(), ""
		},
	}
}

// takeBack undoes the last turn of a thread and returns its question.
func takeBack(ctx context.Context, assistant *ragflow.Assistant, thread string) (string, error) {
	t, err := assistant.Threads().Thread(ctx, thread)
	if err != nil {
		return "", err
	}
	question := ""
	for _, m := range t.Messages {
		if m.Role == state.Human {
			question = m.Content
		}
	}
	return question, assistant.Threads().Undo(ctx, thread)
}
