package main

import (
	"fmt"
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
	Name string   `json:"name"`
	Docs []string `json:"docs"` // its files and folders
}

func (a *app) indexCollectionsCommand(g *given) *cobra.Command {
	c := command("collections", 0, func(*cobra.Command, []string) error {
		in := a.input(g)
		s, err := a.trusted(in)
		if err != nil {
			return err
		}
		names, err := ingest.Collections(s.Config.DataDir)
		if err != nil {
			return failed("list collections", err)
		}
		reply := collectionsReply{Collections: []collectionReply{}}
		for _, name := range names {
			in.Collection = name
			if s, err = a.trusted(in); err != nil {
				return err
			}
			reply.Collections = append(reply.Collections, collectionReply{name, append([]string{}, s.Config.Docs...)})
		}
		return a.print(reply, func() {
			if len(names) == 0 {
				a.tell("there are no collections; make one: ragflow index --collection NAME ./docs")
			}
			for _, one := range reply.Collections {
				fmt.Fprintf(a.out, "%s: %s\n", one.Name, line(strings.Join(one.Docs, ", ")))
			}
		})
	})
	a.jsonFlag(c)
	return c
}
