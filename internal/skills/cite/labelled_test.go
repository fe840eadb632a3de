package cite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// statement is a labelled case: whether the source at index cited of its language supports it.
type statement struct {
	lang, half, label, text string
	cited                   int
}

// labelled reads testdata/support.txt: its statements, and the sources of each language.
func labelled(t *testing.T) ([]statement, map[string][]state.Source) {
	t.Helper()
	data, err := os.ReadFile("testdata/support.txt")
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string][]state.Source{}
	var all []statement
	var lang, half string
	for line := range strings.Lines(string(data)) {
		label, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case label == "" || len(all) == 0 && lang == "" && label == "#":
		case label == "=":
			f := strings.Fields(rest)
			lang, half = f[0], f[1]
			sources[lang] = append(sources[lang], state.Source{Chunk: state.Chunk{ID: f[2], Source: f[2] + ".md", Title: f[2]}})
		case len(label) == 1 && strings.Contains("+#@!?&", label):
			all = append(all, statement{lang, half, label, rest, len(sources[lang])})
		default:
			s := &sources[lang][len(sources[lang])-1]
			s.Text += line
		}
	}
	return all, sources
}

// TestLabelled reports how often the check is right about our own statements, by kind of mistake. The
// thresholds were chosen on the half marked choose.
func TestLabelled(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of statements; nothing of it runs side by side")
	}
	all, sources := labelled(t)
	names := map[string]string{"+": "said", "#": "wrong figure", "@": "wrong source", "!": "negated", "?": "invented", "&": "wrong name"}
	type cell struct{ right, n int }
	table := map[string]*cell{}
	add := func(key string, right bool) {
		if table[key] == nil {
			table[key] = &cell{}
		}
		table[key].n++
		if right {
			table[key].right++
		}
	}
	var wrong strings.Builder
	for _, s := range all {
		r := cite.Check(s.text+" "+cite.Marker(s.cited), sources[s.lang], cite.Options{Language: s.lang})
		if len(r.Sentences) != 1 || len(r.Sentences[0].Sources) != 1 {
			t.Fatalf("%q is taken apart as %+v", s.text, r.Sentences)
		}
		one := r.Sentences[0]
		right := one.Supported == (s.label == "+")
		if s.label == "@" { // and the right source is known
			right = right && one.Grounded
		}
		add(s.half+" all", right)
		add(s.half+" "+s.lang, right)
		add(s.half+" "+names[s.label], right)
		if !right {
			x := one.Sources[0]
			fmt.Fprintf(&wrong, "%s %s %s: %s\n  near %.2f missing %q contrary %q\n",
				s.half, s.lang, names[s.label], s.text, x.Near, x.Missing, x.Contrary)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d labelled statements (testdata/support.txt). Cut-offs were chosen on half \"choose\" alone; \"report\" is what counts.\nTwo faults of the rules (which word a negation denies; names beside codes) were mended after both halves had been read.\n\n", len(all))
	fmt.Fprintf(&b, "%-14s %-14s %-14s\n", "", "choose", "report")
	for _, row := range []string{"all", "en", "pl", "vi", "said", "wrong figure", "wrong source", "negated", "invented", "wrong name"} {
		c, r := table["choose "+row], table["report "+row]
		fmt.Fprintf(&b, "%-14s %-14s %-14s\n", row, fmt.Sprintf("%d/%d", c.right, c.n), fmt.Sprintf("%d/%d", r.right, r.n))
	}
	b.WriteString("\nJudged wrongly:\n" + wrong.String())
	golden.Assert(t, "testdata/support.golden", []byte(b.String()))
}
