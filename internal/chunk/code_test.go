package chunk_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/state"
)

// TestChunkCodeSixDeclarations: six fixtures, six chunks (C09).
func TestChunkCodeSixDeclarations(t *testing.T) {
	for _, row := range []struct{ source, code, want string }{
		{"a.js", "// add adds.\nfunction add(a, b) {\n  return a + \"}\" + b\n}\n", "function_declaration add 1-4 [function add]"},
		{"b.ts", "export class Store<T> extends Base {\n  constructor() { super() }\n}\n", "class_declaration Store 1-3 [class Store]"},
		{"c.go", "package c\n\nimport \"io\"\n\n// Close ends it.\nfunc (s *Store[T]) Close() error { return io.EOF }\n", "method_definition Store.Close 5-6 [func Store.Close]"},
		{"d.tsx", "export const View = async ({ a }: P): Promise<X> => {\n  return <p>{`${a}`}</p>\n}\n", "arrow_function View 1-3 [const View]"},
		{"e.java", "import java.io.IOException;\n\n/** Reads. */\n@FunctionalInterface\npublic interface Reader<T> {\n    T read() throws IOException;\n}\n", "interface_declaration Reader 3-7 [interface Reader]"},
		{"f.ts", "export type Id<T> =\n  | { kind: 'a'; of: T }\n  | string\n", "type_alias_declaration Id 1-3 [type Id]"},
	} {
		chunks := chunk.Cut(parse(t, row.source, row.code), chunk.Options{Chunker: chunk.Code})
		var got []string
		for _, c := range chunks {
			if c.Cut.Declaration != "" {
				got = append(got, told(c))
			}
		}
		if d := cmp.Diff([]string{row.want}, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", row.source, d)
		}
	}
}

// TestChunkCodeKeepsRunes whose first byte is also that of a blank character.
func TestChunkCodeKeepsRunes(t *testing.T) {
	for source, body := range map[string]string{
		"a.cpp": "\u00b2f() {\n}\n", "a.ts": "function a() {\n}\n\u00b5s = () => {\n}\n", "a.java": "\u00a0class A {\n \u00b5 b() {\n }\n}\n",
		"a.sql": "\u00b5\u00b2;\nCREATE TABLE \u00b5 (a int);\n\u00a0\u00b5;\n",
	} {
		doc, err := load.Parse(t.Context(), source, []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		chunks := chunk.Cut(doc, chunk.Options{Chunker: chunk.Code, Size: 20})
		if d := check(doc, chunks); d != "" || len(chunks) == 0 {
			t.Errorf("%s: %d chunks: %s", source, len(chunks), d)
		}
	}
}

// told is what a chunker says of a declaration.
func told(c state.Chunk) string {
	return fmt.Sprintf("%s %s %d-%d %s", c.Cut.Declaration, c.Cut.Name, c.StartLine, c.EndLine, c.Headings)
}

// TestChunkCodeRealFiles counts the declarations at the left margin of real
// files by other means, and wants each whole in a chunk of its own, unless it is
// too large.
func TestChunkCodeRealFiles(t *testing.T) {
	root := golden.Public(t, "code")
	heads := map[string]*regexp.Regexp{ // by the name of the first group
		".go":   regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type )(\w+)`),
		".py":   regexp.MustCompile(`(?m)^(?:async )?(?:def|class) (\w+)`),
		".rs":   regexp.MustCompile(`(?m)^(?:pub(?:\([^)]*\))? )?(?:fn|struct|enum|trait|mod|macro_rules!) (\w+)`),
		".ts":   regexp.MustCompile(`(?m)^(?:export )?(?:declare )?(?:function|class|interface|type) (\w+)`),
		".java": regexp.MustCompile(`(?m)^public (?:final |abstract )?(?:class|interface) (\w+)`),
	}
	for f, err := range folder.Files(t.Context(), root) {
		if err != nil {
			continue
		}
		head := heads[filepath.Ext(f.Source)]
		if head == nil {
			continue
		}
		doc, err := load.Load(t.Context(), f, load.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		chunks := chunk.Cut(doc, chunk.Options{Chunker: chunk.Code, Size: 1 << 20})
		if d := check(doc, chunks); d != "" {
			t.Errorf("%s: %s", f.Source, d)
		}
		var got, want []string
		for _, c := range chunks {
			name := c.Cut.Name[strings.LastIndexByte(c.Cut.Name, '.')+1:]
			if c.Cut.Declaration != "" && head.MatchString(c.Text) {
				got = append(got, name)
			}
		}
		for _, m := range head.FindAllStringSubmatch(doc.Text, -1) {
			want = append(want, m[1])
		}
		if strings.HasSuffix(f.Source, ".ts") {
			want = distinctNext(want) // overloads are one function
			got = distinctNext(got)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-counted +cut)\n%s", f.Source, d)
		}
		for _, c := range chunk.Cut(doc, chunk.Options{Chunker: chunk.Code}) {
			if len(c.Headings) == 0 && c.Cut.Declaration != "" {
				t.Errorf("%s:%d: %s has no heading", f.Source, c.StartLine, c.Cut.Name)
			}
		}
	}
}

func distinctNext(names []string) (out []string) {
	for _, n := range names {
		if len(out) == 0 || out[len(out)-1] != n {
			out = append(out, n)
		}
	}
	return out
}
