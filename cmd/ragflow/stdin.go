package main

import (
	"context"
	"fmt"
	"slices"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

const (
	// stdinDocs stands for standard input among the documents. A file of that name
	// is ./-
	stdinDocs = "-"
	// stdinName is what citations call it. It is read as Markdown, which plain text
	// is too.
	stdinName = "stdin.md"
	// largestStdin is how many bytes of documents are read from it, as of a file.
	largestStdin = 64 << 20
)

// takeStdin reads standard input where it is one of the documents. It is kept
// for this run only.
func (a *app) takeStdin(ctx context.Context, c *ragflow.Config) error {
	if !slices.Contains(c.Docs, stdinDocs) {
		return nil
	}
	c.Docs = slices.DeleteFunc(slices.Clone(c.Docs), func(p string) bool { return p == stdinDocs })
	text, err := readAll(ctx, a.in, largestStdin+1)
	switch {
	case err != nil:
		return failed("read documents from standard input", err)
	case len(text) > largestStdin:
		return &failure{
			code: exitFailure, what: "read documents from standard input",
			err: fmt.Errorf("more than %d bytes", largestStdin), hint: "save them in files, and name their folder",
		}
	case text == "":
		return usagef("no documents on standard input")
	}
	c.Given = append(c.Given, ingest.Given{Name: stdinName, Data: []byte(text)})
	return nil
}
