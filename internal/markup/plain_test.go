package markup_test

import (
	"slices"
	"testing"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/markup"
)

// TestIndentedCode finds the code in a manual page as a terminal shows it.
func TestIndentedCode(t *testing.T) {
	const text = "TAR(1)   Manual\n\nDESCRIPTION\n       It stores files.\n\n       -c, --create\n              Create a new archive.\n\n" +
		"              Folders are stored with all in them.\n\nEXAMPLES\n       To make an archive, enter:\n\n" +
		"           tar -cf a.tar \\\n               one two\n\n           ls -l\n\n       To list it, use t. Files:\n\n           - one\n           - two\n"
	var got []string
	for _, b := range markup.Plain(text, 0) {
		if b.Kind == document.KindCode {
			got = append(got, text[b.Start:b.End])
		}
	}
	if want := []string{"           tar -cf a.tar \\\n               one two\n\n           ls -l\n\n"}; !slices.Equal(got, want) {
		t.Errorf("code %q, want %q", got, want)
	}
}
