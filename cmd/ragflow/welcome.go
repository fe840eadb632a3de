package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// welcome is what the program says without arguments: what it is for, and commands to
// copy that fit this folder.
func (a *app) welcome(*cobra.Command, []string) error {
	s, err := a.readSettings()
	if err != nil {
		return err
	}
	docs := ""
	if len(s.config.Docs) == 0 {
		docs = "--docs . "
		if info, err := os.Stat("docs"); err == nil && info.IsDir() {
			docs = "--docs ./docs "
		}
	}
	fmt.Fprintln(a.out, "Ragflow answers questions from your own documents, and shows where each answer stands.")
	fmt.Fprintf(a.out, "\n%s\n", a.styleOf(a.stdout).bold("Try"))
	fmt.Fprintf(a.out, "  ragflow ask %s\"How do I get started?\"\n", docs)
	fmt.Fprintln(a.out, "  ragflow ask --thread last \"and what comes next?\"")
	fmt.Fprintf(a.out, "  ragflow ask %s--trace -o ./output -q \"How do I get started?\"\n", docs)
	if s.project == "" {
		fmt.Fprintf(a.out, "  ragflow init %s\n", strings.TrimSpace(docs))
	}
	fmt.Fprintln(a.out, "\n\"ragflow help\" lists all commands; \"ragflow doctor\" says how this folder stands.")
	return nil
}

// present reports whether a folder holds a file of that name.
func present(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
