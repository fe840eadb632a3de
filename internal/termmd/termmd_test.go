package termmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/termmd"
	"example.com/ragflow/internal/text"
)

func cite(n int) string { return fmt.Sprintf("[%d]", n) }

func Example() {
	fmt.Println(termmd.Render("## Volumes\n\nThey *keep* data [Source 1].\n\n- one\n- two", termmd.Options{Cite: cite}))
	// Output:
	// ## Volumes
	//
	// They keep data [1].
	//
	// • one
	// • two
}

// All of Markdown, wide, narrow and with styles.
func TestRender(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("testdata", "all.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		o    termmd.Options
	}{
		{"plain", termmd.Options{Width: 80, Cite: cite}},
		{"narrow", termmd.Options{Width: 30, Cite: cite}},
		{"styled", termmd.Options{Width: 80, Style: true, Cite: cite, LongCode: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := termmd.Render(string(source), tt.o)
			golden.Assert(t, filepath.Join("testdata", tt.name+".golden"), []byte(strings.ReplaceAll(got, "\x1b", "␛")+"\n"))
		})
	}
}

// Nothing that a text holds commands the terminal, in whatever way it is put.
func TestHarmless(t *testing.T) {
	for _, tt := range []struct{ name, in string }{
		{"raw", "a\x1b[31mb"},
		{"entity", "a&#27;[31mb"},
		{"hex entity", "a&#x1b;]8;;x&#7;b"},
		{"code", "`a\x1b[2J`"},
		{"code block", "```\n\x1b[2J\n```"},
		{"C1", "a\u009b31mb"},
		{"link", "[a](<http://x/\x1b[31m>)"},
		{"image", "![a\x1b[31m](http://x/y.png)"},
		{"HTML", "<b title='\x1b[31m'>x</b>"},
		{"table", "| a\x1b[1A |\n| --- |\n| &#27;[1A |"},
		{"override", "a\u202eb"},
		{"zero width", "a&#x200b;b&#xe0041;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range termmd.Render(tt.in, termmd.Options{}) {
				if r < 0x20 && r != '\n' || r >= 0x7f && r <= 0x9f || text.Hidden(r) && r != '\n' {
					t.Errorf("%U came through", r)
				}
			}
		})
	}
}

// TestEscapes checks that escaped Markdown is shown as the plain character, except in code.
func TestEscapes(t *testing.T) {
	got := termmd.Render("write \\<name\\> \\* 3 and `a\\>b`", termmd.Options{})
	if want := "write <name> * 3 and `a\\>b`"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

var sgr = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// Whatever the text, no line is too wide and nothing harmful comes through.
func FuzzRender(f *testing.F) {
	f.Add("# a\n\n- b\n  > c `d`\n\n| a | b |\n|---|---|\n| c | d |\n", 20)
	f.Add("1. a\n\n   ```\n   x\n", 33)
	f.Add("*a **b* c** [Source 1][Source 2]", 40)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 20 + max(width, -width)%100
		for _, style := range []bool{false, true} {
			got := termmd.Render(text, termmd.Options{Width: width, Style: style, Cite: cite})
			for l := range strings.SplitSeq(sgr.ReplaceAllString(got, ""), "\n") {
				if strings.ContainsAny(l, "\x1b\x07\u009b") {
					t.Fatalf("a sequence came through: %q", l)
				}
				if w := ansi.StringWidth(l); w > max(width, 20) && strings.Count(l, "│") < 4 && len(l)-len(strings.TrimLeft(l, " •│0123456789.")) < 8 {
					t.Fatalf("a line of %d columns, more than %d: %q", w, width, l)
				}
			}
		}
	})
}
