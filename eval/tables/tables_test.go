package tables_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
)

// question is a line of questions.jsonl; README.md explains the fields.
type question struct {
	ID, Half, File, Lang, Kind, Question string

	Want []string
}

func questions(t *testing.T) (out []question) {
	t.Helper()
	file, err := os.Open("questions.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		out = append(out, q)
	}
	return out
}

// verdicts counts the verdicts on the questions of a half.
type verdicts struct{ all, absent, right, wrong, declined int }

func (v verdicts) String() string {
	return fmt.Sprintf("%d questions, %d of them to be declined: %d right, %d wrong, %d declined", v.all, v.absent, v.right, v.wrong, v.declined)
}

// The floors of the answers that are computed, and the ceiling of wrong ones among all questions. Answers of the half
// "report" are not read, so that its figures stay those of questions that nothing was fitted to.
const (
	minRight    = 0.80 // of the answered
	maxWrong    = 0.05 // of all
	minAnswered = 0.60 // of those with an answer
)

// TestComputed asks all questions without a model. TABLES_SHOW=1 shows the answers of the half "look" that are not
// right.
func TestComputed(t *testing.T) {
	c := ragflow.Config{Docs: []string{"docs"}}
	c.Dense.Leg = "lexical" // no vectors are made meanwhile, so that a slow machine gives the same figures
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	counts := map[string]*verdicts{"look": {}, "report": {}}
	for _, q := range questions(t) {
		r, err := a.Ask(t.Context(), ragflow.Question{Text: q.Question})
		if err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
		v := counts[q.Half]
		v.all++
		if len(q.Want) == 0 {
			v.absent++
		}
		verdict := "declined"
		switch computed := computed.MatchString(r.Answer); {
		case computed && right(r, q.Want):
			v.right++
			continue
		case computed:
			v.wrong++
			verdict = "wrong"
		default:
			v.declined++
		}
		if q.Half == "look" && os.Getenv("TABLES_SHOW") != "" && (verdict == "wrong" || len(q.Want) > 0) {
			t.Logf("%s: %q is %s, want %q:\n%s", q.ID, q.Question, verdict, q.Want, r.Answer)
		}
	}
	for half, v := range counts {
		t.Logf("%s: %s", half, v)
		if answered := v.right + v.wrong; float64(v.right) < minRight*float64(answered) || float64(v.wrong) > maxWrong*float64(v.all) ||
			float64(v.right) < minAnswered*float64(v.all-v.absent) {
			t.Errorf("%s: too few right or too many wrong answers", half)
		}
	}
}

var (
	result   = regexp.MustCompile(`\*\*(.+?)\*\*`)
	computed = regexp.MustCompile(`^[^\n]+: \*\*.+?\*\* \(\d+ \pL+ \d+ [^\n]+\)\n`)
)

// right reports whether an answer shows the first of some texts as its result, and cites what it shows.
func right(r *ragflow.Reply, want []string) bool {
	shown := result.FindStringSubmatch(r.Answer)
	if len(want) == 0 || shown == nil || len(r.Citations) == 0 {
		return false
	}
	for i, w := range want {
		in := r.Answer
		if i == 0 {
			in = shown[1]
		}
		if !slices.ContainsFunc(strings.Split(w, "|"), func(s string) bool { return holds(in, s) }) {
			return false
		}
	}
	return true
}

// holds reports whether a text has another one in it that is no part of a longer number.
func holds(text, s string) bool {
	return regexp.MustCompile(`(?:^|[^\d.,])` + regexp.QuoteMeta(s) + `(?:$|[^\d.,])`).MatchString(strings.ReplaceAll(text, "\u00a0", " "))
}
