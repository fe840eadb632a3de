package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow/ingest"
)

// collectionsReply is the schema of "ragflow index collections --json".
type collectionsReply struct {
	Collections []collectionReply `json:"collections"`
}

// collectionReply is one collection.
type collectionReply struct {
	Name     string            `json:"name"`
	Docs     []string          `json:"docs"`     // its files and folders
	Settings map[string]string `json:"settings"` // of its own, by their keys in a configuration file
}

// collectionsCommand shows what is noted of each collection.
func (a *app) collectionsCommand() *cobra.Command {
	c := &cobra.Command{Use: "collections", Args: subcommands, RunE: func(*cobra.Command, []string) error {
		s, err := a.settings()
		if err != nil {
			return err
		}
		names, err := ingest.Collections(s.config.DataDir)
		if err != nil {
			return failed("list collections", err)
		}
		reply := collectionsReply{Collections: []collectionReply{}}
		for _, name := range names {
			a.flags.collection = name
			if s, err = a.settings(); err != nil {
				return err
			}
			one := collectionReply{Name: name, Docs: append([]string{}, s.config.Docs...), Settings: map[string]string{}}
			for _, row := range s.rows {
				if row.own && row.Name != "RAGFLOW_DOCS" && strings.HasPrefix(row.Source, "collection ") {
					one.Settings[row.Key] = strings.Join(row.Values, ", ")
				}
			}
			reply.Collections = append(reply.Collections, one)
		}
		return a.print(reply, func() {
			if len(names) == 0 {
				a.tell("there are no collections; make one: ragflow index --collection NAME ./docs")
			}
			for _, one := range reply.Collections {
				fmt.Fprintf(a.out, "%s: %s\n", one.Name, line(strings.Join(one.Docs, ", ")))
				for _, key := range slices.Sorted(maps.Keys(one.Settings)) {
					fmt.Fprintf(a.out, "  %s: %s\n", key, line(one.Settings[key]))
				}
			}
		})
	}}
	a.jsonFlag(c)
	return c
}
