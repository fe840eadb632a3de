package hostile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/llm"
)

// links are ways to write an address so that a viewer of Markdown makes it clickable, loads it, or reads the
// code around it as text.
var links = []string{
	"https://evil.test/a", "HTTPS://EVIL.TEST/A", "www.evil.test", "_www.evil.test_", "**https://evil.test/b**", "boss@evil.test",
	"<https://evil.test/c>", "<boss@evil.test>", "<javascript:alert(1)>", "<ftp://evil.test>", "ftp://evil.test/d",
	"[a](https://evil.test)", "[a]( https://evil.test 't')", "[a](<https://evil.test>)", "[a](//evil.test)", "[a]( //evil.test )", "[a](javascript:x)",
	"[a][b] and [b]\n\n[b]: https://evil.test", "[b][]\n\n[b]: <//evil.test> 'x'", "[b]\n\n  [b]:\n  https://evil.test",
	"![a](https://evil.test/p.png)", "![a][b]\n\n[b]: https://evil.test/p.png", "[![a](https://evil.test/p.png)](https://evil.test)",
	"<a href='https://evil.test'>a</a>", "<img src=https://evil.test/p.png>", "<A\nHREF=//evil.test>a</A>", "<svg/onload=x>",
	"a ` b https://evil.test/e", "``a` https://evil.test/f", "\\`https://evil.test/g`", "`a\\` https://evil.test/h `", "\\https://evil.test/i",
	"| a | b |\n| - | - |\n| `x | y` https://evil.test/j |", "~~~ `\nx\n~~~\nhttps://evil.test/k", "``` a`b\nhttps://evil.test/l\n```", "```\nx\n````x\nhttps://evil.test/m",
	"- a\n\n      https://evil.test/n", "1. ```\n\nhttps://evil.test/o\n```", "> ```\nhttps://evil.test/q", "&#104;ttps://evil.test/r", "https\u200b://evil.test/s",
	"\x1b]8;;https://evil.test\x1b\\a\x1b]8;;\x1b\\", "(https://evil.test/x_(y)_z)", "xmpp:boss@evil.test/a", "mailto:boss@evil.test", "https://evil.test/?a=1&b=2.",
}

// TestLinks puts each of them on a page that answers a question. The answer, answer.md, flow_trace.md and the
// terminal show it as text of the page, with its source, and nothing in them is clickable.
func TestLinks(t *testing.T) {
	for _, link := range links {
		page := "# Kestrel valve\n\nThe kestrel valve opens at 7 bar. See " + link + "\n\nThe kestrel valve is checked every spring.\n"
		for _, chat := range []llm.Chat{nil, scripted{func(llm.Request) string { return page + " [Source 1]" }}} {
			docs := t.TempDir()
			if err := os.WriteFile(filepath.Join(docs, "page.md"), []byte(page), 0o600); err != nil {
				t.Fatal(err)
			}
			draft := ""
			a, err := ragflow.Open(t.Context(), ragflow.Config{
				Docs: []string{docs}, Models: ragflow.Models{Chat: chat}, Settings: ragflow.Settings{NoModelGrading: true},
			})
			if err != nil {
				t.Fatal(err)
			}
			var r *ragflow.Reply
			for e, err := range a.Stream(t.Context(), ragflow.Question{Text: "At how many bar does the kestrel valve open?", Trace: true}) {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == ragflow.Withdrawn {
					draft = ""
				}
				if draft += e.Text; clickable(draft) != "" {
					t.Errorf("%q: while it was written the answer had %s\n%s", link, clickable(draft), draft)
				}
				r = e.Reply
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			for name, shown := range map[string]string{"answer": r.Answer, "answer.md": r.AnswerMD, "flow_trace.md": r.FlowTraceMD} {
				if kind := clickable(shown); kind != "" {
					t.Errorf("%q: %s has %s\n%s", link, name, kind, shown)
				}
				for _, style := range []bool{false, true} {
					if out := termmd.Render(shown, termmd.Options{Style: style, Width: 80}); strings.Contains(out, "\x1b]") {
						t.Errorf("%q: %s on a terminal has an OSC sequence: %q", link, name, out)
					}
				}
			}
			if !strings.Contains(r.Answer, "[Source 1]") {
				t.Errorf("%q: the answer does not say whose it is:\n%s", link, r.Answer)
			}
		}
	}
}
