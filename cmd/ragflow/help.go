package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts holds what --help says of each command, in a file of the command's name: a
// line for the list of commands, an empty line, the description, and behind a line
// "Examples:" the examples.
//
//go:embed help
var helpTexts embed.FS

// checkHelp makes help for a word that is no command an error, as the word is without it.
func (a *app) checkHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	show := root.HelpFunc()
	unknown := func(c *cobra.Command, args []string) error {
		if len(args) == 0 || !c.HasSubCommands() {
			return nil
		}
		return c.Args(c, args)
	}
	root.SetHelpFunc(func(c *cobra.Command, all []string) {
		if a.badHelp = unknown(c, c.Flags().Args()); a.badHelp == nil {
			show(c, all)
		}
	})
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.RunE = func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err == nil {
				err = unknown(c, rest)
			}
			if err == nil {
				err = c.Help()
			}
			return err
		}
	}
}

// describe gives every command of a tree its help.
func describe(c *cobra.Command) {
	path := strings.TrimPrefix(c.CommandPath(), "ragflow ")
	// Hidden commands, and those that cobra adds, have no file.
	if data, err := helpTexts.ReadFile("help/" + strings.ReplaceAll(path, " ", "-") + ".txt"); err == nil {
		text, examples, _ := strings.Cut(string(data), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(text, "\n\n")
		c.Short, c.Long, c.Example = strings.TrimSpace(c.Short), strings.TrimSpace(c.Long), strings.TrimRight(examples, "\n")
	}
	for _, sub := range c.Commands() {
		describe(sub)
	}
}
