package search_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// linked makes a page of one text with relations, each "RELATION name".
func linked(source, title string, relations ...string) search.Entry {
	e := file(source, title, "text of "+title)
	e.File.Metadata = state.Metadata{}
	for _, r := range relations {
		relation, name, _ := strings.Cut(r, " ")
		names, _ := e.File.Metadata[relation].([]any)
		e.File.Metadata[relation] = append(names, name)
	}
	return e
}

// related returns what Expand finds from a page.
func related(t *testing.T, db *index.DB, from string) string {
	t.Helper()
	s := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	hits, err := s.Expand(t.Context(), state.Query{Text: "text"}, parents(from, 1.0), 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range hits[1:] {
		out = append(out, h.Legs[0].Relation+" "+strings.TrimSuffix(h.Chunk, "#0"))
	}
	return strings.Join(out, ", ")
}

// TestRelationsResolve shows how a document may be called.
func TestRelationsResolve(t *testing.T) {
	db := open(t)
	pages := []search.Entry{
		linked("site/guide/start.md", "Getting started"), linked("site/guide/_index.md", "Guide"), linked("site/ref/start.md", "Reference"),
		linked("start.md", "Top"), linked("old.md", "Old"), linked("Notes/My Page.md", "Same"), linked("same.md", "Same"),
		linked("two.md", "Two"), linked("two.html", "Two as HTML"),
	}
	pages[4].File.Metadata = state.Metadata{"document_id": "B-7"}
	put(t, db, "/docs", pages...)
	for _, tt := range []struct{ name, called, want string }{
		{"beside", "start.md", "site/guide/start.md"},
		{"above", "../ref/start.md", "site/ref/start.md"},
		{"above the root", "../../../../etc/passwd", ""},
		{"in another case", "START.md", "site/guide/start.md"},
		{"without its extension", "start", "site/guide/start.md"},
		{"a folder", "../guide/", "site/guide/_index.md"},
		{"from the root", "/start.md", "start.md"},
		{"the file of that name", "/two.html", "two.html"},
		{"one of two", "/two", ""},
		{"an id", "b-7", "old.md"},
		{"a title", "getting  STARTED", "site/guide/start.md"},
		{"a title of two", "same", ""},
		{"itself", "from.md", ""},
		{"nothing", "nowhere/at/all.md", ""},
		{"no name", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			put(t, db, "/docs", linked("site/guide/from.md", "From", "cites "+tt.called))
			want := ""
			if tt.want != "" {
				want = "CITES " + tt.want
			}
			if got := related(t, db, "site/guide/from.md"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestRelationsOfMetadata: by keys and in the mapping relations (T05), as values of any kind.
func TestRelationsOfMetadata(t *testing.T) {
	db := open(t)
	a := file("a.md", "A", "text")
	a.File.Metadata = state.Metadata{
		"related_docs": []any{"B-1", "The title", nil}, "depends-on": "d.md", "title": "E", "befriends": "e.md", "uses": true,
		"relations": map[string]any{"compatible with": "c.md", "befriends": []any{"f.md"}},
	}
	b := file("b.md", "B", "text")
	b.File.Meta = map[string]string{"id": "B-1"}
	put(t, db, "/docs", a, b, file("c.md", "C", "text"), file("d.md", "D", "text"), file("e.md", "E", "text"), file("f.md", "F", "text"), file("g.md", "The title", "text"))
	want := "RELATED_TO b.md, COMPATIBLE_WITH c.md, DEPENDS_ON d.md, RELATED_TO f.md, RELATED_TO g.md"
	if got := related(t, db, "a.md"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRelationsFollowFiles: relations change, go and come with the files at both ends.
func TestRelationsFollowFiles(t *testing.T) {
	db := open(t)
	check := func(what, want string) {
		t.Helper()
		if got := related(t, db, "a.md"); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	put(t, db, "/docs", linked("a.md", "A", "cites b.md", "depends_on c.md"))
	check("before the others come", "")
	put(t, db, "/docs", linked("b.md", "B"), linked("c.md", "C"))
	check("they came", "CITES b.md, DEPENDS_ON c.md")
	if err := db.Delete(t.Context(), "/docs", "b.md"); err != nil {
		t.Fatal(err)
	}
	check("one went", "DEPENDS_ON c.md")
	put(t, db, "/docs", linked("a.md", "A"))
	check("an edit", "")
}
