package offline

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// shown are the units of source code as an answer shows them.
func shown(t *testing.T, src, language, declaration string) []string {
	t.Helper()
	said, units, _ := outlineSource(state.Source{Chunk: state.Chunk{Text: src, Cut: state.Cut{Language: language, Declaration: declaration}}}, "")
	if len(said) != len(src) {
		t.Fatalf("%d bytes of %d", len(said), len(src))
	}
	var out []string
	for _, u := range units {
		raw := said[u.start:u.end]
		switch {
		case u.bare:
			raw = bareBlock(raw, language)
		case u.kind == code:
			raw = codeBlock(raw)
		default:
			raw = tidy(raw)
		}
		out = append(out, raw)
	}
	return out
}

// TestOutlineSource: comments that stand by themselves are prose, all else is code.
func TestOutlineSource(t *testing.T) {
	for name, tt := range map[string]struct {
		language, declaration, src string
		want                       []string
	}{
		"go": {"go", "function_declaration", "// Open opens a file.\n// It may fail:\n//\n//\tf, err := Open(name)\n//\n// Close it.\nfunc Open(name string) (*File, error) {\n\t// a note\n\n\treturn nil, nil\n}\n", []string{
			"Open opens a file.", "It may fail:", "```go\nf, err := Open(name)\n```", "Close it.",
			"```go\nfunc Open(name string) (*File, error) {\n\t// a note\n\n\treturn nil, nil\n}\n```",
		}},
		"a string of several lines describes a function": {"python", "function_declaration", "def merge(*iterables, key=None):\n    '''Merge sorted inputs.\n\n    Similar to sorted.\n\n    >>> list(merge([1], [0]))\n    [0, 1]\n\n    '''\n    return x\n", []string{
			"```python\ndef merge(*iterables, key=None):\n```", "Merge sorted inputs.", "Similar to sorted.",
			"```python\n>>> list(merge([1], [0]))\n[0, 1]\n```", "```python\nreturn x\n```",
		}},
		"one of one line stays": {"python", "function_declaration", "def f(a):\n    \"\"\"Do it.\"\"\"\n    s = \"\"\"no\n    # comment\n    \"\"\"\n", []string{
			"```python\ndef f(a):\n    \"\"\"Do it.\"\"\"\n    s = \"\"\"no\n    # comment\n    \"\"\"\n```",
		}},
		"of a module": {"python", "", "#!/usr/bin/python\n\"\"\"Heap queues.\n\nUsage:\n\nheap = []   # empty\nheappush(heap, item)\n\"\"\"\n# A note.\nimport x\n", []string{
			"```python\n#!/usr/bin/python\n```", "Heap queues.", "Usage:", "```python\nheap = []   # empty\nheappush(heap, item)\n```", "A note.", "```python\nimport x\n```",
		}},
		"tags of a method": {"typescript", "class_declaration", "/**\n * A set of {@link Value values}.\n */\nexport class Set<T> {\n  /**\n   * Adds one.\n   * @param value what is added\n   * @return itself\n   */\n  add(value: T): this {\n    // here\n    return this;\n  }\n\n  /** @internal */ x = 1;\n}\n", []string{
			"A set of Value values.", "```typescript\nexport class Set<T> {\n```", "Adds one.", "@param value what is added", "@return itself",
			"```typescript\nadd(value: T): this {\n  // here\n  return this;\n}\n```", "```typescript\n  /** @internal */ x = 1;\n}\n```",
		}},
		"Markdown in comments": {"rust", "struct_declaration", "/// A pattern.\n///\n/// - one\n/// - two\n///\n/// ```sh\n/// cargo add globset\n/// ```\n#[derive(Clone)]\npub struct Glob {\n    /// Kept.\n    re: String,\n}\n", []string{
			"A pattern.", "one", "two", "```sh\ncargo add globset\n```", "```rust\n#[derive(Clone)]\npub struct Glob {\n    /// Kept.\n    re: String,\n}\n```",
		}},
		"sql":              {"sql", "table_declaration", "-- Those who buy.\nCREATE TABLE buyers (\n  id int -- theirs\n);\r\n", []string{"Those who buy.", "```sql\nCREATE TABLE buyers (\n  id int -- theirs\n);\n```"}},
		"a hash in C":      {"c", "", "#include <stdio.h>\n\n/* Ends it. **/\nint main() { return 0; }\n", []string{"```c\n#include <stdio.h>\n```", "Ends it.", "```c\nint main() { return 0; }\n```"}},
		"never closed":     {"c", "", "/* goes on\n * and on\n", []string{"goes on and on"}},
		"fences in a code": {"go", "", "const x = `\n```sh\n`\n", []string{"````go\nconst x = `\n```sh\n`\n````"}},
		"nothing":          {"go", "", "}\n\n)\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, shown(t, tt.src, tt.language, tt.declaration)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// A long function is parted at blank lines, so that a part of it can be shown.
func TestOutlineSourceLong(t *testing.T) {
	src := "func f() {\n" + strings.Repeat("\ta()\n\tb()\n\n", 100) + "}\n"
	for _, s := range shown(t, src, "go", "function_declaration") {
		if n := strings.Count(s, "\n"); n > maxCode {
			t.Errorf("a block of %d lines", n)
		}
	}
}

func FuzzOutlineSource(f *testing.F) {
	f.Add("/** A {@link B}. */\n// c\n  int x; /* */\n", "java")
	f.Add("def f():\n  '''a\n\n    b = c\n  '''\n# d\n", "python")
	f.Add("-- é\n\n--\tx\nSELECT {@;", "sql")
	f.Fuzz(func(t *testing.T, s, language string) {
		said, units, _ := outlineSource(state.Source{Chunk: state.Chunk{Text: s, Cut: state.Cut{Language: language, Declaration: "class_declaration"}}}, "")
		if len(said) != len(s) {
			t.Fatalf("%d bytes of %d", len(said), len(s))
		}
		end := 0
		for _, u := range units {
			if u.start < end || u.end <= u.start || u.end > len(s) {
				t.Fatalf("unit %d to %d behind %d of %d", u.start, u.end, end, len(s))
			}
			end = u.end
			if u.bare {
				bareBlock(said[u.start:u.end], language)
			}
		}
	})
}
