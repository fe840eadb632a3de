package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/cmd/ragflow/internal/screen"
)

// command makes a command. It takes at least the arguments that use names outside of brackets,
// and at most maxArgs; there is no limit if that is below zero.
func command(use string, maxArgs int, run func(*cobra.Command, []string) error) *cobra.Command {
	minArgs := len(strings.Fields(use)) - 1 - strings.Count(use, "[")
	return &cobra.Command{Use: use, RunE: run, Args: func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < minArgs:
			return usagef("%s is missing", strings.TrimPrefix(use, c.Name()+" ")).with(c.CommandPath() + " --help shows what it takes")
		case maxArgs == 0 && len(args) > 0:
			return usagef("%s takes no argument, but there is %q", c.CommandPath(), args[0])
		case maxArgs >= 0 && len(args) > maxArgs:
			return usagef("one argument too many: %q", args[maxArgs]).with("quote an argument that has spaces in it")
		}
		return nil
	}}
}

// group makes a command that only has commands below it.
func group(name string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: name, Args: subcommands, RunE: showHelp}
	c.AddCommand(below...)
	return c
}

func showHelp(c *cobra.Command, _ []string) error { return c.Help() }

// subcommands refuses words that are none of the commands below c.
func subcommands(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range c.Commands() {
		names = append(names, sub.Name())
	}
	return usagef("unknown command %q", args[0]).with("there are: " + strings.Join(names, ", "))
}

// jsonFlag adds --json to a command.
func (a *app) jsonFlag(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&a.asJSON, "json", false, "write one JSON object instead of text")
	return c
}

// closeInto closes c; its error counts if there is no other.
func closeInto(err *error, c io.Closer) {
	if closeErr := c.Close(); *err == nil {
		*err = failed("close", closeErr)
	}
}

// confirm asks before something is done that cannot be undone; if nobody can answer, it wants
// --yes. verb completes the message "nothing was …".
func (a *app) confirm(ctx context.Context, yes bool, question, verb string) error {
	if yes {
		return nil
	}
	if in, ok := a.in.(*os.File); !ok || !a.isTerm(in) {
		return usagef("this cannot be undone: confirm with --yes")
	}
	fmt.Fprintf(a.err, "%sreally? [y/N] ", question)
	answer, err := screen.Wait(ctx, func() (string, error) {
		text, _ := bufio.NewReader(io.LimitReader(a.in, 1<<10)).ReadString('\n') // the end of input is an answer too: no
		return text, nil
	})
	if err != nil {
		return err
	}
	if !isYes(answer) {
		return &failure{code: exitFailure, err: errors.New("nothing was " + verb)}
	}
	return nil
}

func isYes(answer string) bool {
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}
