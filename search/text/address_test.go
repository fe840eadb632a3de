package text_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	gtext "github.com/yuin/goldmark/text"

	"example.com/ragflow/search/text"
)

func TestQuoteAddresses(t *testing.T) {
	for in, want := range map[string]string{
		"See https://a.test/b?c=d.":                          "See `https://a.test/b?c=d`.",
		"See www.a.test, or boss@a.test!":                    "See `www.a.test`, or `boss@a.test`!",
		"_https://a.test/_ and *www.b.test*":                 "_`https://a.test/`_ and *`www.b.test`*",
		"(https://a.test/x_(y)) ftp://b.test":                "(`https://a.test/x_(y)`) `ftp://b.test`",
		"`curl https://a.test` stays":                        "`curl https://a.test` stays",
		"```\nhttps://a.test\n```\nhttps://b.test":           "```\nhttps://a.test\n```\n`https://b.test`",
		"- do:\n    ```sh\n    curl https://a.test\n    ```": "- do:\n    ```sh\n    curl https://a.test\n    ```",
		"a ` b https://a.test/x":                             "a ` b ``https://a.test/x``",
		"a ` b\nc https://a.test/x d":                        "a ` b\nc ``https://a.test/x`` d",
		"``x https://a.test `":                               "``x `https://a.test` `",
		`\https://a.test`:                                    "\\ `https://a.test`",
		"no address: 10.0.0.1, a@b, user:pass":               "no address: 10.0.0.1, a@b, user:pass",
		"| a | b |\n| - | - |\n| `x | y` https://a.test |":   "| a | b |\n| - | - |\n| `x | y` ``https://a.test`` |",
	} {
		got := text.QuoteAddresses(in)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := text.QuoteAddresses(got); again != got {
			t.Errorf("a second time: %q", again)
		}
	}
}

// FuzzQuoteAddresses looks at what a viewer with all of GitHub's extensions would make
// clickable. Links and HTML are the matter of others.
func FuzzQuoteAddresses(f *testing.F) {
	for _, s := range []string{
		"https://a.test", "`a\nb https://a.test` c", "\\`https://a.test`", "~~~\nwww.a.test\n~~~ x\nb@c.test", "1. ```\n   https://a.test",
		"|`a|b`\n|-|-\nhttps://a.test", "para\n2. x\n     ```\nhttps://a.test", "> ```\nhttps://a.test", "``\\`www.a.test``", "\thttp://a.test", "0|@a.test", "0`!@a.test", "0`!0@a.test",
	} {
		f.Add(s)
	}
	viewer := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "<[") {
			t.Skip()
		}
		got := text.QuoteAddresses(s)
		_ = ast.Walk(viewer.Parse(gtext.NewReader([]byte(got))), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			if n.Kind() == ast.KindAutoLink {
				t.Errorf("%q becomes %q, and %q is clickable", s, got, n.(*ast.AutoLink).Label([]byte(got)))
			}
			return ast.WalkContinue, nil
		})
	})
}
