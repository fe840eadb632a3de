package openai

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
)

// TestWriter: wherever an answer is cut into pieces, the text and the places of its marks are the same.
func TestWriter(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]struct {
		text  string
		order []int
	}{
		"":                                    {"", nil},
		"Tak. [Source 4] Żółw [Source 2].":    {"Tak. [1] Żółw [2].", []int{4, 2}},
		"A [Source 3][Source 1] b [Source 3]": {"A [1][2] b [1]", []int{3, 1}},
		`quoted \[Source 9] and \\[Source 5]`: {`quoted \[Source 9] and \\[1]`, []int{5}},
		"```\n[Source 1]\n```\n[Source 2]":    {"```\n[Source 1]\n```\n[1]", []int{2}},
		"```\nx\n```\n[Source 2]\n```\n[S":    {"```\nx\n```\n[1]\n```\n[S", []int{2}},
		"[Source] [Sourdough 1] [Source 1a]":  {"[Source] [Sourdough 1] [Source 1a]", nil},
		"ends in [Source 12":                  {"ends in [Source 12", nil},
	} {
		for cut := range len(answer) + 1 {
			if !utf8.ValidString(answer[:cut]) {
				continue
			}
			var w writer
			got := w.write(answer[:cut]) + w.write(answer[cut:]) + w.close()
			if got != want.text || !slices.Equal(w.order, want.order) {
				t.Errorf("%q cut at %d: %q %v, want %q %v", answer, cut, got, w.order, want.text, want.order)
			}
			for _, m := range w.marks {
				if s := string([]rune(got)[m.start:m.end]); s != "["+string(rune('0'+m.n))+"]" {
					t.Errorf("%q: mark %d is %q", answer, m.n, s)
				}
			}
		}
	}
}

func TestSources(t *testing.T) {
	t.Parallel()
	reply := &ragflow.Reply{RunID: "r", SourcesHeader: "Quellen", Citations: []ragflow.CitationReply{
		{Citation: state.Citation{N: 2, Title: "A [b]", Source: "a.md", StartLine: 1, EndLine: 3, Quote: "x", URL: "https://a.test/(1)"}},
		{Citation: state.Citation{N: 1, Source: "b.pdf", Page: 2, Quote: "y"}, Pages: "Seite 2"},
		{Citation: state.Citation{N: 1, Source: "b.pdf", Page: 4, Quote: "z"}, Pages: "Seite 4"},
		{Citation: state.Citation{N: 3, Source: "c.md", Root: "/docs", StartLine: 7, EndLine: 7, Quote: "c"}},
	}}
	w := writer{}
	answer := w.write("x [Source 2] y [Source 1] z [Source 3]")
	sources := w.sources(reply, "http://localhost", func(c ragflow.CitationReply) string {
		return door.Documents{}.Link(t.Context(), "http://localhost", nil, c.Citation)
	})
	if diff := cmp.Diff([]string{"y", "z"}, sources[1].quotes); diff != "" {
		t.Error(diff)
	}
	said := answer + list(reply.SourcesHeader, sources)
	want := "x [1] y [2] z [3]\n\n**Quellen**\n\n- [1] [A \\[b\\]](https://a.test/%281%29) – a.md:1-3\n- [2] [b.pdf, Seite 2](http://localhost/v1/passages/r/1)" +
		"\n- [3] [c.md:7](http://localhost/d/-/a2557b8d/c.md#L7-L7)"
	if said != want {
		t.Errorf("got  %q\nwant %q", said, want)
	}
	if got := listed.ReplaceAllString(said, ""); got != answer {
		t.Errorf("without the list: %q", got)
	}
	if got := listed.ReplaceAllString(answer, ""); got != answer {
		t.Errorf("no list: %q", got)
	}
}
