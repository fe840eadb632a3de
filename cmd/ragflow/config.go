package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/internal/settings"
)

// configReply is the schema of "ragflow config --json".
type configReply struct {
	Project  string         `json:"project"`     // folder that holds .ragflow; empty outside of projects
	File     string         `json:"config_file"` // that was read; empty without
	Settings []settings.Row `json:"settings"`
}

func (a *app) configCommand(g *given) *cobra.Command {
	var all bool
	c := command("config", 0, func(*cobra.Command, []string) error {
		s, err := a.readSettings(g)
		if err != nil {
			return err
		}
		s.ShowInForce()
		return a.print(configReply{s.Project, s.File, s.Rows}, func() { a.printSettings(s, all) })
	})
	a.jsonFlag(c)
	g.addCollection(c.Flags())
	g.add(c.Flags(), "RETRIEVAL_PRESET")
	c.Flags().BoolVar(&all, "all", false, "show every setting; otherwise the usual ones, and those that are set")
	return c
}

func (a *app) printSettings(s *settings.Settings, all bool) {
	dim := a.styleOf(a.stdout).Dim
	rows := [][]string{{"SETTING", "KEY", "VALUE", "SOURCE"}}
	for _, r := range s.Rows {
		if all || r.FirstPage || r.Set() {
			rows = append(rows, []string{r.Name, r.Key, orNone(strings.Join(r.Values, ", ")), r.Source})
		}
	}
	a.table(rows...)
	fmt.Fprintln(a.out)
	if !all {
		fmt.Fprintln(a.out, dim("ragflow config --all shows every setting"))
	}
	fmt.Fprintln(a.out, dim("project: "+orNone(s.Project)))
	fmt.Fprintln(a.out, dim("configuration file: "+orNone(s.File)))
}
