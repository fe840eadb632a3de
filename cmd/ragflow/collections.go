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

// collectionsReply is the schema of "ragflow index collections list --json".
type collectionsReply struct {
	Collections []collectionReply `json:"collections"`
}

// collectionReply is one collection, and the schema of "ragflow index collections
// show --json".
type collectionReply struct {
	Name     string            `json:"name"`
	Docs     []string          `json:"docs"`     // its files and folders
	Settings map[string]string `json:"settings"` // of its own, by their keys in a configuration file
	Stats    *ingest.Stats     `json:"stats"`
}

func (a *app) collectionsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "collections",
		Short: "List, show and delete named collections",
		Long: `A collection is a named set of folders with an index of its own: with its own
chunker and its own embedding model, so that several may stand side by side.

"ragflow index --collection NAME PATH..." makes one, and adds folders to it. What
is configured then of chunking and embedding is noted with it and counts from
then on for "ask", "chat" and "search" with --collection NAME, whatever is
configured elsewhere. Its embedding model is changed by "ragflow index
--rebuild --collection NAME". Conversations belong to no collection.`,
		Example: `  EMBEDDING_MODEL=nomic-embed-text ragflow index --collection handbook ./handbook
  ragflow ask --collection handbook "How many days of leave do I have?"
  ragflow index collections list
  ragflow index collections delete handbook`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.collectionsListCommand(), a.collectionsShowCommand(), a.collectionsDeleteCommand())
	return c
}

func (a *app) collectionsListCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the collections",
		Example: `  ragflow index collections list --json | jq -r '.collections[].name'`,
		Args:    argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
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
				one, err := a.describeCollection(c.Context(), name, false)
				if err != nil {
					return err
				}
				reply.Collections = append(reply.Collections, *one)
			}
			return a.print(reply, func() {
				if len(names) == 0 {
					fmt.Fprintln(a.out, "there are no collections")
				}
				for _, one := range reply.Collections {
					files, passages := 0, 0
					for _, s := range one.Stats.Collections {
						files += s.Files
						passages += s.Chunks
					}
					fmt.Fprintf(a.out, "%s: %s in %s, %s\n", one.Name, count(passages, "passage"), count(files, "file"), line(strings.Join(one.Docs, ", ")))
				}
			})
		},
	}
	a.jsonFlag(c)
	return c
}

func (a *app) collectionsShowCommand() *cobra.Command {
	var files bool
	c := &cobra.Command{
		Use:     "show NAME",
		Short:   "Show a collection: its settings, its folders and what its index holds",
		Example: `  ragflow index collections show handbook`,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			one, err := a.describeCollection(c.Context(), args[0], files)
			if err != nil {
				return err
			}
			return a.print(one, func() {
				for _, key := range slices.Sorted(maps.Keys(one.Settings)) {
					fmt.Fprintf(a.out, "%s: %s\n", key, line(one.Settings[key]))
				}
				a.printStats(one.Stats)
			})
		},
	}
	a.jsonFlag(c)
	c.Flags().BoolVar(&files, "files", false, "name each file with its status")
	return c
}

func (a *app) collectionsDeleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete a collection with its index; documents and conversations stay",
		Long: `Delete a collection with its index. Documents and conversations stay. On a terminal
it asks first; elsewhere it needs --yes.`,
		Example: `  ragflow index collections delete handbook`,
		Args:    argsBetween(1, 1),
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
func (a *app) describeCollection(ctx context.Context, name string, files bool) (one *collectionReply, err error) {
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
	one.Stats, err = assistant.Library().Stats(ctx, files)
	return one, err
}
