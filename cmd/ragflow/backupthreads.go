package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"example.com/ragflow"
	"example.com/ragflow/checkpoint"
)

// threadsFile is the database of the conversations in a data folder.
const threadsFile = "threads.db"

func (a *app) threadsBackupCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a backup of all conversations to a new file",
		Long: `Write all conversations, as they are at one moment, to a new file. It works while
questions are being answered. Encrypted conversations stay encrypted. "threads
restore" reads the file.`,
		Example: `  ragflow threads backup threads-2026-01-31.db`,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withThreads(c.Context(), func(assistant *ragflow.Assistant) error {
				if err := assistant.Threads().Backup(c.Context(), args[0]); err != nil {
					return failed("back up the threads", err)
				}
				if !a.quiet {
					fmt.Fprintf(a.err, "backed up all threads to %s\n", args[0])
				}
				return nil
			})
		},
	}
}

func (a *app) threadsRestoreCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Replace all conversations by those of a backup",
		Long: `Replace all conversations by those of a file that "threads backup" wrote. The file
is checked first; nothing changes unless it is whole. Questions that are being
answered meanwhile are not saved. If the present database is damaged, it is set
aside under another name. On a terminal it asks first; elsewhere it needs --yes.`,
		Example: `  ragflow threads restore threads-2026-01-31.db`,
		Args:    argsBetween(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.settings()
			if err != nil {
				return err
			}
			path := filepath.Join(s.config.DataDir, threadsFile)
			if err := a.confirmRestore(c.Context(), path, yes); err != nil {
				return err
			}
			aside, err := checkpoint.Restore(c.Context(), args[0], path)
			if err != nil {
				return failed("restore the threads", err)
			}
			if !a.quiet {
				fmt.Fprintf(a.err, "restored all threads from %s\n", args[0])
			}
			if aside != "" && !a.quiet {
				fmt.Fprintf(a.err, "the damaged database is now %s\n", aside)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return c
}

// confirmRestore asks before a database is replaced.
func (a *app) confirmRestore(ctx context.Context, path string, yes bool) error {
	if _, err := os.Stat(path); yes || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if in, ok := a.in.(*os.File); !ok || !a.isTerm(in) {
		return usagef("restoring replaces all conversations: confirm with --yes")
	}
	fmt.Fprintf(a.err, "replace all conversations in %s?\nreally? [y/N] ", path)
	answer, err := readLine(ctx, a.in)
	if err != nil {
		return err
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return &failure{code: exitFailure, err: errors.New("nothing was restored")}
	}
	return nil
}
