package offline

import (
	"slices"
	"strings"
	"testing"
)

// The words of a text are those that its letters, digits, marks and apostrophes make.
func TestPlainWords(t *testing.T) {
	for _, s := range []string{
		"", " ", "one", " Don’t stop, it's 12 o'clock! ", "Zażółć GĘŚLĄ jaźń", "cơ sở dữ liệu\n–", "日本語 text", "e\u0301tat\u00a0x", "bad \xff bytes\xc3", "½ Ⅷ a_b--c",
	} {
		want := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !isWordRune(r) })
		if got := plainWords(s); !slices.Equal(got, want) {
			t.Errorf("words of %q are %q, want %q", s, got, want)
		}
	}
}
