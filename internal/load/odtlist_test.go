package load_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/load"
)

// TestODTNumbers numbers the paragraphs and headings of OpenDocument texts, which have one header.
func TestODTNumbers(t *testing.T) {
	const styles = `<document-styles><style name="Free" list-style-name=""/><style name="Freer" parent-style-name="Free"/>
		<outline-style><outline-level-style level="1" num-format="I" num-prefix="Part "/><outline-level-style level="2" num-format="1" display-levels="2" start-value="4"/></outline-style>
		<list-style name="L"><list-level-style-number level="1" num-format="1" num-suffix="."/><list-level-style-number level="2" num-format="a" num-suffix=")" display-levels="2"/></list-style>
		<list-style name="B"><list-level-style-bullet level="1" bullet-char="•"/></list-style><header display="false"><p>Not shown</p></header><header-first><p>Shown <span>once</span></p></header-first><footer><p><page-number>3</page-number></p></footer></document-styles>`
	for _, tt := range []struct{ name, body, want string }{
		{
			"headings", `<h>a</h><h outline-level="2">b</h><h outline-level="2" style-name="Freer">c</h><h outline-level="2" is-list-header="true">d</h><h outline-level="2">e</h><h>f</h><h outline-level="3">g</h>`,
			"# Part I a\n\n## I.4 b\n\n## c\n\n## d\n\n## I.5 e\n\n# Part II f\n\n### g\n",
		},
		{
			"levels and further paragraphs", `<list style-name="L"><list-item><p>a</p><p>more of a</p><list><list-item><p>b</p></list-item><list-item><p>c</p></list-item></list></list-item><list-item><p>d</p></list-item></list>`,
			"1. a\n\nmore of a\n\n1.a) b\n\n1.b) c\n\n2. d\n",
		},
		{
			"start and header", `<list style-name="L"><list-header><p>a</p></list-header><list-item start-value="7"><p>b</p></list-item><list-item><p>c</p></list-item></list>`,
			"a\n\n7. b\n8. c\n",
		},
		{
			"continued", `<list id="x" style-name="L"><list-item><p>a</p></list-item></list><list style-name="L"><list-item><p>b</p></list-item></list><list style-name="L" continue-numbering="true"><list-item><p>c</p></list-item></list><list style-name="L" continue-list="x"><list-item><p>d</p></list-item></list>`,
			"1. a\n1. b\n2. c\n2. d\n",
		},
		{"bullets", `<list style-name="B"><list-item><p>a</p></list-item></list><list style-name="?"><list-item><p>b</p></list-item></list>`, "- a\n- b\n"},
		{
			"comment and note in a table", `<table><table-row><table-cell><p>a<annotation><creator>Ann</creator><date>2026</date><p>c</p></annotation><note><note-body><p>n</p></note-body></note></p></table-cell><table-cell><p>b</p></table-cell></table-row></table>`,
			"| a | b |\n| --- | --- |\n\nComment by Ann: c\n\nFootnote 1: n\n",
		},
		{"comment in a note", `<p>a<note><note-body><p>n<annotation><p>c</p></annotation></p></note-body></note></p>`, "a\n\nFootnote 1: n\n"},
		{"only a paragraph", `<p>a</p>`, "a\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.odt", zipped(t, "styles.xml", styles, "content.xml", "<document-content>"+tt.body+"</document-content>"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want+"\nHeader: Shown once\n", doc.Text); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestODTTitle takes the first paragraph in the style of titles, or one made from it, for the title of the document.
func TestODTTitle(t *testing.T) {
	for _, style := range []string{"Title", "P1"} {
		doc, err := load.Parse(t.Context(), "a.odt", zipped(t, "content.xml", `<document-content><style name="P1" parent-style-name="Title"/><p style-name="`+style+
			`">The <span>boat</span></p><p>Text</p><p style-name="Title">More</p></document-content>`))
		if err != nil || doc.Title != "The boat" || doc.Text != "# The boat\n\nText\n\nMore\n" {
			t.Errorf("%s: %q, %q, %v", style, doc.Title, doc.Text, err)
		}
	}
}
