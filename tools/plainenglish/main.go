// Command plainenglish refuses habits of writing that make an engineer read a comment twice: it reads the
// comments and some names of all Go files below a folder, and its pages in Markdown, and prints each find with
// its place and with better words.
//
//	plainenglish [-skip DIRS] FOLDER
//
// Folders of -skip hold data and are not read; they are named relative to FOLDER, with commas between them.
// The exit code is 1 if there are finds.
package main

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "plainenglish:", err)
		code = 2
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("plainenglish", flag.ContinueOnError)
	skip := flags.String("skip", "", "folders of data")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	code := 0
	err := walk(flags.Arg(0), strings.Split(*skip, ","), func(name, file string) error {
		check := checkFile
		if path.Ext(name) == ".md" {
			check = checkPage
		}
		finds, err := check(file)
		for _, f := range finds {
			fmt.Fprintf(out, "%s:%d: %s — write %s\n", name, f.line, f.words, f.advice)
			code = 1
		}
		return err
	})
	return code, err
}

// walk calls do for each Go file and each page below root but those of skip, with its name relative to root.
func walk(root string, skip []string, do func(name, file string) error) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name() == "testdata" || d.Name()[0] == '.' || slices.Contains(skip, name)):
			return filepath.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		return do(name, file)
	})
}
