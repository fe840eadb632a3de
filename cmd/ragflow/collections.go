package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
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
	Stats    *ingest.Stats     `json:"stats"`
}

func (a *app) collectionsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:  "collections",
		Args: subcommands,
		RunE: func(c *cobra.Command, _ []string) error { return a.listCollections(c.Context()) },
	}
	a.jsonFlag(c)
	c.AddCommand(a.collectionsDeleteCommand())
	return c
}

func (a *app) listCollections(ctx context.Context) error {
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
		one, err := a.describeCollection(ctx, name)
		if err != nil {
			return err
		}
		reply.Collections = append(reply.Collections, *one)
	}
	return a.print(reply, func() {
		if len(names) == 0 {
			a.tell("there are no collections; make one: ragflow index --collection NAME ./docs")
		}
		for _, one := range reply.Collections {
			files, passages := 0, 0
			for _, s := range one.Stats.Collections {
				files += s.Files
				passages += s.Chunks
			}
			fmt.Fprintf(a.out, "%s: %s in %s, %s\n", one.Name, count(passages, "passage"), count(files, "file"), line(strings.Join(one.Docs, ", ")))
			for _, key := range slices.Sorted(maps.Keys(one.Settings)) {
				fmt.Fprintf(a.out, "  %s: %s\n", key, line(one.Settings[key]))
			}
		}
	})
}

func (a *app) collectionsDeleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:  "delete NAME",
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			a.flags.collection = args[0]
			s, err := a.settings()
			if err != nil {
				return err
			}
			if err := a.confirm(c.Context(), yes, "delete the collection "+line(args[0])+" with its index\n", "deleted"); err != nil {
				return err
			}
			if err := ingest.DropCollection(s.config.DataDir, args[0]); err != nil {
				return failed("delete the collection", err)
			}
			fmt.Fprintf(a.out, "deleted the collection %s\n", args[0])
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// describeCollection reads what is noted of a collection, and what its index
// holds.
func (a *app) describeCollection(ctx context.Context, name string) (one *collectionReply, err error) {
	a.flags.collection = name
	s, err := a.settings()
	if err != nil {
		return nil, err
	}
	one = &collectionReply{Name: name, Docs: append([]string{}, s.config.Docs...), Settings: map[string]string{}}
	for _, row := range s.rows {
		if row.own && row.Name != "RAGFLOW_DOCS" && strings.HasPrefix(row.Source, "collection ") {
			one.Settings[row.Key] = strings.Join(row.Values, ", ")
		}
	}
	assistant, err := ragflow.Open(ctx, ragflow.Config{DataDir: s.config.DataDir, Collection: name, ForgetThreads: true})
	if err != nil {
		return nil, failed("open the collection "+name, err)
	}
	defer closeInto(&err, assistant)
	one.Stats, err = assistant.Library().Stats(ctx, false)
	return one, err
}
