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

// TestDocumentsOfAKind asks which documents of a kind there are. One alone, or none, is searched for what it says.
func TestDocumentsOfAKind(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"boat-plan-2030.md": "# Boat plan 2030\n\nThe canoe is new.\n", "boat-plan-2031.md": "# Boat plan 2031\n\nThe raft is new.\n",
		"grafik-1.md": "# Grafik lipiec\n\nAnna pracuje w lipcu.\n", "grafik-2.md": "# Grafik maj\n\nAnna pracuje w maju.\n", "rafts.md": "# Rafts\n\nWe have two rafts.\n",
	})})
	for question, list := range map[string]bool{
		"Which boat plans do we have?": true, "welche boat plans haben wir": true, "jakie grafiki mamy": true, "Which rafts do we have?": false,
	} {
		r := ask(t, a, "", question)
		if got := strings.Count(r.Answer, "\n- ") == 2 && len(r.Citations) == 0; got != list || list && r.Abstained {
			t.Errorf("%s: a list is %v, declined %v: %s", question, got, r.Abstained, r.Answer)
		}
	}
}
