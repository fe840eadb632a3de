package offline_test

import (
	"fmt"
	"testing"

	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// cutPage is a document as chunks that touch: what stands between them is white space.
func cutPage(name, title string, texts ...string) []state.Chunk {
	var out []state.Chunk
	at := 10
	for i, s := range texts {
		c := page(fmt.Sprint(name, i), title, s)
		c.Source, c.Ordinal, c.Start, c.End = name+".md", i, at, at+len(s)
		at = c.End + 2
		out = append(out, c)
	}
	return out
}

// TestWhatRunsOverACut shows sections, lists and blocks of code whole that were cut in
// two, each statement with the chunk it stands in; answer checks the quotes.
func TestWhatRunsOverACut(t *testing.T) {
	logs := cutPage("logs", "Logs", "## Rotate logs\n\nA log grows until it fills the disk of the machine that it is written on.",
		"To rotate logs, set the driver:\n\n```console\n$ box logs --rotate\n```\n\n## Delete logs\n\nOld logs go by themselves.")
	fence := cutPage("fence", "Mount boxes", "## Mount a box\n\nTo mount a box, run:\n\n```console\n$ box mount one", "$ box mount two\n```\n\nThat is all.")
	table := cutPage("table", "Ports", "Boxes use these ports:\n\n| Port | Use |\n| --- | --- |\n| 2377 | management of boxes |", "| 7946 | discovery of boxes |")
	menu := cutPage("menu", "Colours of boxes", "Boxes are made in the following colours:", "- Red boxes.\n- Blue boxes.\n\nNo box is green.")
	for _, tt := range []struct {
		name, question string
		chunks         []state.Chunk
		want, not      []string
	}{
		{"a section", "How do I rotate logs?", logs, []string{"To rotate logs, set the driver: [Source 2]", "$ box logs --rotate\n```\n[Source 2]"}, []string{"Old logs"}},
		{"a block of code", "How do I mount a box?", fence, []string{"$ box mount one\n```\n[Source 1]", "```console\n$ box mount two\n```\n[Source 2]"}, nil},
		{"a table", "Which ports do boxes use?", table, []string{"| 2377 | management of boxes |\n\n[Source 1]", "- 7946 — discovery of boxes [Source 2]"}, nil},
		{"a list and what leads into it", "In which colours are boxes made?", menu, []string{"Boxes are made in the following colours: [Source 1]\n\n- Red boxes. [Source 2]\n- Blue boxes. [Source 2]"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, docs(), task(tt.question, 0.9, tt.chunks...))
			checkWords(t, got.Text, tt.want, tt.not)
			report := cite.Check(got.Text, task("", 0, tt.chunks...).Sources, cite.Options{Language: "en"})
			if report.Precision != 1 || report.Recall != 1 || report.Faithfulness != 1 {
				t.Errorf("precision %v, recall %v, faithfulness %v of\n%s", report.Precision, report.Recall, report.Faithfulness, got.Text)
			}
			again := []state.Chunk{tt.chunks[1], tt.chunks[0]}
			if turned := answer(t, docs(), task(tt.question, 0.9, again...)); len(turned.Citations) != len(got.Citations) {
				t.Errorf("in the other order %d citations, want %d:\n%s", len(turned.Citations), len(got.Citations), turned.Text)
			}
		})
	}
	t.Run("a comment", func(t *testing.T) {
		hidden := cutPage("hidden", "Boxes", "Boxes are made of wood.\n\n<!-- Boxes are made of", "Boxes are made of gold.\n\nBoxes are made of glass. -->")
		checkWords(t, answer(t, docs(), task("What are boxes made of?", 0.9, hidden...)).Text, []string{"wood"}, []string{"gold", "glass"})
	})
}
