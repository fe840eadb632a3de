package cite

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzFigures compares the hand-written scanners with their simple twins.
func FuzzFigures(f *testing.F) {
	for _, s := range []string{
		"", "no number", "24.000 đồng, 3.2.1; 2024-05-01 and 01/VBHN-VPQH, v2 on 80:80 at 99%.", "abc-1.", "1.", "1.-2", "a1b_c", "½ Ⅳ ٣", "\xff1\xff.2",
		"--mount depends_on a.yml /etc/hosts FooBar -v", "x.y", "A-B", "_a_b", "a--b", "-", "ż.sh é-a",
	} {
		f.Add(s)
	}
	twin := regexp.MustCompile(`[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[.,:/_-][\p{L}\p{N}]+)*`)
	f.Fuzz(func(t *testing.T, s string) {
		if diff := cmp.Diff(twin.FindAllString(s, -1), figures(s)); diff != "" {
			t.Errorf("figures of %q (-twin +got):\n%s", s, diff)
		}
		if identifier.MatchString(s) && !mayIdentify(s) {
			t.Errorf("%q holds %q, which is not foreseen", s, identifier.FindString(s))
		}
	})
}

func TestWritings(t *testing.T) {
	for literal, want := range map[string]string{
		"3": "3 three 3 trzy trzech trzema 3 ba", "ba": "3 ba", "three": "3 three", "13": "", "x": "", "": "",
	} {
		if got := strings.Join(writings(literal), " "); got != want {
			t.Errorf("writings(%q) = %q, want %q", literal, got, want)
		}
	}
}
