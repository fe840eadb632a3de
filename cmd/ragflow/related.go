package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
)

func (a *app) relatedCommand() *cobra.Command {
	var (
		hops   int
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "related PAGE",
		Short: "List the documents that are connected with one",
		Long: `List the documents that links connect with one, the nearest first: those that it
links to, those that link to it, and those that its metadata relates it to.

PAGE is the path of the document or the end of it, its title, its id or its
address on the web.`,
		Example: `  ragflow related storage/volumes.md
  ragflow related --hops 2 --docs ./docs "Back up a volume"
  ragflow related --json volumes.md | jq -r '.related[].source'`,
		Args: argsBetween(1, -1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if hops < 1 || hops > index.MostHops {
				return usagef("--hops is %d, but must be from 1 to %d", hops, index.MostHops)
			}
			assistant, err := a.openIndexed(c.Context(), nil)
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			reply, err := assistant.Related(c.Context(), strings.Join(args, " "), hops)
			if err != nil {
				return failed("", err)
			}
			if asJSON {
				return a.writeJSON(reply)
			}
			a.printRelated(reply)
			return nil
		},
	}
	a.docsFlag(c.Flags())
	a.collectionFlag(c.Flags())
	c.Flags().IntVar(&hops, "hops", 1, "follow `N` links, 1 to 3")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) printRelated(r *ragflow.RelatedReply) {
	if len(r.Related) == 0 && !a.quiet {
		fmt.Fprintf(a.err, "no document is connected with %s\n", line(r.Source))
	}
	s := a.styleOf(a.stdout)
	for _, d := range r.Related {
		how := strings.ToLower(d.Relation)
		if d.Reverse {
			how = "← " + how
		}
		if d.Via != r.Source {
			how += ", " + d.Via
		}
		fmt.Fprintf(a.out, "%s  %s  %s\n", s.bold(line(d.Source)), line(d.Title), s.dim("("+line(how)+")"))
	}
}
