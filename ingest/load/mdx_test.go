package load_test

import (
	"strings"
	"testing"

	"example.com/ragflow/ingest/load"
)

// TestMDX asks that program is no text, that text between tags is, and that
// every word stands at the offset and line it has in the file. In the rows a page
// is followed by its words that stay.
func TestMDX(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"imports and exports", "import A from 'a'\nimport {\n  b,\n} from \"b\"\n\nexport const meta = {\n  title: 'x',\n\n  y: 1,\n}\n\nText.\n", "Text."},
		{"prose that begins alike", "import duties rise.\n\nexport them.\n\nText\nimport x from y\n", "import duties rise. export them. Text import x from y"},
		{"components", "<Tabs groupId=\"os\" items={['a', \"}\"]}>\n<Tab value='x'>\n\nOn **Linux** run it.\n\n</Tab>\n</Tabs>\n", "On **Linux** run it."},
		{"inside a line", "Press <Key name=\"Enter\"/> or <kbd>Esc</kbd>, then <>wait</>.\n", "Press or Esc , then wait ."},
		{"a tag over lines", "<Card\n  title=\"T\"\n  icon={<Icon of=\"x\" />}\n  {...props}\n  wide\n>\nIn the card.\n</Card>\n", "In the card."},
		{"expressions", "It is {props.n + `}` + '}'} long. {/* no text */}\n\n{list.map(x => <li>{x}</li>)}\n", "It is long."},
		{"namespaces and members", "<a:b c:d='e'/><Menu.Item>Open</Menu.Item>\n", "Open"},
		{"code stays", "Use `<T>{x}</T>` and ``a ` {b}``.\n\n```jsx\nimport X from 'x'\n<X>{y}</X>\n```\n", "Use `<T>{x}</T>` and ``a ` {b}``. ```jsx import X from 'x' <X>{y}</X> ```"},
		{"neither tag nor expression", "a < b and c<d, 1 <2, <https://a.b/c>, \\{x\\} and \\<T>, { open, <Open a=\n", "a < b and c<d, 1 <2, <https://a.b/c>, \\{x\\} and \\<T>, { open, <Open a="},
		{"after front matter", "---\ntitle: T\n---\nimport X from 'x'\n\n# Head {#id}\n\nText\r\n<X/>\r\nmore\r\n", "--- title: T --- # Head Text more"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.mdx", []byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strings.Fields(doc.Text), " "); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if len(doc.Text) != len(tt.in) || doc.Converted != (doc.Text != tt.in) {
				t.Errorf("%d bytes of %d, converted %v", len(doc.Text), len(tt.in), doc.Converted)
			}
			for i := range len(tt.in) {
				if c := doc.Text[i]; c != tt.in[i] && (c != ' ' || tt.in[i] == '\n' || tt.in[i] == '\r') {
					t.Fatalf("byte %d is %q, was %q", i, c, tt.in[i])
				}
			}
			checkChunks(t, doc)
		})
	}
	page := "import X from 'x'\n\n<X>\n\nFirst.\n\n</X>\n"
	doc, err := load.Parse(t.Context(), "a.mdx", []byte(page))
	if err != nil {
		t.Fatal(err)
	}
	chunks := load.Chunk(doc, load.ChunkOptions{})
	if len(chunks) != 1 || chunks[0].Text != "First." || chunks[0].Start != strings.Index(page, "First.") || chunks[0].StartLine != 5 {
		t.Errorf("got %+v", chunks)
	}
	// What never ends costs no more than its bytes.
	for _, open := range []string{"{", "<a ", "`", "<a b={", "import {\n"} {
		if _, err := load.Parse(t.Context(), "a.mdx", []byte(strings.Repeat(open, 1<<15))); err != nil {
			t.Error(err)
		}
	}
}
