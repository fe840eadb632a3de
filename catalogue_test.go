package ragflow_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestCatalogue asks for the documents themselves.
func TestCatalogue(t *testing.T) {
	files := map[string]string{"boats.md": "# Our fleet\n\nTwelve canoes.\n", "visa.md": "# Visa\n\nFor a visa you need a passport, and a boat if you come by sea.\n"}
	for i := range 30 {
		files[fmt.Sprintf("other/%02d.md", i)] = "# Sheep\n\nSheep eat grass.\n"
	}
	a := open(t, ragflow.Config{Docs: pages(t, files)})
	for _, c := range []struct {
		question string
		lines    int // of the answer that name a document, or how many there are more; 0: it is no list
		first    string
	}{
		{"What documents do you have?", 21, "boats.md"},
		{"List all my files", 21, "boats.md"},
		{"Welche Dokumente gibt es?", 21, "boats.md"},
		{"Jakie masz dokumenty?", 21, "boats.md"},
		{"Có tài liệu nào?", 21, "boats.md"},
		{"Which files are about boats?", 2, "boats.md"},
		{"Welche Dateien gibt es zum Thema visa?", 1, "visa.md"},
		{"Jakie dokumenty są o visa?", 1, "visa.md"},
		{"Tài liệu nào nói về visa?", 1, "visa.md"},
		{"What documents do I need for a visa?", 0, ""},
		{"Which files does the boat need?", 0, ""},
	} {
		r := ask(t, a, "", c.question)
		_, list, _ := strings.Cut(r.Answer, "\n- ")
		if got := strings.Count(r.Answer, "\n- "); got != c.lines || !strings.HasPrefix(list, c.first) {
			t.Errorf("%s: %d lines, want %d, %s first: %s", c.question, got, c.lines, c.first, r.Answer)
		}
		if c.lines > 0 && (len(r.Citations) > 0 || strings.Contains(r.Answer, "[Source")) {
			t.Errorf("%s: a list has citations", c.question)
		}
	}
}
