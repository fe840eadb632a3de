package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/prompts"
)

const promptExt = ".tmpl"

func (a *app) modelsPromptsCommand(g *given) *cobra.Command {
	list := func(*cobra.Command, []string) error { return a.listPrompts(g) }
	c := &cobra.Command{Use: "prompts", Args: subcommands, RunE: list}
	c.AddCommand(
		command("list", 0, list),
		command("show NAME", 1, func(_ *cobra.Command, args []string) error { return a.showPrompt(args[0]) }),
		command("export DIR", 1, func(_ *cobra.Command, args []string) error { return a.exportPrompts(args[0]) }),
	)
	return c
}

// listPrompts lists the prompts, and where each comes from.
func (a *app) listPrompts(g *given) error {
	s, err := a.trusted(a.input(g))
	if err != nil {
		return err
	}
	custom, err := s.Config.ReadPrompts()
	if err != nil {
		return failed("", err)
	}
	names, err := fs.Glob(prompts.BuiltIn(), "*")
	var rows [][]string
	for _, f := range names {
		from := "built in"
		if custom.Has(f) {
			from = line(filepath.Join(s.Config.Prompts, f))
		}
		rows = append(rows, []string{strings.TrimSuffix(f, promptExt), from})
	}
	a.table(rows...)
	return err
}

// showPrompt prints a built-in prompt.
func (a *app) showPrompt(name string) error {
	text, err := fs.ReadFile(prompts.BuiltIn(), strings.TrimSuffix(name, promptExt)+promptExt)
	if err != nil {
		return usagef("there is no prompt %q", name).with("ragflow models prompts lists them")
	}
	fmt.Fprint(a.out, string(text))
	return nil
}

// exportPrompts writes the built-in prompts into a folder. No file is overwritten.
func (a *app) exportPrompts(dir string) error {
	if err := checkOutput(dir); err != nil {
		return err
	}
	if err := os.CopyFS(dir, prompts.BuiltIn()); err != nil {
		return failed("export the prompts", err)
	}
	a.tell("wrote the prompts to %s; keep those that you change, and name the folder with RAGFLOW_PROMPTS", dir)
	return nil
}
