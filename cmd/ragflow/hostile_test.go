package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/tools/txtar"
)

// TestHostileDocuments asks one document of each family of the set that package
// eval ships, and reads what every command prints as a terminal would get it.
func TestHostileDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("200 documents")
	}
	t.Parallel()
	archive, err := txtar.ParseFile("../../eval/testdata/hostile.txtar")
	if err != nil || len(archive.Files) != 200 {
		t.Fatalf("%d hostile documents: %v", len(archive.Files), err)
	}
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	valve := regexp.MustCompile(`The (\w+) valve opens`)
	env := []string{"HOME=" + dir, "RAGFLOW_DATA_DIR=" + filepath.Join(dir, "data")}
	shown := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &stdout, &stderr, env); code != exitOK {
			t.Errorf("%q exits with %d: %s", args, code, &stderr)
		}
		for _, r := range stdout.String() + stderr.String() {
			if r != '\n' && r != '\t' && r != '\u00ad' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q prints %U", args, r)
				return ""
			}
		}
		return stdout.String()
	}
	var questions []string
	for i, f := range archive.Files {
		if err := os.WriteFile(filepath.Join(docs, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		if i%10 == 2 {
			questions = append(questions, "At how many bar does the "+string(valve.FindSubmatch(f.Data)[1])+" valve open?")
		}
	}
	shown("index", docs)
	for _, q := range questions {
		shown("ask", "--thread", "t", q)
		shown("search", q)
		if got := shown("ask", "--json", "--thread", "t", q); !strings.Contains(got, `"faithfulness": 1`) {
			t.Errorf("%s: the answer is not faithful: %s", q, got)
		}
	}
	shown("search", "--json", "valve")
	shown("explain", "the \u202evalve")
	shown("threads", "show", "t")
	shown("threads", "show", "--json", "t")
	shown("threads", "list")
	shown("trace", "last", "-o", filepath.Join(dir, "trace"))
	shown("trace", "last", "--json")
}
