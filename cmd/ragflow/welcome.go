package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// welcome is what the program says without arguments: what it is for, how this
// folder stands, and commands to copy.
func (a *app) welcome(c *cobra.Command, _ []string) error {
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
	indexed, threads := present(s.config.DataDir, "index.db"), s.config.ThreadStore != nil || present(s.config.DataDir, "threads.db")
	fmt.Fprintf(a.out, "  index:   %s\n  threads: %s\n", either(indexed, "there", "none yet"), either(threads, a.howMany(c, threads), "none yet"))

	docs := ""
	if len(s.config.Docs) == 0 {
		docs = "--docs " + exampleDocs() + " "
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

// howMany counts the threads, where that can be found out.
func (a *app) howMany(c *cobra.Command, there bool) (text string) {
	text = "cannot be read"
	if !there {
		return text
	}
	assistant, err := a.open(c.Context(), nil)
	if err != nil {
		return text + ": " + line(err.Error())
	}
	defer func() {
		if err := assistant.Close(); err != nil {
			text += ", " + line(err.Error())
		}
	}()
	list, err := assistant.Threads().List(c.Context())
	if err != nil {
		return text + ": " + line(err.Error())
	}
	return strconv.Itoa(len(list))
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

func present(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// exampleDocs is a folder to ask that exists here.
func exampleDocs() string {
	if info, err := os.Stat("docs"); err == nil && info.IsDir() {
		return "./docs"
	}
	return "."
}
