package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"example.com/ragflow/internal/text"
)

func TestClean(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"spaces", "  a \t\r\n b\u00a0c\u2003d\u2028e ", "a b c d e"},
		{"spaces of ASCII", " \t a \r\n\v\f b c  d\n", "a b c d"},
		{"controls of ASCII", "\x01 a\x00b\x1f \x7f c\x1e", "ab c"},
		{"clean", "a b, c.", "a b, c."},
		{"nothing", "", ""},
		{"invalid", "a\xffb", "a\uFFFDb"},
		{"composed", "cafe\u0301", "café"},
		{"control", "a\x00b\x1b[31mc\x7f", "ab[31mc"},
		{"zero width", "a\u200bb\u200dc\ufeffd\u2060e", "abcde"},
		{"bidi", "a\u202eb\u2066c\u2069", "abc"},
		{"tags", "hi\U000E0068\U000E0069", "hi"},
		{"variation selectors", "a\U000E0100b", "ab"},
		{"what hides a combination", "e\u200d\u0301", "é"},
		{"only hidden", "\u200b\u00ad \u3164", ""},
		{"kept", "Giá 24.000 đồng? 🐳 `--mount`", "Giá 24.000 đồng? 🐳 `--mount`"},
	} {
		if got := text.Clean(tt.in); got != tt.want {
			t.Errorf("%s: Clean(%q) = %q, want %q", tt.name, tt.in, got, tt.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\u0301 \u200b\xff\U000E0041")
	f.Add("\x01 a\x00b\x1f \x7f c\x1e\t\v\n d ")
	f.Fuzz(func(t *testing.T, s string) {
		got := text.Clean(s)
		if again := text.Clean(got); again != got {
			t.Fatalf("Clean(%q) = %q, cleaned again %q", s, got, again)
		}
		if i := strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }); i < 0 { // not as text of ASCII alone
			if want := strings.TrimSpace(got + " é"); text.Clean(s+" é") != want {
				t.Fatalf("Clean(%q) = %q, want %q", s+" é", text.Clean(s+" é"), want)
			}
		}
		if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) || strings.TrimSpace(got) != got || strings.Contains(got, "  ") {
			t.Fatalf("Clean(%q) = %q is not clean", s, got)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return unicode.Is(unicode.Cc, r) }); i >= 0 {
			t.Fatalf("Clean(%q) = %q holds a control character", s, got)
		}
	})
}
