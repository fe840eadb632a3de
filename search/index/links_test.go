package index_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search"
	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// linked makes a page of one text with links, each "RELATION target".
func linked(source, title string, links ...string) search.Entry {
	e := file(source, title, "text of "+title)
	for _, l := range links {
		relation, target, _ := strings.Cut(l, " ")
		e.Links = append(e.Links, state.Link{Relation: relation, Target: target})
	}
	return e
}

func linksOf(t *testing.T, db *index.DB) (out []string, dangling int) {
	t.Helper()
	links, dangling, err := db.Links(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		out = append(out, l.From+" "+l.Relation+" "+l.To)
	}
	return out, dangling
}

// TestLinksResolve shows what a target may be.
func TestLinksResolve(t *testing.T) {
	db := open(t, "", index.Options{})
	pages := []search.Entry{
		linked("site/guide/start.md", "Getting started"), linked("site/guide/_index.md", "Guide"), linked("site/guide/README.md", "Read me"),
		linked("site/ref/start.md", "Reference"), linked("deep/er/ref/alone.md", "Alone"), linked("deep/ref/start.md", "Deep"),
		linked("old.md", "Old"), linked("web.md", "Web"), linked("Notes/My Page.md", "Same"), linked("same.md", "Same"),
	}
	pages[6].File.Meta = map[string]string{"document_id": "B-7"}
	put(t, db, "/docs", pages...)
	for _, tt := range []struct{ name, target, want string }{
		{"beside", "start.md", "site/guide/start.md"},
		{"above", "../ref/start.md", "site/ref/start.md"},
		{"above the root", "../../../../etc/passwd", ""},
		{"in another case", "START.md", "site/guide/start.md"},
		{"the extension of the site", "start.html", "site/guide/start.md"},
		{"a folder", "../guide/", "site/guide/_index.md"},
		{"the page as a folder", "../start", "site/guide/start.md"},
		{"from the root of the site", "/ref/start/", "site/ref/start.md"},
		{"from the root of the folder", "/site/ref/start.md", "site/ref/start.md"},
		{"anywhere, the only one", "alone.md", "deep/er/ref/alone.md"},
		{"anywhere, one of several", "ref/start.md", ""},
		{"an id", "b-7", "old.md"},
		{"an address", "http://example.org/docs/web", ""},
		{"a title", "getting  STARTED", "site/guide/start.md"},
		{"a title of two", "same page", ""},
		{"a name with blanks", "My Page", "Notes/My Page.md"},
		{"itself", "from.md", ""},
		{"the root", "/", ""},
		{"nothing", "nowhere/at/all.md", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			put(t, db, "/docs", linked("site/guide/from.md", "From", "LINKS_TO "+tt.target))
			got, _ := linksOf(t, db)
			var want []string
			if tt.want != "" {
				want = []string{"site/guide/from.md LINKS_TO " + tt.want}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestLinksFollowFiles: links change, go and come with the files at both ends.
func TestLinksFollowFiles(t *testing.T) {
	db := open(t, "", index.Options{})
	check := func(what string, wantDangling int, want ...string) {
		t.Helper()
		got, dangling := linksOf(t, db)
		if d := cmp.Diff(want, got); d != "" || dangling != wantDangling {
			t.Errorf("%s: %d dangling, want %d %s", what, dangling, wantDangling, d)
		}
	}
	check("nothing", 0)
	put(t, db, "/docs", linked("a.md", "A", "LINKS_TO b.md", "DEPENDS_ON b.md", "LINKS_TO ./c.md"))
	check("before the others come", 3)
	put(t, db, "/docs", linked("b.md", "B", "LINKS_TO a.md"))
	check("one came", 1, "a.md DEPENDS_ON b.md", "a.md LINKS_TO b.md", "b.md LINKS_TO a.md")
	generation := func() int64 {
		all, err := db.Collections(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[0].Generation
	}
	before := generation()
	put(t, db, "/docs", linked("b.md", "B", "LINKS_TO a.md"))
	if generation() != before {
		t.Error("the same links are taken for a change")
	}
	put(t, db, "/docs", linked("b.md", "B"))
	check("an edit", 1, "a.md DEPENDS_ON b.md", "a.md LINKS_TO b.md")
	if generation() == before {
		t.Error("other links are not taken for a change")
	}
	if err := db.Delete(t.Context(), "/docs", "b.md"); err != nil {
		t.Fatal(err)
	}
	check("the target went", 3)
	put(t, db, "/docs", linked("c.md", "C"))
	check("the last one came", 2, "a.md LINKS_TO c.md")
	if err := db.Delete(t.Context(), "/docs", "a.md"); err != nil {
		t.Fatal(err)
	}
	check("the source went", 0)
}
