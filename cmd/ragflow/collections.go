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

// collectionsCommand lists the collections.
func (a *app) collectionsCommand() *cobra.Command {
	c := command("collections", 0, func(*cobra.Command, []string) error {
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
			reply.Collections = append(reply.Collections, collectionReply{name, append([]string{}, s.config.Docs...)})
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
