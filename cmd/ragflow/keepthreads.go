package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// withThreads opens the assistant without documents for a command on threads.
func (a *app) withThreads(ctx context.Context, do func(*ragflow.Assistant) error) (err error) {
	assistant, err := a.open(ctx, nil)
	if err != nil {
		return err
	}
	defer closeInto(&err, assistant)
	return do(assistant)
}

// byteSize is a number of bytes for people.
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%.1f kB", float64(n)/1000)
	case n < 1000*1000*1000:
		return fmt.Sprintf("%.1f MB", float64(n)/(1000*1000))
	}
	return fmt.Sprintf("%.1f GB", float64(n)/(1000*1000*1000))
}

func (a *app) threadsExportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use:   "export ID",
		Short: "Write a conversation to a file that can be imported",
		Long: `Write a conversation as text, one JSON object a line: a header, one line for each
step with all that was changed and noted in it, and a checksum. Importing it
gives the same history, the same state and the same traces.`,
		Example: `  ragflow threads export last -o conversation.jsonl
  ragflow threads export last | gzip > conversation.jsonl.gz`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				id, err := findThread(c.Context(), assistant, args[0])
				if err != nil {
					return err
				}
				if file == "" || file == "-" {
					return failedOrNil("export thread "+id, assistant.Threads().Export(c.Context(), id, a.out))
				}
				return failedOrNil("export thread "+id, writeWhole(file, func(w io.Writer) error {
					return assistant.Threads().Export(c.Context(), id, w)
				}))
			})
		},
	}
	c.Flags().StringVarP(&file, "output", "o", "", "write to this `FILE` (default: standard output)")
	return c
}

func failedOrNil(what string, err error) error {
	if err == nil {
		return nil
	}
	return failed(what, err)
}

// writeWhole writes a file that is either there as a whole or as it was before.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	buffered := bufio.NewWriter(f)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (a *app) threadsImportCommand() *cobra.Command {
	var thread string
	var asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "Add a conversation that was exported",
		Long: `Add a conversation from a file that "threads export" wrote, or from standard
input with "-". The file is checked as a whole first; one that is damaged changes
nothing. The thread keeps its id, and its runs theirs; where a thread of that id
is there already, give another name with --thread.`,
		Example: `  ragflow threads import conversation.jsonl
  ragflow threads import conversation.jsonl --thread copy
  gunzip < conversation.jsonl.gz | ragflow threads import -`,
		Args: argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if line(thread) != thread {
				return usagef("the name of a thread, %q, must be on one line and have no control characters", thread)
			}
			in := a.in
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return failed("import", err)
				}
				defer func() { _ = f.Close() }() // it was only read
				in = f
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				info, err := assistant.Threads().Import(c.Context(), in, thread)
				if err != nil {
					return failed("import "+args[0], err)
				}
				return a.made("imported", info, asJSON)
			})
		},
	}
	c.Flags().StringVar(&thread, "thread", "", "import it under this `NAME`")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

// made tells of a new thread.
func (a *app) made(how string, t threads.Info, asJSON bool) error {
	if asJSON {
		return a.writeJSON(t)
	}
	fmt.Fprintln(a.out, t.ID)
	if !a.quiet {
		fmt.Fprintf(a.err, "%s: %s, %s: %s\n", how, count(t.Turns, "turn"), byteSize(t.Bytes), line(t.Title))
	}
	return nil
}

func (a *app) threadsForkCommand() *cobra.Command {
	var at string
	var asJSON bool
	c := &cobra.Command{
		Use:   "fork ID [NEW]",
		Short: "Begin a new conversation with the history of another",
		Long: `Begin a new conversation with the history and state of another, as they are, or
with --at as they were after a run (the id that "ask --json" and traces tell, or a
beginning of it) or a commit (a number, as in the table of threads.db). The two
are independent from then on. Without a name the new one gets an id, which is
printed.`,
		Example: `  ragflow threads fork last experiment
  ragflow threads fork work --at 0198f3c2 before-the-mistake`,
		Args: argsBetween(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			to := ""
			if len(args) == 2 {
				if to = args[1]; to == "" || line(to) != to || to == lastName {
					return usagef("%q cannot be the name of a thread", to)
				}
			}
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				id, err := findThread(c.Context(), assistant, args[0])
				if err != nil {
					return err
				}
				info, err := assistant.Threads().Fork(c.Context(), id, at, to)
				if err != nil {
					return failed("fork", err)
				}
				return a.made("forked", info, asJSON)
			})
		},
	}
	c.Flags().StringVar(&at, "at", "", "as it was after this `RUN` or commit")
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

func (a *app) threadsVerifyCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify [ID]...",
		Short: "Check that conversations are whole",
		Long: `Check conversations, all of them where none is named, and then the file they are
in: every step has the one before it, every text its hash, every change is
understood, each snapshot is what the steps before it give. Nothing is changed.
Exits with 1 where something is found.`,
		Example: `  ragflow threads verify
  ragflow threads verify last --json`,
		Args: argsBetween(0, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				var ids []string
				for _, name := range args {
					id, err := findThread(c.Context(), assistant, name)
					if err != nil {
						return err
					}
					ids = append(ids, id)
				}
				report, err := assistant.Threads().Verify(c.Context(), ids...)
				if err != nil {
					return failed("verify", err)
				}
				return a.printVerified(report, asJSON)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

func (a *app) printVerified(r *threads.Verified, asJSON bool) error {
	if asJSON {
		if err := a.writeJSON(r); err != nil {
			return err
		}
	} else {
		for _, f := range r.Findings {
			fmt.Fprintln(a.out, line(f.String()))
		}
		if len(r.Findings) == 0 {
			fmt.Fprintf(a.out, "ok: %s, %s\n", count(r.Threads, "thread"), count(r.Commits, "commit"))
		}
	}
	if len(r.Findings) == 0 {
		return nil
	}
	return &failure{
		code: exitFailure, err: fmt.Errorf("%s in threads.db", count(len(r.Findings), "problem")),
		hint: "keep a copy of the data folder; what is whole can be exported: ragflow threads export ID -o FILE",
	}
}
