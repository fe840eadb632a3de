package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/settings"
)

func (a *app) initCommand(g *given) *cobra.Command {
	c := command("init", 0, func(*cobra.Command, []string) error {
		if err := exist(g.docs()); err != nil {
			return err
		}
		path, made, err := settings.Init(a.input(g), slices.Clone(g.docs()))
		switch {
		case err != nil:
			return failed("", err)
		case !made:
			a.tell(`%s now names your documents; ask: ragflow ask "…"`, path)
			return nil
		}
		a.tell("made %s", path)
		if len(g.docs()) == 0 {
			a.tell("now name your documents in it, as: docs: [docs]")
		} else {
			a.tell(`now ask: ragflow ask "…"`)
		}
		return nil
	})
	g.add(c.Flags(), "RAGFLOW_DOCS")
	docs := c.Flags().Lookup("docs")
	docs.Usage, _, _ = strings.Cut(docs.Usage, " (default") // here there is none
	return c
}
