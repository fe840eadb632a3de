package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// welcome prints, for a call without arguments, the purpose of the program and commands that fit
// this folder.
func (a *app) welcome(g *given) error {
	s, err := a.readSettings(g)
	if err != nil {
		return err
	}
	docs := ""
	if len(s.Config.Docs) == 0 {
		docs = "--docs . "
		if info, err := os.Stat("docs"); err == nil && info.IsDir() {
			docs = "--docs ./docs "
		}
	}
	fmt.Fprintln(a.out, "Ragflow answers questions from your own documents, and shows where each answer stands.")
	fmt.Fprintf(a.out, "\n%s\n", a.styleOf(a.stdout).Bold("Try"))
	fmt.Fprintf(a.out, "  ragflow ask %s\"How do I get started?\"\n", docs)
	fmt.Fprintln(a.out, "  ragflow ask --thread last \"and what comes next?\"")
	fmt.Fprintf(a.out, "  ragflow ask %s--trace -o ./output -q \"How do I get started?\"\n", docs)
	if s.Project == "" {
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
