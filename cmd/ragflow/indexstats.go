package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/state"
)

func (a *app) indexStatsCommand() *cobra.Command {
	var asJSON, files bool
	c := &cobra.Command{
		Use:   "stats [PATH]...",
		Short: "Show what the index holds",
		Long: `Show what the index holds of each folder or file that was indexed: files by their
status, passages, bytes, and when it last changed. Nothing is indexed.

A file is indexed, empty (it was read and holds no text; many pages of a site are
front matter alone, from which other pages are made), skipped (it is binary or too
large) or failed (it could not be read the last time; what was read before is still
found). With --files each file is named, with the reason why it is not indexed.`,
		Example: `  ragflow index stats
  ragflow index stats --files ./docs
  ragflow index stats --json | jq '.collections[].failed'`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			a.flags.docs = args
			assistant, err := a.open(c.Context(), func(c *ragflow.Config) {
				if len(args) == 0 {
					c.Docs = nil // all there is
				}
			})
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			stats, err := assistant.Stats(c.Context(), files)
			if err != nil {
				return failed("read the index", err)
			}
			if asJSON {
				return a.writeJSON(stats)
			}
			a.printStats(stats)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	c.Flags().BoolVar(&files, "files", false, "name each file with its status")
	return c
}

func (a *app) printStats(stats *ragflow.IndexStats) {
	if len(stats.Collections) == 0 {
		fmt.Fprintln(a.out, "nothing is indexed")
		return
	}
	s := a.styleOf(a.stdout)
	for _, c := range stats.Collections {
		fmt.Fprintln(a.out, s.bold(line(c.Root)))
		fmt.Fprintf(a.out, "  files        %d%s\n", c.Files, byStatus(c))
		fmt.Fprintf(a.out, "  passages     %d\n", c.Chunks)
		if len(c.Chunkers) > 0 {
			fmt.Fprintf(a.out, "  cut by       %s\n", cutBy(c.Chunkers))
		}
		fmt.Fprintf(a.out, "  documents    %s\n", bytesText(c.FileBytes))
		if c.Links > 0 || c.Dangling > 0 {
			fmt.Fprintf(a.out, "  links        %s\n", linksText(c))
		}
		if c.Embedder != "" {
			fmt.Fprintf(a.out, "  vectors by   %s\n", line(c.Embedder))
		}
		fmt.Fprintf(a.out, "  segments     %s\n", segments(c))
		fmt.Fprintf(a.out, "  generation   %d\n", c.Generation)
		changed := "not known"
		if c.LastChange != nil {
			changed = c.LastChange.Local().Format(time.DateTime)
		}
		fmt.Fprintf(a.out, "  last change  %s\n", changed)
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
	fmt.Fprintf(a.out, "database %s, analyzer %s\n", bytesText(stats.Bytes), stats.Analyzer)
}

// linksText tells how documents are connected.
func linksText(c ragflow.CollectionStats) string {
	parts := []string{strconv.Itoa(c.Links)}
	for _, r := range c.Relations {
		if r.Name != state.LinksTo {
			parts = append(parts, fmt.Sprintf("%d %s", r.Count, strings.ToLower(r.Name)))
		}
	}
	if c.Dangling > 0 {
		parts = append(parts, fmt.Sprintf("%d lead nowhere", c.Dangling))
	}
	return strings.Join(parts, ", ")
}

// segments tells what searches of a collection read.
func segments(c ragflow.CollectionStats) string {
	parts := []string{fmt.Sprintf("%d, %s", c.Segments, bytesText(c.SegmentBytes))}
	for _, p := range []struct {
		n    int
		what string
	}{{c.Pending, "to come"}, {c.Dead, "to go"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n, "file")+" "+p.what)
		}
	}
	return strings.Join(parts, "; ")
}

// byStatus names how many files are not simply indexed.
func byStatus(c ragflow.CollectionStats) string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Indexed, "indexed"}, {c.Bare, "with front matter or other metadata alone"}, {c.Empty - c.Bare, "empty"}, {c.Skipped, "skipped"}, {c.Failed, "failed"}} {
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
func cutBy(counts []ragflow.Count) string {
	parts := make([]string, len(counts))
	for i, c := range counts {
		parts[i] = fmt.Sprintf("%s (%s)", c.Name, count(c.Count, "file"))
	}
	return strings.Join(parts, ", ")
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	const step = 1000
	if n < step {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/step, 0
	for size >= step && unit < 3 {
		size /= step
		unit++
	}
	return fmt.Sprintf("%.1f %s", size, [...]string{"kB", "MB", "GB", "TB"}[unit])
}

func (a *app) indexVerifyCommand() *cobra.Command {
	var asJSON bool
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
		RunE: func(c *cobra.Command, _ []string) (err error) {
			p := a.newProgress()
			assistant, err := a.open(c.Context(), func(c *ragflow.Config) {
				c.Docs = nil
				c.Progress = p.report
			})
			if err != nil {
				return err
			}
			defer closeInto(&err, assistant)
			v, err := assistant.Verify(c.Context())
			p.end()
			if err != nil {
				return failed("verify the index", err)
			}
			if asJSON {
				if err := a.writeJSON(v); err != nil {
					return err
				}
			} else {
				a.printVerification(v)
			}
			if len(v.Findings) > 0 {
				return &failure{
					code: exitFailure, what: "verify the index", err: errors.New(count(len(v.Findings), "fault")),
					hint: "index.db can be deleted, it is made again from your documents",
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object instead of text")
	return c
}

func (a *app) printVerification(v *ragflow.Verification) {
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
