package cite_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

const document = "# Volumes\n\nVolumes keep data.\nThey outlive the container – always.\n\nEnd.\n"

// source returns the chunk document[start:end].
func source(start, end int) state.Source {
	return state.Source{Score: 0.7, Chunk: state.Chunk{
		ID: "id", Root: "/docs", Source: "volumes.md", Title: "Volumes", Hash: "h",
		Text: document[start:end], Start: start, End: end,
		StartLine: 1 + strings.Count(document[:start], "\n"),
	}}
}

func TestBuild(t *testing.T) {
	src := source(11, len(document))
	quote := "They outlive the container – always.\n"
	at := strings.Index(src.Text, quote)
	got, err := cite.Build([]state.Source{source(0, 10), src},
		cite.Pick{N: 2, Start: at, End: at + len(quote)},
		cite.Pick{N: 1},
		cite.Pick{N: 2, Start: at, End: at + len(quote)},
		cite.Pick{N: 1, Start: 0, End: 10},
	)
	if err != nil {
		t.Fatal(err)
	}
	want := []state.Citation{
		{N: 2, Source: "volumes.md", Root: "/docs", Title: "Volumes", Start: 30, End: 30 + len(quote), StartLine: 4, EndLine: 4, Quote: quote, Score: 0.7, Chunk: "id", Hash: "h"},
		{N: 1, Source: "volumes.md", Root: "/docs", Title: "Volumes", Start: 0, End: 10, StartLine: 1, EndLine: 1, Quote: "# Volumes\n", Score: 0.7, Chunk: "id", Hash: "h"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, c := range got {
		if !c.QuotedIn([]byte(document)) {
			t.Errorf("%+v is not in the document", c)
		}
		if c.QuotedIn([]byte("x" + document)) {
			t.Errorf("%+v is said to be in a changed document", c)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	sources := []state.Source{source(11, len(document))}
	dash := strings.Index(sources[0].Text, "–")
	for _, tt := range []struct {
		name string
		pick cite.Pick
		want string
	}{
		{"no source 0", cite.Pick{N: 0}, "cite source 0: there are 1 sources"},
		{"no source 2", cite.Pick{N: 2}, "cite source 2: there are 1 sources"},
		{"empty", cite.Pick{N: 1, Start: 3, End: 3}, "no span"},
		{"backward", cite.Pick{N: 1, Start: 3, End: 2}, "no span"},
		{"negative", cite.Pick{N: 1, Start: -1, End: 2}, "no span"},
		{"too long", cite.Pick{N: 1, Start: 0, End: 1000}, "no span"},
		{"start cuts a character", cite.Pick{N: 1, Start: dash + 1, End: dash + 5}, "no span"},
		{"end cuts a character", cite.Pick{N: 1, Start: 0, End: dash + 1}, "no span"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := cite.Build(sources, tt.pick)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v and error %v, want an error with %q", got, err, tt.want)
			}
		})
	}
}

func TestVerifyBounds(t *testing.T) {
	for _, c := range []state.Citation{{Start: -1, End: 2}, {Start: 2, End: 1}, {Start: 0, End: 99}, {}} {
		if c.QuotedIn([]byte("text")) {
			t.Errorf("%+v is said to stand in the text", c)
		}
	}
}

// TestSnippet checks X10.
func TestSnippet(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", ""},
		{"short", "short", "short"},
		{"exactly 200", strings.Repeat("é", 200), strings.Repeat("é", 200)},
		{"201", strings.Repeat("é", 201), strings.Repeat("é", 200) + "..."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cite.Snippet(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzBuild(f *testing.F) {
	f.Add("Volumes keep\ndata – always.\n", 3, 9)
	f.Add("\n\n", 0, 1)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		doc := "before\n" + text + "\nafter"
		src := state.Source{Chunk: state.Chunk{Text: text, Start: 7, End: 7 + len(text), StartLine: 2}}
		got, err := cite.Build([]state.Source{src}, cite.Pick{N: 1, Start: a, End: b})
		if err != nil {
			return
		}
		c := got[0]
		if !c.QuotedIn([]byte(doc)) {
			t.Errorf("%+v does not stand in %q", c, doc)
		}
		if utf8.ValidString(text) && !utf8.ValidString(c.Quote) {
			t.Errorf("%q cuts a character", c.Quote)
		}
		var cited strings.Builder
		for i, line := range slicesOfLines(doc) {
			if i+1 >= c.StartLine && i+1 <= c.EndLine {
				cited.WriteString(line)
			}
		}
		if !strings.Contains(cited.String(), c.Quote) {
			t.Errorf("%q does not stand in lines %d to %d of %q", c.Quote, c.StartLine, c.EndLine, doc)
		}
	})
}

func slicesOfLines(s string) []string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, line)
	}
	return out
}
