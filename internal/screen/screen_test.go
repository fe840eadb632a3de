package screen_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/screen"
)

func TestText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"lines", "one\r\ntwo", "one\ntwo\n"},
		{"newline alone keeps the column", "one\ntwo", "one\n   two\n"},
		{"back to the start", "one\rtw", "twe\n"},
		{"up and clear", "one\r\ntwo\x1b[1A\r\x1b[Jnew", "new\n"},
		{"clear to the end of the line", "one two\r\x1b[3C\x1b[K", "one\n"},
		{"scrolls", "1\r\n2\r\n3\r\n4", "1\n2\n3\n4\n"},
		{"wraps", "12345678901", "1234567890\n1\n"},
		{"wide", "日本語日本語", "日本語日本\n語\n"},
		{"clear all keeps what scrolled off", "1\r\n2\r\n3\r\n4\x1b[H\x1b[2Jx", "1\nx\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.in); size++ { // however it is cut
				s := screen.New(10, 3)
				for i := 0; i < len(tt.in); i += size {
					fmt.Fprint(s, tt.in[i:min(i+size, len(tt.in))])
				}
				if diff := cmp.Diff(tt.want, s.Text()); diff != "" {
					t.Fatalf("cut to %d bytes (-want +got):\n%s", size, diff)
				}
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	s := screen.New(10, 3)
	fmt.Fprint(s, "\x1b[5n\x1b]0;title\x1b\\\x1b[?2004h")
	if diff := cmp.Diff([]string{"5n", "\x1b]0;title"}, s.Unknown()); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

func ExampleScreen_Styled() {
	s := screen.New(40, 3)
	fmt.Fprint(s, "a \x1b[1mbold\x1b[0m \x1b]8;;file:///x\x1b\\link\x1b]8;;\x1b\\")
	fmt.Print(s.Styled())
	// Output: a ⟨1⟩bold⟨⟩ ⟨→file:///x⟩link⟨→⟩
}
