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

// describe gives every command of a tree its help.
func describe(c *cobra.Command) {
	path := strings.TrimPrefix(c.CommandPath(), "ragflow ")
	// Hidden commands, and those that cobra adds, have no file.
	if data, err := helpTexts.ReadFile("help/" + strings.ReplaceAll(path, " ", "-") + ".txt"); err == nil {
		text, examples, _ := strings.Cut(string(data), "\nExamples:\n")
		c.Short, c.Long, _ = strings.Cut(text, "\n\n")
		c.Long, c.Example = strings.TrimSpace(c.Long), strings.TrimRight(examples, "\n")
	}
	for _, sub := range c.Commands() {
		describe(sub)
	}
}
