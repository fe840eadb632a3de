package eval_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// numbered finds a word with a number behind it, such as "Super Bowl 50".
var numbered = regexp.MustCompile(`(\p{L}+[ -])(\d+)\b`)

// TestOtherNumber asks the questions of XQuAD that have such a number, and the same with another number, which nothing
// answers. No rule was chosen by them.
func TestOtherNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("asks 232 questions")
	}
	t.Parallel()
	var out bytes.Buffer
	for _, set := range []struct {
		lang  string
		least float64 // share of the questions with another number that are declined
	}{{"en", 0.35}, {"vi", 0.65}} {
		paragraphs, questions := xquad(t, set.lang)
		texts := map[string]string{}
		for _, p := range paragraphs {
			texts[p.ID] = p.Text
		}
		var asked, altered []parallelQuestion
		for _, q := range questions {
			at := numbered.FindStringSubmatchIndex(q.Text)
			if at == nil {
				continue
			}
			number := q.Text[at[4]:at[5]]
			n, err := strconv.Atoi(number)
			other := strconv.Itoa(n + 3)
			if err != nil || text.FirstDate(number) != "" || strings.Contains(texts[q.Paragraph], other) {
				continue
			}
			asked = append(asked, q)
			q.Text = q.Text[:at[4]] + other + q.Text[at[5]:]
			altered = append(altered, q)
		}
		for i, list := range [][]parallelQuestion{asked, altered} {
			name := []string{"as asked", "with another number"}[i]
			all, _, _ := askAll(t, paragraphs, list)
			declined, sure := 0, 0
			for _, a := range all {
				if a.reply.Abstained {
					declined++
				} else if a.reply.Certainty.Band == state.BandAnswers {
					sure++
				}
			}
			fmt.Fprintf(&out, "%s, %s: %d questions, %d declined, %d answered surely\n", set.lang, name, len(all), declined, sure)
			if i == 1 && (float64(declined) < set.least*float64(len(all)) || sure > 0) {
				t.Errorf("%s: of %d questions with another number %d are declined, and %d answered surely", set.lang, len(all), declined, sure)
			}
		}
	}
	golden.Assert(t, "testdata/othernumber.golden", out.Bytes())
}
