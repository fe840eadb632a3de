package text_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/text"
)

func sentences(s string) []string {
	var out []string
	for _, p := range text.Sentences(s) {
		out = append(out, s[p.Start:p.End])
	}
	return out
}

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		name string
		want []string // joined by sep they are the input
		sep  string
	}{
		{"plain", []string{"It stops.", "Then it starts!", "Does it?", "Yes"}, " "},
		{"across lines", []string{"It stops\nat night.", "It starts\nagain."}, "\n"},
		{"abbreviations", []string{"Use a tool, e.g. Docker or i.e. Compose, vs. Podman.", "Ask Dr. Smith or J. R. Doe.", "Done."}, " "},
		{"etc ends", []string{"Images, volumes, etc.", "They stay."}, " "},
		{"versions", []string{"It came with v1.2.", "Since v28.5.1 it works."}, " "},
		{"numbers", []string{"Giá là 24.000 đồng.", "It costs $3.50 or 1.5 GB."}, " "},
		{"names with dots", []string{"Node.js reads docker-compose.yml at https://docs.docker.com/a.b/?q=1!2.", "Next."}, " "},
		{"inline code", []string{"Run `docker stop. Now. Go` first.", "Then ``a ` b. C`` again."}, " "},
		{"unclosed code", []string{"A ` tick.", "And more."}, " "},
		{"small letter goes on", []string{"Yahoo! is a name. npm too."}, " "},
		{"closers", []string{"(See above.)", "\"Stop.\"", "**Bold.**", "Next."}, " "},
		{"list", []string{"Steps:", "1. Open it. ", "2. Close it.", "- a", "* b"}, "\n"},
		{"list item of two", []string{"- Open it.", "Close it.", "- Next"}, "\n"},
		{"item goes on", []string{"- Open the\n  window", "- Next"}, "\n"},
		{"headings", []string{"# Title. With dot", "Text.", "## Next", "More."}, "\n"},
		{"setext", []string{"Title", "=====", "Text."}, "\n"},
		{"table", []string{"| A. B | C |", "|---|---|", "| x. Y | z |"}, "\n"},
		{"fence", []string{"Run:", "```console\n$ docker run. Now.\n\n# Not a heading\n```", "Then."}, "\n"},
		{"fence in a list", []string{"1. Run:", "```sh\na. B\n\nc\n   ```", "Then."}, "\n   "},
		{"fence of tildes", []string{"~~~\n```\nA. B\n~~~", "x"}, "\n"},
		{"open fence", []string{"```\nA. B\n\nC"}, ""},
		{"shortcodes", []string{"{{< tabs >}}", "{{< tab name=\"A. B\" >}}", "Text.", "{{< /tab >}}"}, "\n"},
		{"comment", []string{"<!-- a. B -->", "Text."}, "\n"},
		{"blank lines", []string{"No stop", "Here"}, "\n\n \n"},
		{"quote", []string{"> [!NOTE]\n> It runs.", "> It stays."}, "\n"},
		{"crlf", []string{"One.", "Two"}, "\r\n\r\n"},
		{"chinese", []string{"它停止。", "它开始！", "好"}, ""},
		{"polish", []string{"Użyj np. Dockera, tzn. demona.", "Gotowe."}, " "},
		{"initial of a person and I", []string{"So do I.", "And J. Doe."}, " "},
		{"articles of a law", []string{"Điều 5. Quyền của người bán.", "Theo Điều 5. khoản 2 thì đúng.", "Art. 7. Prawo do nauki.", "§ 3. Opłaty."}, " "},
		{"a law ends a sentence", []string{"Xem Điều 5.", "Người bán chịu phí."}, " "},
		{"before a number", []string{"Zob. art. 5 ust. 2 pkt. 3, poz. 7 i Nr. 5.", "O godz. 15.", "See p. 7, Sect. 2 and Jan. 5, 2020.", "Xem tr. 5."}, " "},
		{"addresses", []string{"Mieszka przy ul. Długa 5, al. Jana Pawła II, pl. Wolności, os. Młodych.", "Koniec."}, " "},
		{"initials of names", []string{"The U.S. Army came to Washington, D.C. before him.", "He left the U.S.", "Then it rained."}, " "},
		{"german", []string{"Nutze z. B. Docker, z.B. Podman, d.h. Container.", "Siehe Nr. 5 und S. 6.", "Fertig."}, " "},
		{"steps in a line", []string{"1. Open it.", "2. Close it.", "II. Run it."}, " "},
		{"a number ends a sentence", []string{"It grew to 10.", "Then it fell in 2020.", "End."}, " "},
		{"versions and calls", []string{"Call os.Exit(1) of v1.2.3.", "Use fmt.Println.", "Go 1.26.", "Done."}, " "},
		{"addresses of pages", []string{"See (https://a.b/C.D).", "Visit www.example.com.", "Then https://a.b/x?q=1.", "Go."}, " "},
		{"e.g. first", []string{"E.g. Docker works.", "I.e. it runs."}, " "},
		{"ellipsis", []string{"Wait...", "Now."}, " "},
		{"empty", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := strings.Join(tt.want, tt.sep)
			want := make([]string, 0, len(tt.want))
			for _, w := range tt.want {
				want = append(want, strings.TrimSpace(w))
			}
			if tt.want == nil {
				want = nil
			}
			if d := cmp.Diff(want, sentences(in)); d != "" {
				t.Errorf("Sentences(%q) (-want +got):\n%s", in, d)
			}
		})
	}
}

// cover returns the fault of spans, or "".
func cover(s string, spans []text.Span) string {
	at := 0
	for _, p := range spans {
		switch {
		case p.Start < at || p.End <= p.Start || p.End > len(s):
			return "out of order"
		case strings.TrimSpace(s[at:p.Start]) != "":
			return "text between spans"
		case strings.TrimFunc(s[p.Start:p.End], unicode.IsSpace) != s[p.Start:p.End]:
			return "not trimmed"
		}
		at = p.End
	}
	if strings.TrimSpace(s[at:]) != "" {
		return "text after the last span"
	}
	return ""
}

func TestSentencesCoverCorpus(t *testing.T) {
	for _, p := range docs(t) {
		if d := cover(p, text.Sentences(p)); d != "" {
			t.Fatalf("%s in %.80q", d, p)
		}
	}
}

// TestSentencesOfManyMarks takes a moment, and not the square of it.
func TestSentencesOfManyMarks(t *testing.T) {
	const n = 1 << 20
	for body, want := range map[string]int{
		"--" + strings.Repeat(".", n) + "a":                   1,
		strings.Repeat(".)", n) + " a":                        1,
		strings.Repeat("?", n) + strings.Repeat(" ", n) + "a": 1,
		strings.Repeat("。", n) + "A":                          2,
	} {
		if got := text.Sentences(body); len(got) != want {
			t.Errorf("%.5s…: %d sentences, want %d", body, len(got), want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"A. B\n- c\n```\nx\n```\n| a |", "`a. B` \xff. C\u0085D", "> > ```\n1) x. Y", "。！A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d := cover(s, text.Sentences(s)); d != "" {
			t.Fatalf("%s: %q %v", d, s, text.Sentences(s))
		}
	})
}

func BenchmarkSentences(b *testing.B) {
	pages := docs(b)
	n := 0
	for _, p := range pages {
		n += len(p)
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		for _, p := range pages {
			text.Sentences(p)
		}
	}
}
