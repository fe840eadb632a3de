package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

// helpTexts holds the help of each command in a file of its name: a line for the list of
// commands, an empty line, the description, and after a line "Examples:" the examples.
//
//go:embed help
var helpTexts embed.FS

// checkHelp makes help for an unknown command an error, which cobra has no place for: it is
// returned by the function that checkHelp returns.
func checkHelp(root *cobra.Command) func() error {
	var helpError error
	root.InitDefaultHelpCmd()
	show := root.HelpFunc()
	unknown := func(c *cobra.Command, args []string) error {
		if len(args) == 0 || !c.HasSubCommands() {
			return nil
		}
		return c.Args(c, args)
	}
	root.SetHelpFunc(func(c *cobra.Command, all []string) {
		if helpError = unknown(c, c.Flags().Args()); helpError == nil {
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
	return func() error { return helpError }
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
