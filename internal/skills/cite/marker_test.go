package cite_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/skills/cite"
)

// TestValidate checks X13 and all forms of markers.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		n            int
		want         cite.Checked
	}{
		{"empty", "", 3, cite.Checked{}},
		{"none", "Plain text.", 3, cite.Checked{Text: "Plain text."}},
		{"one", "Use a volume [Source 2].", 3, cite.Checked{Text: "Use a volume [Source 2].", Cited: []int{2}}},
		{"unknown", "So it is [Source 9].", 3, cite.Checked{Text: "So it is.", Invalid: 1}},
		{"zero", "So [Source 0].", 3, cite.Checked{Text: "So.", Invalid: 1}},
		{"duplicates collapse", "A [Source 1]. B [Source 1]. C [Source 3][Source 1]", 3, cite.Checked{Text: "A [Source 1]. B [Source 1]. C [Source 3][Source 1]", Cited: []int{1, 3}}},
		{"comma", "A [Source 1, 3]", 3, cite.Checked{Text: "A [Source 1][Source 3]", Cited: []int{1, 3}}},
		{"and", "A [Sources 1 and 2]", 3, cite.Checked{Text: "A [Source 1][Source 2]", Cited: []int{1, 2}}},
		{"Oxford", "A [sources 1, 2, and 3]", 3, cite.Checked{Text: "A [Source 1][Source 2][Source 3]", Cited: []int{1, 2, 3}}},
		{"word again", "A [Source 1, Source 2; source #3]", 3, cite.Checked{Text: "A [Source 1][Source 2][Source 3]", Cited: []int{1, 2, 3}}},
		{"some unknown", "A [Source 1, 7, 8]", 3, cite.Checked{Text: "A [Source 1]", Cited: []int{1}, Invalid: 2}},
		{"same twice", "A [Source 1, 1]", 3, cite.Checked{Text: "A [Source 1]", Cited: []int{1}}},
		{"lower case, no space", "a [source1] b [SOURCE2]", 3, cite.Checked{Text: "a [Source 1] b [Source 2]", Cited: []int{1, 2}}},
		{"blanks inside", "a [ Source  1 ]", 3, cite.Checked{Text: "a [Source 1]", Cited: []int{1}}},
		{"range", "a [Sources 1-3]", 3, cite.Checked{Text: "a [Source 1][Source 2][Source 3]", Cited: []int{1, 2, 3}}},
		{"range beyond", "a [Sources 2–9]", 3, cite.Checked{Text: "a [Source 2][Source 3]", Cited: []int{2, 3}, Invalid: 1}},
		{"endless range", "a [Sources 1-99999999999999999999999]", 2, cite.Checked{Text: "a [Source 1][Source 2]", Cited: []int{1, 2}, Invalid: 1}},
		{"backward range", "a [Source 3-1]", 3, cite.Checked{Text: "a", Invalid: 1}},
		{"huge number", "a [Source 99999999999999999999999]", 3, cite.Checked{Text: "a", Invalid: 1}},
		{"one inside of another", "a [Source [Source 9]8] b [Source [Source 9]1]", 3, cite.Checked{Text: `a \[Source8] b [Source 1]`, Cited: []int{1}, Invalid: 3}},
		{"escaped", `a \[Source 9] b`, 3, cite.Checked{Text: `a \[Source 9] b`}},
		{"escaped backslash", `a \\[Source 1] b`, 3, cite.Checked{Text: `a \\[Source 1] b`, Cited: []int{1}}},
		{"code block", "A [Source 1]\n```\n[Source 9]\n```\nB [Source 2]", 3, cite.Checked{Text: "A [Source 1]\n```\n[Source 9]\n```\nB [Source 2]", Cited: []int{1, 2}}},
		{"open code block", "A\n~~~sh\n[Source 1]", 3, cite.Checked{Text: "A\n~~~sh\n[Source 1]"}},
		{"longer fence", "````\n```\n[Source 1]\n````\n[Source 1]", 3, cite.Checked{Text: "````\n```\n[Source 1]\n````\n[Source 1]", Cited: []int{1}}},
		{"no marker: text", "a [Source] b [Source one] c [Sourced 1] d [1]", 3, cite.Checked{Text: "a [Source] b [Source one] c [Sourced 1] d [1]"}},
		{"no marker: lines", "a [Source\n1]", 3, cite.Checked{Text: "a [Source\n1]"}},
		{"invalid UTF-8", "a\xff [Source 1]", 3, cite.Checked{Text: "a\xff [Source 1]", Cited: []int{1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cite.Validate(tt.answer, tt.n)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEscapeAndStrip(t *testing.T) {
	text := "See [Source 3] and [sources 1-2].\n```\n[Source 1]\n```\n"
	escaped := cite.Escape(text)
	if want := "See \\[Source 3] and \\[sources 1-2].\n```\n[Source 1]\n```\n"; escaped != want {
		t.Errorf("Escape: got %q, want %q", escaped, want)
	}
	if got := cite.Validate(escaped, 9); got.Cited != nil || got.Text != escaped {
		t.Errorf("an escaped text cites %v", got)
	}
	if got, want := cite.Strip("A [Source 1]. B [Source 9]"), "A. B"; got != want {
		t.Errorf("Strip: got %q, want %q", got, want)
	}
}

func FuzzValidate(f *testing.F) {
	for _, s := range []string{"A [Source 1, 3] b [Sources 2-9]", "```\n[Source 1]", `\[Source 1]`, "[source[Source 1]]", "[Source 1 and]"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, answer string, n int) {
		n = max(0, min(n, 50))
		first := cite.Validate(answer, n)
		for i, k := range first.Cited {
			if k < 1 || k > n || slices.Contains(first.Cited[:i], k) {
				t.Errorf("cites %v of %d sources", first.Cited, n)
			}
			if !strings.Contains(first.Text, cite.Marker(k)) {
				t.Errorf("%q does not hold %s", first.Text, cite.Marker(k))
			}
		}
		again := cite.Validate(first.Text, n)
		want := cite.Checked{Text: first.Text, Cited: first.Cited}
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("a valid answer changed (-want +got):\n%s", diff)
		}
		if got := cite.Validate(cite.Escape(answer), n); got.Cited != nil || got.Invalid != 0 {
			t.Errorf("escaped %q cites %+v", answer, got)
		}
	})
}
