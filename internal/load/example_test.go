package load_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
)

func ExampleFiles() {
	dir, err := os.MkdirTemp("", "corpus")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for name, content := range map[string]string{"guide.md": "# Guide\n\nRead me.", "logo.png": "PNG"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			fmt.Println(err)
		}
	}
	for file, err := range folder.Files(context.Background(), dir) {
		if err != nil {
			fmt.Println("left out:", filepath.Base(err.Error()))
			continue
		}
		doc, err := load.Load(context.Background(), file, load.Limits{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(doc.Source, "is called", doc.Title)
	}
	// Output:
	// guide.md is called Guide
	// left out: logo.png: no loader for this kind of file: .png
}

func ExampleChunk() {
	doc, err := load.Parse(context.Background(), "guide.md", []byte("---\ntitle: Volumes\n---\n# Volumes\n\n## Back up\n\nRun this:\n\n```sh\ndocker run …\n```\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chunk.Cut(doc, chunk.Options{}) {
		fmt.Printf("%s > %s, lines %d to %d\n%s\n", c.Title, c.Headings, c.StartLine, c.EndLine, c.Text)
	}
	// Output:
	// Volumes > [Back up], lines 4 to 12
	// # Volumes
	//
	// ## Back up
	//
	// Run this:
	//
	// ```sh
	// docker run …
	// ```
}
