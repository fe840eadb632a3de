package source_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/server/internal/source"
)

// shelf is an assistant over a folder of documents, and a reader of them.
type shelf struct {
	*source.Reader

	ctx  context.Context //nolint:containedctx // of all requests of a test: those of this machine
	a    *ragflow.Assistant
	docs door.Documents
	dir  string
	root string
}

// open indexes files, whose names in the folder are the keys.
func open(t *testing.T, files map[string]string) shelf {
	t.Helper()
	dir := t.TempDir()
	s := shelf{dir: filepath.Join(dir, "docs")}
	for name, text := range files {
		s.write(t, name, text)
	}
	var err error
	if s.a, err = ragflow.Open(t.Context(), ragflow.Config{DataDir: filepath.Join(dir, "data"), Docs: []string{s.dir}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.a.Close() })
	s.docs = door.Documents{Assistant: s.a}
	s.Reader = source.New(s.docs)
	s.ctx = door.With(t.Context(), &door.Principal{Local: true})
	l, err := s.docs.Library(s.ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Ready(s.ctx); err != nil {
		t.Fatal(err)
	}
	s.root = l.View().Roots[0]
	return s
}

func (s shelf) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s shelf) id(name string) string { return s.docs.ID(s.ctx, nil, s.root, name) }

func (s shelf) view(t *testing.T, name string, p source.Passage) *source.View {
	t.Helper()
	v, err := s.View(s.ctx, s.id(name), p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// passage is the place of a quote in a text.
func passage(t *testing.T, text, quote string) source.Passage {
	t.Helper()
	at := strings.Index(text, quote)
	if at < 0 {
		t.Fatalf("%q is not in the text", quote)
	}
	return source.Passage{Start: at, End: at + len(quote), Quote: quote}
}

// marked joins the marked segments of lines.
func marked(l *source.Lines) string {
	var lines []string
	for _, line := range l.Lines {
		text, any := "", false
		for _, s := range line.Segments {
			if s.Marked {
				text, any = text+s.Text, true
			}
		}
		if any {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

const leave = "# Leave\n\nEvery employee has 26 days\nof paid leave a year. Unused days end in March.\n"

func TestLines(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{"leave.txt": leave})
	got := s.view(t, "leave.txt", passage(t, leave, "26 days\nof paid leave"))
	want := []source.Line{
		{Number: 1, Segments: []source.Segment{{Text: "# Leave"}}},
		{Number: 2, Segments: []source.Segment{}},
		{Number: 3, Segments: []source.Segment{{Text: "Every employee has "}, {Text: "26 days", Marked: true}}},
		{Number: 4, Segments: []source.Segment{{Text: "of paid leave", Marked: true}, {Text: " a year. Unused days end in March."}}},
	}
	if diff := cmp.Diff(want, got.Lines.Lines); diff != "" {
		t.Error(diff)
	}
	if got.Form != source.FormText || got.State != source.Same || got.Lines.Total != 4 {
		t.Errorf("form %s, state %s, %d lines", got.Form, got.State, got.Lines.Total)
	}
}

// TestWindow shows a part of a long document, and the rest when it is asked for.
func TestWindow(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line\n", 500) + "the passage\n" + strings.Repeat("a line\n", 499)
	s := open(t, map[string]string{"long.txt": text, "one.json": `{"a": "` + strings.Repeat("x", 40_000) + " the passage " + strings.Repeat("y", 40_000) + `"}`})
	p := passage(t, text, "the passage")
	got := s.view(t, "long.txt", p).Lines
	if got.First != 441 || got.Before != 440 || len(got.Lines) != 121 || got.After != 439 || marked(got) != "the passage" {
		t.Errorf("first %d, %d before, %d lines, %d after, marked %q", got.First, got.Before, len(got.Lines), got.After, marked(got))
	}
	p.From, p.To = 1, got.First-1
	before := s.view(t, "long.txt", p).Lines
	if before.First != 1 || before.Before != 0 || before.After != 1000-len(before.Lines) || marked(before) != "" {
		t.Errorf("first %d, %d lines, %d after", before.First, len(before.Lines), before.After)
	}
	p.From, p.To = 5000, 6000
	if beyond := s.view(t, "long.txt", p).Lines; len(beyond.Lines) != 0 {
		t.Errorf("%d lines behind the end", len(beyond.Lines))
	}
	long := s.view(t, "one.json", source.Passage{Start: 40_008, End: 40_019, Quote: "the passage"})
	if line := long.Lines.Lines[0]; !line.Cut || marked(long.Lines) != "the passage" {
		t.Errorf("cut %v, marked %q", line.Cut, marked(long.Lines))
	}
}

// TestState says what became of a passage whose document was edited or deleted.
func TestState(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{"leave.txt": leave, "other.txt": "Something else.\n"})
	p := passage(t, leave, "Unused days end in March.")
	s.write(t, "leave.txt", "A new line.\n"+leave)
	if got := s.view(t, "leave.txt", p); got.State != source.Moved || marked(got.Lines) != p.Quote {
		t.Errorf("%s, marked %q", got.State, marked(got.Lines))
	}
	if got := s.view(t, "leave.txt", source.Passage{Start: 3, End: 9}); got.State != source.Changed || marked(got.Lines) != "" {
		t.Errorf("without a quote: %s, marked %q", got.State, marked(got.Lines))
	}
	s.write(t, "leave.txt", "Unused days end in April.\n")
	if got := s.view(t, "leave.txt", p); got.State != source.Changed || marked(got.Lines) != "" {
		t.Errorf("%s, marked %q", got.State, marked(got.Lines))
	}
	if err := os.Remove(filepath.Join(s.dir, "leave.txt")); err != nil {
		t.Fatal(err)
	}
	if got := s.view(t, "leave.txt", p); got.State != source.Gone || got.Lines != nil || len(got.Problems) == 0 || got.Title != "leave" {
		t.Errorf("%+v", got)
	}
}

// TestUnknown documents and those of others have the same errors.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s := open(t, map[string]string{"leave.txt": leave})
	if _, err := s.a.Collections().Make(s.ctx, "board"); err != nil {
		t.Fatal(err)
	}
	guest := door.With(t.Context(), &door.Principal{Token: tokens.Token{Collections: []string{"staff"}}})
	hidden := strings.Replace(s.id("leave.txt"), "-/", "board/", 1)
	none := strings.Replace(hidden, "board", "nowhere", 1)
	_, errHidden := s.View(guest, hidden, source.Passage{})
	_, errNone := s.View(guest, none, source.Passage{})
	if !errors.Is(errHidden, ingest.ErrNoCollection) || strings.ReplaceAll(errHidden.Error(), "board", "nowhere") != errNone.Error() {
		t.Errorf("hidden: %v\nnone: %v", errHidden, errNone)
	}
	for _, id := range []string{"", "-", "-/x/leave.txt", s.id("../leave.txt"), s.id("none.txt"), s.id("")} {
		if _, err := s.View(s.ctx, id, source.Passage{}); !errors.Is(err, ingest.ErrNoDocument) {
			t.Errorf("%q: %v", id, err)
		}
	}
}
