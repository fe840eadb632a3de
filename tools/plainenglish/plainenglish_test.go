package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRules checks each rule with sentences that it refuses and sentences that it leaves alone.
func TestRules(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"It is nil where there is none.", "where there"},
		{"Progress is saved, also where Embed fails.", "also where Embed"},
		{"Where the server has no transactions, the first one is there.", "Where the server"},
		{"It fails where fault says so.", "where fault"},
		{"It is asked only where a model is configured.", "only where a model"},
		{"find returns where the file lies.", ""},
		{"where pages begin", ""},
		{"The run continues where it stopped.", ""},
		{"dir is the folder where threads are kept.", ""},
		{"It cites [Source N], where N counts sources from 1.", ""},
		{"Where does it stand?", ""},
		{"It says what failed and where.", ""},
		{"It is a list. What is saved stays.", "What is saved"},
		{"A link is replaced; what it leads to is not written.", "; what it leads"},
		{"It reports what was saved.", ""},
		{"What does it cost?", ""},
		{"complain tells of an error.", "tells of"},
		{"A model is told of both names.", "told of"},
		{"A language is told by its letters.", "is told by"},
		{"Support tells how a source stands to a sentence.", "Support tells how"},
		{"The model is told the results.", ""},
		{"The writer goes on while others wait.", "goes on"},
		{"Chunks that went since are left out.", "that went since"},
		{"Output goes to standard error; nothing went wrong.", ""},
		{"It is left out at last.", "at last."},
		{"Two sets of which one is empty.", "of which one"},
		{"Two nodes, each of which waits.", ""},
		{"The index is built anew.", "anew"},
		{"Whoever asks gets the same.", "Whoever"},
		{"Prompts of one's own replace these.", "one's own"},
		{"A follow-up lends words.", "lends"},
		{"TestGaps holds that gaps are marked.", "TestGaps holds that"},
		{`The words "tell of" stand in quotes, as do "where there is" some.`, ""},
	} {
		got := checkText([]line{{1, tt.text}})
		if tt.want == "" && len(got) > 0 || tt.want != "" && (len(got) != 1 || !strings.Contains(got[0].words, tt.want)) {
			t.Errorf("%q: got %v, want %q", tt.text, got, tt.want)
		}
	}
}

// TestRun checks a folder: lines of finds, paragraphs, directives, names, pages, and folders of data.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": `package a

// longestLine is a limit: files with longer lines are left out, also
// where it is configured.
//
//	where there is code, nothing counts
const longestLine = 3

//nolint:where // there is an order
type T struct{ own int /* told of */ }

func Example() {
	// Output:
	// at last
}
`,
		"a/testdata/b.go": "package b // at last\n",
		"b/b.go":          "package b // at last\n",
		"c/page.md":       "It is saved\nat last.\n```\nat last\n```\n",
		"data/d.md":       "at last",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	code, err := run([]string{"-skip", "b,data", dir}, &out)
	want := `a/a.go:4: out, also where it is — write "if" or "when": "where" is for places
a/a.go:7: longestLine — write maxX or minX
a/a.go:10: told of — write "report", "list", "mention"
a/a.go:10: own — write custom
c/page.md:2: is saved at last. — write "finally", "last"
`
	if err != nil || code != 1 || out.String() != want {
		t.Errorf("got code %d, %v:\n%swant:\n%s", code, err, out.String(), want)
	}
	out.Reset()
	if code, err := run([]string{"-skip=a,b,c,data", dir}, &out); code != 0 || err != nil {
		t.Errorf("all skipped: got code %d, %v:\n%s", code, err, out.String())
	}
}
