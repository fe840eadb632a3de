package offline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestOutlineInside: what begins in the middle of a block of code is code up to the line
// that closes the block, and not the other way around.
func TestOutlineInside(t *testing.T) {
	for _, tt := range []struct {
		name, inside, text string
		want               []string
	}{
		{"the end of a block", "```yaml", "  b: 2\n```\n\nThen run it. It starts.\n\n```console\n$ run\n```", []string{
			"```yaml\nb: 2\n```", "Then run it.", "It starts.", "```console\n$ run\n```",
		}},
		{"nothing but code", "~~~ go {linenos=true}", "a := 1\n```\nb := 2", []string{"````go\na := 1\n```\nb := 2\n````"}},
		{"nothing but the end", "```", "```\nProse is here.", []string{"Prose is here."}},
		{"no fence", "what is this", "Prose is here.", []string{"Prose is here."}},
		{"in a quotation", "> ```sh", "> ls\n> ```\n> Said.", []string{"```sh\n> ls\n```", "Said."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			units, _ := outlineInside(state.Source{Chunk: state.Chunk{Text: tt.text, Cut: state.Cut{Inside: tt.inside}}}, "")
			for _, u := range units {
				switch raw := tt.text[u.start:u.end]; {
				case u.bare:
					got = append(got, bareBlock(raw, u.language))
				case u.kind == code:
					got = append(got, codeBlock(raw))
				default:
					got = append(got, tidy(raw))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestCodeParts: a long block of code comes in parts that end where it has blank or less
// indented lines, each of which knows how many lines follow.
func TestCodeParts(t *testing.T) {
	var s strings.Builder
	s.WriteString("Use this:\n\n```yaml\n")
	for i := range 30 {
		fmt.Fprintf(&s, "box%d:\n  size: %d\n", i, i)
	}
	s.WriteString("```\n\nThat is all.")
	whole := s.String()
	all := units(whole)
	if len(all) != 3 {
		t.Fatalf("%d units", len(all))
	}
	parts := cutCode(whole, all, nil)
	lines, began := 0, -1
	for i, u := range parts {
		if u.kind != code {
			continue
		}
		if began < 0 {
			began = i
		}
		raw := whole[u.start:u.end]
		n := strings.Count(raw, "\n") + 1
		if lines += n; n > codeLinesShown+1 || u.part != i-began+1 || u.lead != 0 || u.part > 1 && !strings.HasPrefix(raw, "box") {
			t.Errorf("part %d of %d lines with lead %d: %q", u.part, n, u.lead, raw)
		}
		if want := 61 - lines; u.more != want { // with the line that opens the block
			t.Errorf("%d more lines behind part %d, want %d", u.more, u.part, want)
		}
	}
	if last := parts[len(parts)-1]; lines != 61 || whole[last.start:last.end] != "That is all." {
		t.Errorf("%d lines of code, and %q", lines, whole[last.start:last.end])
	}
	open := whole[:strings.LastIndex(whole, "\n```")]
	for _, u := range cutCode(open, units(open), nil) {
		if u.part > 0 && u.more != -1 {
			t.Errorf("%d more lines of a block that runs over the end", u.more)
		}
	}
}

// FuzzLongCode holds that passages that begin in code, and those that are cut, are taken
// apart into units that lie in them, in order.
func FuzzLongCode(f *testing.F) {
	f.Add("```yaml", "  b: 2\n```\n\nThen run it.\n\n```\n"+strings.Repeat("x: 1\n\n  y: 2\n", 30)+"```\n", 40)
	f.Add("> ~~~", "> a\n> ~~~\n- item:\n\n  ```sh\n"+strings.Repeat("  $ ls\n", 60)+"  ```\n", 100)
	f.Fuzz(func(t *testing.T, inside, s string, at int) {
		var starts []int
		if at > 0 && at < len(s) {
			starts = []int{at}
		}
		units, _ := outlineInside(state.Source{Chunk: state.Chunk{Text: s, Cut: state.Cut{Inside: inside}}}, "")
		for _, all := range [][]unit{units, cutCode(s, units, starts)} {
			end := 0
			for i, u := range all {
				if u.start < end || u.end <= u.start || u.end > len(s) || u.lead >= i || u.head >= i {
					t.Fatalf("unit %d of %d at %d to %d behind %d, lead %d, head %d", i, len(all), u.start, u.end, end, u.lead, u.head)
				}
				end = u.end
			}
		}
	})
}
