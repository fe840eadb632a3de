package model_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
)

// TestRepairedStaysHarmless puts marks, right and wrong, between hostile fragments: what the check of an answer makes of
// the harmless text is harmless too.
func TestRepairedStaysHarmless(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	marks := []string{"[Source 1]", "[Source 9]", " [Source 1]. ", " [Source 9]. ", "[Source 1, 9]", "(Source 9)", "A volume keeps the data of a container. ", "Zebras live in Norway. "}
	for range 3_000 {
		var b strings.Builder
		for range 1 + r.IntN(10) {
			b.WriteString(hostile[r.IntN(len(hostile))])
			if r.IntN(2) == 0 {
				b.WriteString(marks[r.IntN(len(marks))])
			}
		}
		safe := whole(b.String())
		for _, strict := range []bool{false, true} {
			report := cite.Check(safe, sources(), cite.Options{Language: "en"})
			got := cite.Repair(safe, report, cite.Fixing{Unsupported: "(unsupported)", Strict: strict}).Text
			got = text.QuoteAddresses(text.Visible(got))
			if kind := live(got); kind != "" {
				t.Errorf("%q, harmless as\n%q, is repaired to\n%q, with %s", b.String(), safe, got, kind)
			}
		}
	}
}
