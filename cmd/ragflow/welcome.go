package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// welcome is what the program says without arguments: what it is for, how this
// folder stands, and commands to copy.
func (a *app) welcome(*cobra.Command, []string) error {
	s, err := a.readSettings()
	if err != nil {
		return err
	}
	bold := a.styleOf(a.stdout).bold
	fmt.Fprintln(a.out, "Ragflow answers questions from your own documents, and shows where each answer stands.")
	fmt.Fprintf(a.out, "\n%s\n", bold("Here"))
	project := "this folder is no project yet; threads and index live in your data folder"
	if s.project != "" {
		project = "project " + s.project
	}
	fmt.Fprintln(a.out, "  "+project)
	for _, d := range s.config.Docs {
		fmt.Fprintln(a.out, "  documents "+d)
	}
	there := map[bool]string{true: "there", false: "none yet"}
	fmt.Fprintf(a.out, "  index:   %s\n  threads: %s\n", there[present(s.config.DataDir, "index.db")], there[s.config.ThreadStore != nil || present(s.config.DataDir, threadsFile)])

	docs := ""
	if len(s.config.Docs) == 0 {
		docs = "--docs . "
		if info, err := os.Stat("docs"); err == nil && info.IsDir() {
			docs = "--docs ./docs "
		}
	}
	fmt.Fprintf(a.out, "\n%s\n", bold("Try"))
	fmt.Fprintf(a.out, "  ragflow ask %s\"How do I get started?\"\n", docs)
	fmt.Fprintln(a.out, "  ragflow ask --thread last \"and what comes next?\"")
	fmt.Fprintf(a.out, "  ragflow ask %s--trace -o ./output -q \"How do I get started?\"\n", docs)
	if s.project == "" {
		fmt.Fprintf(a.out, "  ragflow init %s\n", strings.TrimSpace(docs))
	}
	fmt.Fprintln(a.out, "\n\"ragflow help\" lists all commands.")
	return nil
}

// present reports whether a folder holds a file of that name.
func present(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
