package load_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/state"
)

// TestLinks shows which links each format has. T05: relations are typed.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name, source, text string
		want               []string // relation and target
	}{
		{
			"markdown", "a.md",
			"[One](one.md#part \"title\"), [two](<two words.md>), [wiki (x)](wiki_(x).md) and ![picture](p.png).\n[again](one.md)\n[ref]: /three/ \"t\"\n[^1]: note.md\n<a class=\"x\" href='four.html?q=1'>4</a>\n[mail](mailto:a@b.c) [here](#part) [web](https://example.org/x?y#z) [space](a%20b.md)\n",
			[]string{"LINKS_TO one.md", "LINKS_TO two words.md", "LINKS_TO wiki_(x).md", "LINKS_TO /three/", "LINKS_TO four.html", "LINKS_TO https://example.org/x", "LINKS_TO a b.md"},
		},
		{
			"code", "a.md",
			"```sh\n[no](no.md)\n~~~\n[no](no.md)\n```\n[yes](yes.md)\n~~~~\n[no](no.md)\n~~~~\n[end](end.md)\n",
			[]string{"LINKS_TO yes.md", "LINKS_TO end.md"},
		},
		{
			"front matter", "a.md",
			"---\nrelated_docs: [B-1, \"Some Title\"]\ndepends-on: base.md\nrelations:\n  Requires: [r.md]\n  compatible with: c.md\n  befriends: f.md\nnext: n.md\nurl: /own/\nrequires:\n---\n[t](t.md)\n",
			[]string{
				"RELATED_TO B-1", "RELATED_TO Some Title", "DEPENDS_ON base.md", "REQUIRES r.md", "COMPATIBLE_WITH c.md", "RELATED_TO f.md",
				"PRECEDES n.md", "LINKS_TO t.md",
			},
		},
		{
			"html", "a.html",
			"<nav><a href=nav.html>menu</a></nav><main><p>Read <a href='b.html#x'>the second page</a> and <a href=\"javascript:x()\">run</a>, and more words to make it long enough.</p></main>",
			[]string{"LINKS_TO b.html"},
		},
		{"text", "a.txt", "[no](no.md)\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), tt.source, []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, l := range doc.Links {
				got = append(got, l.Relation+" "+l.Target)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if told := strings.Contains(strings.Join(doc.Warnings, "\n"), `relation "befriends" is not known and kept as RELATED_TO`); told != (tt.name == "front matter") {
				t.Errorf("warnings: %q", doc.Warnings)
			}
		})
	}
}

// TestLinksAreBounded: a page of nothing but links keeps so many, and is read in
// time that grows with its size.
func TestLinksAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("large files; nothing of it runs side by side")
	}
	for name, piece := range map[string]string{"links": "[a](b%d.md) ", "open": "[a]("} {
		text := strings.Repeat(piece, 100_000)
		for i := 0; name == "links" && i < 3; i++ {
			text = strings.Replace(text, "%d", strings.Repeat("x", i), 1)
		}
		doc, err := load.Parse(t.Context(), "a.md", []byte(text))
		if err != nil || len(doc.Links) > 5000 {
			t.Errorf("%s: %d links, %v", name, len(doc.Links), err)
		}
	}
}

// TestRelations is T05: twenty kinds and more, by their names in any style.
func TestRelations(t *testing.T) {
	known := state.Relations()
	if len(known) < 20 {
		t.Errorf("%d kinds", len(known))
	}
	for _, r := range append(known, "IMPLEMENTS", "DEPENDS_ON", "REQUIRES", "COMPATIBLE_WITH", "SIMILAR_TO", "EVOLVED_FROM", "VALIDATES", "USES", "RELATED_TO") {
		if got, ok := state.ParseRelation(strings.ToLower(strings.ReplaceAll(r, "_", "-"))); got != r || !ok {
			t.Errorf("%s is read as %s, %t", r, got, ok)
		}
	}
	if got, ok := state.ParseRelation("befriends"); got != state.RelatedTo || ok {
		t.Errorf("an unknown kind is read as %s, %t", got, ok)
	}
}
