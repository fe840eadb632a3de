package transcript_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"

	"example.com/ragflow/state"
	"example.com/ragflow/transcript"
)

// TestSourcesAreOutsideOfCode renders answers with fences inside of code, as a page
// about Markdown has, and checks that the sources are not part of the code.
func TestSourcesAreOutsideOfCode(t *testing.T) {
	for _, tt := range []struct{ name, answer string }{
		{"fence in a longer fence", "````markdown\n```sh\nls\n```\n````\n[Source 1]"},
		{"backticks in tildes", "~~~\n```\nls\n```\n~~~\n[Source 1]"},
		{"fence with info in a fence", "```\n```sh\nls\n```\n[Source 1]"},
		{"fence that is never closed", "Text. [Source 1]\n\n```sh\nls"},
		{"indented fence as content", "```\n  ```sh\n```\n[Source 1]"},
		{"closed with spaces before", "```\nls\n  ```\n[Source 1]"},
		{"closed by a longer run", "```\nls\n`````\n[Source 1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := transcript.Run{State: state.State{
				Messages: []state.Message{{ID: "1", Role: state.Human, Content: "How?"}},
				Turn: state.Turn{Answer: tt.answer, Citations: []state.Citation{
					{N: 1, Source: "a.md", Title: "A", StartLine: 1, EndLine: 2, Quote: "ls"},
				}},
			}}
			md := transcript.AnswerMD(r, transcript.Options{})
			var html bytes.Buffer
			if err := goldmark.Convert([]byte(md), &html); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(html.String(), "<h2>References</h2>") {
				t.Errorf("the sources are part of a code block:\n%s", md)
			}
		})
	}
}
