package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
)

// configReply is the schema of "ragflow config --json".
type configReply struct {
	Project  string       `json:"project"`     // folder that holds .ragflow; empty outside of projects
	File     string       `json:"config_file"` // that was read; empty without
	Settings []settingRow `json:"settings"`
}

func (a *app) configCommand() *cobra.Command {
	var all bool
	c := command("config", 0, func(*cobra.Command, []string) error {
		s, err := a.readSettings()
		if err != nil {
			return err
		}
		s.inForce()
		return a.print(configReply{s.project, s.file, s.rows}, func() { a.printSettings(s, all) })
	})
	a.jsonFlag(c)
	a.collectionFlag(c.Flags())
	a.textFlag(c.Flags(), "RETRIEVAL_PRESET", "preset", "show what preset `NAME` sets: "+strings.Join(ragflow.PresetNames(), ", "))
	c.Flags().BoolVar(&all, "all", false, "show every setting; otherwise the usual ones, and those that are set")
	return c
}

func (a *app) printSettings(s *settings, all bool) {
	dim := a.styleOf(a.stdout).dim
	rows := [][]string{{"SETTING", "KEY", "VALUE", "SOURCE"}}
	for _, r := range s.rows {
		if all || r.first || r.Source != "default" {
			rows = append(rows, []string{r.Name, r.Key, orNone(strings.Join(r.Values, ", ")), r.Source})
		}
	}
	a.table(rows...)
	fmt.Fprintln(a.out)
	if !all {
		fmt.Fprintln(a.out, dim("ragflow config --all shows every setting"))
	}
	fmt.Fprintln(a.out, dim("project: "+orNone(s.project)))
	fmt.Fprintln(a.out, dim("configuration file: "+orNone(s.file)))
}
