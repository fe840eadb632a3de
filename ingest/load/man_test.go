package load_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest/load"
)

const page = `.\" a comment
.TH KILN "1" "May 2024" "Potter 2" "User Commands"
.SH NAME
kiln \- fire \fBclay\fR
.SH OPTIONS
Mandatory arguments
are mandatory.
.TP
\fB\-t\fR, \fB\-\-top\fR=\fI\,CONE\/\fR
highest cone;
the default is 6
.IP \(bu 2
one dot
.SS "Exit status"
.BR 0 ,
all is well
.PP
.nf
kiln \-t 9
    # a comment
.fi
`

const pageText = `## NAME

kiln - fire clay

## OPTIONS

Mandatory arguments are mandatory.

- -t, --top=CONE
  highest cone; the default is 6
- • one dot

### Exit status

0, all is well

` + "```\nkiln -t 9\n    # a comment\n```\n"

// TestMan: a manual page has its headings, entries and examples, also where it is compressed;
// another file with such a name has no loader.
func TestMan(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(page)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"kiln.1": []byte(page), "man1/kiln.1.gz": packed.Bytes()} {
		doc, err := load.Parse(t.Context(), name, data)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(pageText, doc.Text); d != "" || doc.Title != "KILN(1)" || doc.Line(0) != 3 {
			t.Errorf("%s: title %q, line %d, %s", name, doc.Title, doc.Line(0), d)
		}
	}
	doc, err := load.Parse(t.Context(), "ls.1", []byte(".Dd May 2024\n.Dt LS 1\n.Os\n.Sh NAME\n.Nm ls\n.Nd list\n.Sh OPTIONS\n.Bl -tag\n.It Fl a Ar file\nlist all\n.El\n"))
	if err != nil || doc.Title != "LS(1)" || doc.Text != "## NAME\n\nls list\n\n## OPTIONS\n\n- -a file\n  list all\n" {
		t.Errorf("mdoc: %q, %v", doc.Text, err)
	}
	for _, c := range []struct {
		name, data string
		want       error
	}{
		{"access.log.1", "127.0.0.1 GET /", load.ErrNoLoader},
		{"broken.1.gz", "\x1f\x8b127.0.0.1", load.ErrBroken},
	} {
		if _, err := load.Parse(t.Context(), c.name, []byte(c.data)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}
