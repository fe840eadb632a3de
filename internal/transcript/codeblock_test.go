package transcript_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"example.com/ragflow/internal/transcript"
	"example.com/ragflow/state"
)

// TestSourcesAreOutsideOfCode renders answers with fences inside code, as in a page about Markdown, and
// checks that the sources are not part of the code.
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
			if !strings.Contains(html.String(), "<h2>Sources</h2>") {
				t.Errorf("the sources are part of a code block:\n%s", md)
			}
		})
	}
}

// TestActiveParts checks that nothing in an answer is active in a viewer, even if a tag ends or begins a code
// block.
func TestActiveParts(t *testing.T) {
	viewer := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	for _, answer := range []string{
		"<script>alert(1)</script>",
		"<pre>\n```\n</pre>\n\n```\n<img src=x>\n```",
		"<!--\n```\n-->\n\n```\n<img src=x>",
		"- ```\n<img src=x>\n```\n<img src=y>",
		"> ```\n<img src=x>",
		"a `b\n\n<img src=x> c`",
		"| a |\n| - |\n| `x | <img src=x>` |",
		"`<img src=x>` and \\`<img src=y>\\`",
		"![x](http://evil/a.png) ![y][z]\n\n[z]: http://evil/b.png",
		"~~~\n<img src=x>\n```\n~~~\n<img src=y>",
		"    <img src=x>\n\n1. a\n\n        <img src=y>\n   <img src=z>",
		strings.Repeat("<pre>\n```\n</pre>\n```\n", 12) + "<img src=x>",
	} {
		r := transcript.Run{State: state.State{Turn: state.Turn{Answer: answer}}}
		var page bytes.Buffer
		if err := viewer.Convert([]byte(transcript.AnswerMD(r, transcript.Options{})), &page); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(page.String(), "<img") || strings.Contains(page.String(), "<script") || strings.Contains(page.String(), "<!--") {
			t.Errorf("%q is active:\n%s", answer, &page)
		}
	}
}
