package chunk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/txtar"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

func parse(tb testing.TB, source, content string) document.Document {
	tb.Helper()
	doc, err := load.Parse(tb.Context(), source, []byte(content))
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// check reports what is wrong with the chunks of a document, "" if nothing. They
// may overlap, but each ends after the one before.
func check(doc document.Document, chunks []state.Chunk) string {
	start, at, line := doc.Body-1, doc.Body, 1
	if doc.Body > 0 {
		line += strings.Count(doc.Text[:doc.Body-1], "\n")
	}
	ids := map[string]bool{}
	if len(chunks) == 0 && unreadable(doc.Text[at:]) {
		return ""
	}
	for i, c := range chunks {
		if c.Start <= start || c.End <= at || c.End <= c.Start || c.End > len(doc.Text) {
			return fmt.Sprintf("chunk %d: span %d-%d after %d-%d", i, c.Start, c.End, start, at)
		}
		line += strings.Count(doc.Text[max(start, 0):c.Start], "\n")
		ownLines := doc.Kind == document.Markdown || doc.Kind == document.Plain // others are made of their file
		switch {
		case c.Text != doc.Text[c.Start:c.End]:
			return fmt.Sprintf("chunk %d: is not the slice", i)
		case !utf8.ValidString(c.Text):
			return fmt.Sprintf("chunk %d: cuts a rune", i)
		case strings.TrimSpace(c.Text) == "":
			return fmt.Sprintf("chunk %d: is blank", i)
		case c.Start > at && strings.TrimSpace(doc.Text[at:c.Start]) != "":
			return fmt.Sprintf("text in front of chunk %d is lost: %q", i, doc.Text[at:c.Start])
		case ownLines && c.StartLine != line:
			return fmt.Sprintf("chunk %d: first line %d", i, c.StartLine)
		case ownLines && c.EndLine != c.StartLine+strings.Count(c.Text, "\n"):
			return fmt.Sprintf("chunk %d: last line %d", i, c.EndLine)
		case c.Ordinal != i:
			return fmt.Sprintf("chunk %d: ordinal %d", i, c.Ordinal)
		case ids[c.ID]:
			return fmt.Sprintf("chunk %d: id of another", i)
		}
		ids[c.ID] = true
		start, at = c.Start, c.End
	}
	if strings.TrimSpace(doc.Text[at:]) != "" {
		return fmt.Sprintf("text behind the last chunk is lost: %q", doc.Text[at:])
	}
	return ""
}

// unreadable reports whether text is made of shortcodes, comments and marks.
func unreadable(s string) bool {
	s = regexp.MustCompile(`(?s)\{\{<.*?>\}\}|\{\{%.*?%\}\}|<!--.*?-->`).ReplaceAllString(s, "")
	return !regexp.MustCompile(`[\pL\pN]`).MatchString(s)
}

// TestChunkGolden reads testdata/*.txtar: options in the comment, the document
// as the first file, what Chunk makes of it as the second.
func TestChunkGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var o chunk.Options
			crlf := strings.Contains(string(archive.Comment), "crlf")
			for line := range strings.Lines(string(archive.Comment)) {
				_, _ = fmt.Sscanf(line, "size=%d min=%d", &o.Size, &o.Min) // other lines are prose
				_, _ = fmt.Sscanf(line, "chunker=%s size=%d overlap=%d", &o.Chunker, &o.Size, &o.Overlap)
			}
			in := string(archive.Files[0].Data)
			if crlf {
				in = strings.TrimSuffix(strings.ReplaceAll(in, "\n", "\r\n"), "\r\n")
			}
			doc := parse(t, archive.Files[0].Name, in)
			chunks := chunk.Cut(doc, o)
			if d := check(doc, chunks); d != "" {
				t.Error(d)
			}
			archive.Files = append(archive.Files[:1], txtar.File{Name: "chunks", Data: []byte(render(doc, chunks))})
			golden.Assert(t, path, txtar.Format(archive))
		})
	}
}

func render(doc document.Document, chunks []state.Chunk) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title %q meta %v\n", doc.Title, doc.Meta)
	if len(chunks) > 0 && chunks[0].Cut.Chunker != chunk.Markdown && chunks[0].Cut.Chunker != chunk.Text {
		fmt.Fprintf(&b, "cut by %s\n", chunks[0].Cut.Chunker)
	}
	for _, c := range chunks {
		fmt.Fprintf(&b, "\n[%d] lines %d-%d %s %q%s\n", c.Ordinal, c.StartLine, c.EndLine, c.Kind, c.Headings, known(c.Cut))
		for line := range strings.Lines(c.Text) {
			b.WriteString("    | " + strings.TrimRight(line, "\r\n") + "\n")
		}
	}
	return b.String()
}

// known returns what a chunker noted of a chunk, without the name of the chunker.
func known(c state.Cut) string {
	c.Chunker = ""
	told, err := json.Marshal(c)
	if err != nil || c == (state.Cut{}) {
		return ""
	}
	return " " + string(told)
}

func TestChunkIdentity(t *testing.T) {
	one := chunk.Cut(parse(t, "a.md", "# A\n\nText."), chunk.Options{})[0]
	again := parse(t, "a.md", "# A\n\nText.")
	again.Root = "/elsewhere"
	if got := chunk.Cut(again, chunk.Options{})[0]; got.ID != one.ID || got.Root != "/elsewhere" {
		t.Errorf("id %s under another root, want %s", got.ID, one.ID)
	}
	if id, err := uuid.Parse(one.ID); err != nil || id.Version() != 5 {
		t.Errorf("id %s is not a UUID version 5: %v", one.ID, err)
	}
	if want := "49f045d1-9730-5245-84d6-f51d471d8fda"; one.ID != want {
		t.Errorf("id = %s, want %s: ids of a format must never change", one.ID, want)
	}
	for name, doc := range map[string]document.Document{
		"source": parse(t, "b.md", "# A\n\nText."), "span": parse(t, "a.md", "\n# A\n\nText."), "text": parse(t, "a.md", "# A\n\nTexT."),
	} {
		if got := chunk.Cut(doc, chunk.Options{})[0]; got.ID == one.ID {
			t.Errorf("another %s has the same id", name)
		}
	}
}

func TestChunkOptionsFingerprint(t *testing.T) {
	base := chunk.Options{}.Fingerprint()
	if got := (chunk.Options{Size: 512}).Fingerprint(); got != base {
		t.Errorf("the default spelled out is %q, want %q", got, base)
	}
	if got := (chunk.Options{Size: 300}).Fingerprint(); got == base {
		t.Error("another size has the same fingerprint")
	}
}

func TestChunkOfNothing(t *testing.T) {
	for _, s := range []string{"", " \n\t\n", "---\ntitle: x\n---\n", "\uFEFF", "<!--\nmade by a tool\n-->\n\n{{< list >}}\n"} {
		for _, name := range []string{"a.md", "a.txt"} {
			if name == "a.txt" && strings.ContainsAny(s, "-") {
				continue
			}
			if got := chunk.Cut(parse(t, name, s), chunk.Options{}); len(got) != 0 {
				t.Errorf("%s %q: %d chunks", name, s, len(got))
			}
		}
	}
}

// Documents nobody wrote must be cut in bounded time and to size.
func TestChunkHostile(t *testing.T) {
	mega := 1 << 20
	if testing.Short() {
		mega = 1 << 13
	}
	for name, s := range map[string]string{
		"one line":           strings.Repeat("x", 8*mega),
		"one line of words":  strings.Repeat("word ", mega/4),
		"one line of runes":  strings.Repeat("漢", mega/4),
		"sentences":          strings.Repeat("A. ", mega/4),
		"list of one item":   "- " + strings.Repeat("word ", 10_000) + "\n",
		"deep quote":         strings.Repeat(strings.Repeat("> ", 5000)+"x\n", 20),
		"deep list":          deep(400),
		"brackets":           strings.Repeat("[", mega/4) + "\n\n" + strings.Repeat("![](", 10_000),
		"headings only":      strings.Repeat("## h\n", 20_000),
		"fences":             strings.Repeat("```\n", 100_001),
		"table":              "| a |\n|---|\n" + strings.Repeat("| x |\n", 50_000),
		"long cells":         "| a |\n|---|\n" + strings.Repeat("| "+strings.Repeat("y ", 9000)+" |\n", 20),
		"open comment":       "<!--\n" + strings.Repeat("x\n", 100_000),
		"reference links":    strings.Repeat("[a]: http://b\n", 50_000),
		"underlines":         strings.Repeat("a\n---\n", 30_000),
		"shortcodes":         strings.Repeat("{{< a >}}\n\n", 30_000),
		"backticks":          strings.Repeat("` `` ", 50_000),
		"carriage returns":   strings.Repeat("a\r", 100_000),
		"tabs and null-like": strings.Repeat("\t- \u2028a\n", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			for _, source := range []string{"a.md", "a.txt"} {
				start := time.Now()
				doc := parse(t, source, s)
				chunks := chunk.Cut(doc, chunk.Options{})
				if took := time.Since(start); took > time.Minute {
					t.Errorf("%s took %v", source, took)
				}
				if d := check(doc, chunks); d != "" {
					t.Fatalf("%s: %s", source, d)
				}
				for _, c := range chunks {
					if n := text.Estimate(c.Text); n > 640 {
						t.Fatalf("%s: chunk %d has %d tokens", source, c.Ordinal, n)
					}
				}
			}
		})
	}
}

// deep nests list items in each other.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- item of some words\n")
	}
	return b.String()
}

// TestChunkCorpus holds the rules against every page of a real site.
func TestChunkCorpus(t *testing.T) {
	docs := dockerPages(t)
	var sizes []int
	for _, doc := range docs {
		for _, w := range doc.Warnings {
			t.Errorf("%s: %s", doc.Source, w)
		}
		for _, o := range []chunk.Options{{}, {Size: 64, Min: -1}} {
			chunks := chunk.Cut(doc, o)
			if d := check(doc, chunks); d != "" {
				t.Errorf("%s: %s", doc.Source, d)
			}
			for _, c := range chunks {
				n := text.Estimate(c.Text)
				if o.Size == 0 {
					sizes = append(sizes, n)
				}
				if n > 640 {
					t.Errorf("%s:%d: %d tokens", doc.Source, c.StartLine, n)
				}
			}
		}
	}
	slices.Sort(sizes)
	n := len(sizes)
	t.Logf("%d pages, %d chunks; tokens: median %d, p95 %d, largest %d", len(docs), n, sizes[n/2], sizes[n*95/100], sizes[n-1])
}

func dockerPages(tb testing.TB) []document.Document {
	tb.Helper()
	var docs []document.Document
	for f, err := range folder.Files(tb.Context(), golden.Public(tb, "docker-docs", "content")) {
		if err != nil {
			tb.Fatal(err)
		}
		doc, err := load.Load(tb.Context(), f, load.Limits{})
		if err != nil {
			tb.Fatal(err)
		}
		docs = append(docs, doc)
	}
	return docs
}

func FuzzChunk(f *testing.F) {
	for _, s := range []string{
		"---\ntitle: x\n---\nText\n\n# A\n\n- b\n  - c\n\n| d |\n|---|\n| e |\n",
		"\uFEFF# A\r\n\r\nB\r\n===\r\n```\r\n# x\r\n", "> - 1) # a\n>\n> ```\n\t- b\n***\n[r]: x\n", "café\n\n{{< a >}}\n",
		"- - a\n\n  ---\n  b: c", "---\n...\n", "~~~\n\v\f\u0085\u00a0\n",
	} {
		f.Add([]byte(s), true, 16)
		f.Add([]byte(s), false, 40)
	}
	f.Fuzz(func(t *testing.T, data []byte, markdown bool, size int) {
		source := "a.txt"
		if markdown {
			source = "a.md"
		}
		data = bytes.ToValidUTF8(data, []byte("\uFFFD")) // FuzzParse sees to encodings
		doc, err := load.Parse(t.Context(), source, data)
		if err != nil {
			return
		}
		if !utf8.ValidString(doc.Text) || doc.Body > len(doc.Text) || !doc.Converted && doc.Text != string(data) {
			t.Fatalf("%q: document %+v", data, doc)
		}
		o := chunk.Options{Size: size, Min: size / 3}
		chunks := chunk.Cut(doc, o)
		if d := check(doc, chunks); d != "" {
			t.Fatalf("%s: %q", d, data)
		}
		if again := chunk.Cut(doc, o); !reflect.DeepEqual(chunks, again) {
			t.Fatalf("second time differs: %s", cmp.Diff(chunks, again))
		}
	})
}

func BenchmarkChunk(b *testing.B) {
	docs := dockerPages(b)
	n := 0
	for _, d := range docs {
		n += len(d.Text)
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, d := range docs {
			chunk.Cut(d, chunk.Options{})
		}
	}
}
