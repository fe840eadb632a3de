package text

import (
	"regexp"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// address is what viewers of Markdown make clickable by itself: addresses with a scheme,
// those that begin with www., and mail addresses. Some viewers take a bar or a backtick for a
// part of the name where no letter follows it.
var address = regexp.MustCompile(`(?:(?i:[a-z][a-z0-9+.-]*://|www\.|mailto:)(?:[^\s<>"'` + "`" + `()\\\]|]|\([^\s<>"'` + "`" + `()\\\]|]*\))+|\w(?:[\w.!#$%&'*+/=?^{}~-]*|[\w.!#$%&'*+/=?^{}~|` + "`" + `-]*[|` + "`" + `][.!#$%&'*+/=?^{}~-]*)@[\w-]+(?:\.[\w-]+)+)`)

// Addresses returns where the addresses of a text stand that viewers of Markdown make
// clickable by themselves, without the punctuation behind them.
func Addresses(s string) []Span {
	var out []Span
	for _, at := range address.FindAllStringIndex(s, -1) {
		out = append(out, Span{at[0], at[0] + len(strings.TrimRight(s[at[0]:at[1]], ".,;:!?*_~"))})
	}
	return out
}

// QuoteAddresses puts the addresses of a Markdown text that do not stand in code yet into
// inline code, so that no viewer makes them clickable.
func QuoteAddresses(s string) string {
	bare, _ := bareAddresses(s)
	if len(bare) == 0 {
		return s
	}
	longest := 0
	for _, run := range backticks.FindAllString(s, -1) {
		longest = max(longest, len(run))
	}
	for _, fence := range []string{"`", strings.Repeat("`", longest+1)} { // a stray backtick may take one of a pair
		out := quoteBare(s, fence)
		if _, shown := bareAddresses(out); shown == 0 {
			return out
		}
	}
	return quoteBare(strings.ReplaceAll(s, "`", ""), "`")
}

var backticks = regexp.MustCompile("`+")

// quoteBare puts fence on both sides of each address outside of code, with a space where
// a backtick, a backslash or a bar stands next to it, which would join it.
func quoteBare(s, fence string) string {
	bare, _ := bareAddresses(s)
	var b strings.Builder
	at := 0
	for _, a := range bare {
		b.WriteString(s[at:a.Start])
		if a.Start > 0 && strings.IndexByte("`\\|", s[a.Start-1]) >= 0 {
			b.WriteByte(' ')
		}
		b.WriteString(fence + s[a.Start:a.End] + fence)
		if a.End < len(s) && s[a.End] == '`' {
			b.WriteByte(' ')
		}
		at = a.End
	}
	return b.String() + s[at:]
}

// viewers parse Markdown as viewers do: some know tables, whose cells come before code, and some
// take a backtick within a mail address for a part of it before they look for code.
var viewers = sync.OnceValue(func() []parser.Parser {
	parsers := []parser.Parser{goldmark.New().Parser()}
	for _, e := range []goldmark.Extender{extension.Table, extension.GFM} {
		parsers = append(parsers, goldmark.New(goldmark.WithExtensions(e)).Parser())
	}
	return parsers
})

// bareAddresses returns the addresses that no viewer takes for code or that some viewer
// shows as text, and how many are shown or clickable.
func bareAddresses(s string) (bare []Span, shown int) {
	all := Addresses(s)
	if len(all) == 0 {
		return nil, 0
	}
	code, prose := make([]bool, len(all)), make([]bool, len(all))
	for _, viewer := range viewers() {
		mark := func(segment text.Segment, as []bool) {
			for i, a := range all {
				as[i] = as[i] || segment.Start < a.End && a.Start < segment.Stop
			}
		}
		_ = ast.Walk(viewer.Parse(text.NewReader([]byte(s))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.CodeBlock, *ast.FencedCodeBlock:
				for _, segment := range n.Lines().Sliced(0, n.Lines().Len()) {
					mark(segment, code)
				}
			case *ast.AutoLink:
				shown++
			case *ast.Text:
				if n.Parent().Kind() == ast.KindCodeSpan {
					mark(n.Segment, code)
				} else {
					mark(n.Segment, prose)
				}
			}
			return ast.WalkContinue, nil // the walker returns no error of its own
		})
	}
	for i, a := range all {
		if prose[i] || !code[i] {
			bare = append(bare, a)
		}
		if prose[i] {
			shown++
		}
	}
	return bare, shown
}
