package quote_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/quote"
)

// TestMark reads mails in the shapes of the tests of talon and email_reply_parser, in our own words. Each begins
// below a line "= name"; "|" is before the lines that its writer wrote, and all others are quoted.
func TestMark(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "quotes.txt"))
	if err != nil {
		t.Fatal(err)
	}
	mails := strings.Split(strings.TrimPrefix(string(data), "= "), "\n= ")
	if len(mails) < 55 {
		t.Fatalf("%d mails", len(mails))
	}
	for _, s := range mails {
		name, lines, _ := strings.Cut(s, "\n")
		t.Run(name, func(t *testing.T) {
			var want []string
			var body strings.Builder
			for line := range strings.Lines(lines) {
				own, ok := strings.CutPrefix(line, "|")
				body.WriteString(own)
				if own = strings.TrimSpace(own); ok && own != "" {
					want = append(want, own)
				}
			}
			marked := quote.Mark(body.String())
			var got []string
			for line := range strings.Lines(marked) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, ">") {
					got = append(got, line)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what is not quoted (-want +got):\n%s\n%s", diff, marked)
			}
		})
	}
}
