package web

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
)

// TestMarkdown renders what documents and models may hold: text alone reaches the page.
func TestMarkdown(t *testing.T) {
	for _, text := range []string{
		"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "![x](https://evil.test/a.png)", "[x](javascript:alert(1))",
		"[x](https://evil.test/?q=1)", "<https://evil.test>", "<svg onload=alert(1)>", "<div hx-get=/ask hx-trigger=load>x</div>",
		"`<b>`", "```\n<script>\n```", "| <i>a</i> |\n| --- |\n| <a href=x>b</a> |", "<!-- x --> y", "<?php x ?>", "<![CDATA[x]]>",
		"[x]: javascript:alert(1)\n\n[x]", "&lt;script&gt;", "<script\n>\nalert(1)\n</script\n>",
		"[a](cite:1)", `[a](cite:"><script>)`, "# <u>x</u>", `[a](x "onclick=alert(1)")`, "\x00<b>", "<b\xff>",
	} {
		for kind, html := range map[string]string{
			"answer": string(answerHTML(text, func(n string) (string, string) { return "/t/a/cite/b/" + n, `"><b>` })),
		} {
			for rest := html; ; {
				_, after, found := strings.Cut(rest, "<")
				if !found {
					break
				}
				tag, _, _ := strings.Cut(strings.TrimPrefix(after, "/"), ">")
				name, attributes, _ := strings.Cut(tag, " ")
				switch {
				case name == "a" && attributes != "":
					if !strings.HasPrefix(attributes, `class="cite" data-into="#pane" href="/t/a/cite/b/`) || strings.Count(attributes, `"`) != 8 {
						t.Errorf("%s of %q links: %s", kind, text, html)
					}
				case name == "span" && attributes == `class="address"`:
				case attributes != "" && attributes != "/":
					t.Errorf("%s of %q has attributes: %s", kind, text, html)
				case !strings.Contains(" a span p h1 blockquote code pre table thead tbody tr th td em strong ul li br ", " "+strings.TrimSuffix(name, " /")+" "):
					t.Errorf("%s of %q has an element: %s", kind, text, html)
				}
				rest = after
			}
		}
	}
}

func TestAnswerCites(t *testing.T) {
	got := string(answerHTML("It rains. [Source 2] It pours. [Source 7] `[Source 2]`", func(n string) (string, string) {
		return map[string]string{"2": "/t/a/cite/r/0"}[n], "rain.md"
	}))
	want := `<p>It rains. <a class="cite" data-into="#pane" href="/t/a/cite/r/0" aria-label="rain.md">2</a> It pours. [Source 7] <code>[Source 2]</code></p>` + "\n"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestWords shows that every language says all, with the same values.
func TestWords(t *testing.T) {
	all := allWords()
	for name, english := range all["en"].said {
		for l, w := range all {
			said, ok := w.said[name]
			if !ok {
				t.Errorf("%s does not say %q", l, name)
			} else if strings.Count(said, "%") != strings.Count(english, "%") {
				t.Errorf("%s says %q with other values: %q", l, name, said)
			}
		}
	}
	for _, w := range all {
		for name := range w.said {
			if _, ok := all["en"].said[name]; !ok && !strings.HasSuffix(name, ".few") {
				t.Errorf("English does not say %q", name)
			}
		}
	}
}

// TestFaults shows that every error that a person can meet has a sentence of its kind, also when it is wrapped.
func TestFaults(t *testing.T) {
	english := allWords()["en"]
	for _, k := range kinds {
		if _, err := english.say("fault." + k.kind); err != nil {
			t.Error(err)
		}
		for _, known := range k.errs {
			err := fmt.Errorf("node %q: %w", "generate", known)
			if got := newFault(err); got != (fault{k.kind, err.Error()}) {
				t.Errorf("%v is %v, want %s", err, got, k.kind)
			}
		}
	}
	for kind, err := range map[string]error{
		"budget": &graph.NodeError{Node: "generate", Err: &agent.LimitError{Limit: "cost"}}, "model": &llm.Error{Kind: llm.ErrUnavailable},
		"timeout": &graph.TimeoutError{}, "other": errors.New("model not found"),
	} {
		if got := newFault(err); got.Kind != kind {
			t.Errorf("%v is %v, want %s", err, got, kind)
		}
	}
}
