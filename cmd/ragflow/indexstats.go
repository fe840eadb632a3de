package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/state"
)

func (a *app) indexStatsCommand() *cobra.Command {
	var files bool
	c := &cobra.Command{
		Use:   "stats [PATH]...",
		Short: "Show what the index holds",
		Long: `Show what the index holds of each folder or file that was indexed: files by their
status, passages, sizes, and when it last changed. Nothing is indexed.

A file is indexed, empty (it holds no text, or front matter only), skipped (it is
binary or too large) or failed (it could not be read the last time; what was read
before is still found). With --files each file is named, with the reason why it is
not indexed.`,
		Example: `  ragflow index stats
  ragflow index stats --files ./docs
  ragflow index stats --json | jq '.collections[].failed'`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) error {
			a.flags.docs = args
			all := func(c *ragflow.Config) {
				if len(args) == 0 {
					c.Docs = nil // all there is
				}
			}
			return a.withAssistant(c.Context(), all, func(assistant *ragflow.Assistant) error {
				stats, err := assistant.Library().Stats(c.Context(), files)
				if err != nil {
					return failed("read the index", err)
				}
				return a.print(stats, func() { a.printStats(stats) })
			})
		},
	}
	a.jsonFlag(c)
	c.Flags().BoolVar(&files, "files", false, "name each file with its status")
	return c
}

func (a *app) printStats(stats *ingest.Stats) {
	if len(stats.Collections) == 0 {
		fmt.Fprintln(a.out, "nothing is indexed")
		return
	}
	s := a.styleOf(a.stdout)
	for _, c := range stats.Collections {
		changed := "not known"
		if c.LastChange != nil {
			changed = c.LastChange.Local().Format(time.DateTime)
		}
		fmt.Fprintln(a.out, s.bold(line(c.Root)))
		for _, row := range [][2]string{
			{"files", strconv.Itoa(c.Files) + byStatus(c)},
			{"documents", byteSize(c.FileBytes)},
			{"passages", strconv.Itoa(c.Chunks)},
			{"cut by", cutBy(c.Chunkers)},
			{"links", linksText(c)},
			{"vectors by", line(c.Embedder)},
			{"search data", searchData(c)},
			{"last change", changed},
		} {
			if row[1] != "" {
				fmt.Fprintf(a.out, "  %-11s  %s\n", row[0], row[1])
			}
		}
		for _, f := range c.FileList {
			detail := count(f.Chunks, "passage")
			if f.Cut != "" {
				detail += " by " + f.Cut
			}
			if f.Reason != "" {
				detail = line(f.Reason)
			}
			fmt.Fprintf(a.out, "  %-8s %s  %s\n", f.Status, line(f.Source), s.dim(detail))
		}
	}
	fmt.Fprintf(a.out, "database %s, analyzer %s\n", byteSize(stats.Bytes), stats.Analyzer)
}

// linksText tells how documents are connected; empty where they are not.
func linksText(c ingest.CollectionStats) string {
	if c.Links+c.Dangling == 0 {
		return ""
	}
	parts := []string{strconv.Itoa(c.Links)}
	for _, r := range c.Relations {
		if r.Name != state.LinksTo {
			parts = append(parts, fmt.Sprintf("%d %s", r.Count, strings.ToLower(r.Name)))
		}
	}
	if c.Dangling > 0 {
		parts = append(parts, fmt.Sprintf("%d to documents that are not indexed", c.Dangling))
	}
	return strings.Join(parts, ", ")
}

// searchData tells what searches of a collection read.
func searchData(c ingest.CollectionStats) string {
	text := fmt.Sprintf("%s in %s", byteSize(c.SegmentBytes), count(c.Segments, "segment"))
	if c.Pending > 0 {
		text += "; " + count(c.Pending, "file") + " to be added"
	}
	if c.Dead > 0 {
		text += "; " + count(c.Dead, "deleted file") + " to be cleared"
	}
	return text
}

// byStatus names how many files are not simply indexed.
func byStatus(c ingest.CollectionStats) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.Indexed, "indexed"},
		{c.Bare, "with front matter or other metadata alone"},
		{c.Empty - c.Bare, "empty"},
		{c.Skipped, "skipped"},
		{c.Failed, "failed"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// cutBy names how many files each chunker cut.
func cutBy(counts []ingest.Count) string {
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%s (%s)", c.Name, count(c.Count, "file"))
	}
	return strings.Join(parts, ", ")
}

func (a *app) indexVerifyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check the whole index against itself and the files",
		Long: `Check the index: the database file, its references, each passage against its
checksum and its words, the search structure against one made anew, and each
passage against the file it was cut from, where that has not changed since.
Nothing is changed. It exits with code 1 where anything is wrong.`,
		Example: `  ragflow index verify
  ragflow index verify --json`,
		Args: argsBetween(0, 0),
		RunE: func(c *cobra.Command, _ []string) error {
			p := a.newProgress()
			all := func(c *ragflow.Config) { c.Docs, c.Progress = nil, p.report }
			return a.withAssistant(c.Context(), all, func(assistant *ragflow.Assistant) error {
				v, err := assistant.Library().Verify(c.Context())
				p.end()
				if err != nil {
					return failed("verify the index", err)
				}
				if err := a.print(v, func() { a.printVerification(v) }); err != nil || len(v.Findings) == 0 {
					return err
				}
				return &failure{
					code: exitFailure, what: "verify the index", err: errors.New(count(len(v.Findings), "fault")),
					hint: "index.db can be deleted, it is made again from your documents",
				}
			})
		},
	}
	a.jsonFlag(c)
	return c
}

func (a *app) printVerification(v *ingest.Verification) {
	for _, f := range v.Findings {
		where := f.Root
		if f.Source != "" {
			where = f.Source
		}
		if where != "" {
			where += ": "
		}
		fmt.Fprintf(a.out, "%s\n", line(where+f.What))
	}
	fmt.Fprintf(a.out, "checked %s in %s; %d compared with the file", count(v.Chunks, "passage"), count(v.Files, "file"), v.Compared)
	if v.Differing > 0 {
		fmt.Fprintf(a.out, ", %d changed or gone since", v.Differing)
	}
	fmt.Fprintln(a.out)
}
