package eval_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	ragflow "example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
)

// asked is a question with its answer.
type asked struct {
	id, lang, kind string
	rank           int
	reply          *ragflow.Reply
	share          float64
	words          int
}

// TestDocker asks the whole product all questions and dialogues about the Docker documentation, and compares
// each result with the golden file and the floors.
func TestDocker(t *testing.T) {
	if testing.Short() {
		t.Skip("asks 84 questions over 1,455 pages")
	}
	needMeaning(t)
	docs := golden.Public(t, "docker-docs")
	assistant, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}, Dense: noVectors})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := assistant.Close(); err != nil {
			t.Error(err)
		}
	})
	check := checker{docs: docs, files: map[string][]byte{}}
	ask := func(id, lang, kind, thread, question string, want eval.Expected) asked {
		t.Helper()
		reply, err := assistant.Ask(t.Context(), ragflow.Question{Text: question, Thread: thread})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		check.answer(t, id, reply)
		var pages []string
		for _, h := range reply.Retrieved {
			pages = append(pages, h.Source)
		}
		share, _ := eval.KeywordShare(reply.Answer, want.ExpectedKeywords)
		return asked{id, lang, kind, eval.PageRank(pages, want.Relevant), reply, share, words(reply.Answer)}
	}
	var questions, turns []asked
	for _, q := range read(t, "dev.jsonl") {
		questions = append(questions, ask(q.ID, q.Lang, q.Kind, "", q.Question, q.Expected))
	}
	for _, d := range read(t, "dialogues-dev.jsonl") {
		for _, turn := range d.Turns {
			turns = append(turns, ask(fmt.Sprintf("%s.%d", d.ID, turn.Turn), d.Lang, "turn", d.ID, turn.Question, turn.Expected))
		}
	}
	report(t, questions, turns)
}

func read(t *testing.T, name string) []eval.Item {
	t.Helper()
	items, err := eval.ReadFile(golden.Public(t, "docker-eval", name))
	if err != nil {
		t.Fatal(err)
	}
	return items
}

var (
	fence  = regexp.MustCompile("(?ms)^(```+|~~~+).*?^(```+|~~~+)[ \\t]*$")
	marker = regexp.MustCompile(`\[Source \d+\]`)
)

// words counts the words of an answer without fenced code and marks of sources.
func words(answer string) int {
	return len(strings.Fields(marker.ReplaceAllString(fence.ReplaceAllString(answer, ""), "")))
}

// report writes the golden file and checks the floors.
func report(t *testing.T, questions, turns []asked) {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("# Coefficients were learnt on half of these questions among other sets, and that a person asks two answerable questions for one that is not was set with them in view: they show what was reached, not what to expect elsewhere.\n")
	out.WriteString("# id lang kind: rank of the first relevant page, grade, attempts, abstained, keyword share, words\n")
	for _, a := range append(append([]asked{}, questions...), turns...) {
		fmt.Fprintf(&out, "%s %s %s: rank %d grade %.2f attempts %d abstained %v keywords %.2f words %d\n",
			a.id, a.lang, a.kind, a.rank, a.reply.Grade.Score, a.reply.Grade.Attempts, a.reply.Abstained, a.share, a.words)
	}
	answerable := keep(questions, func(a asked) bool { return a.lang == "en" && a.kind != eval.NoAnswer })
	absent := keep(questions, func(a asked) bool { return a.lang == "en" && a.kind == eval.NoAnswer })
	english := keep(turns, func(a asked) bool { return a.lang == "en" })

	out.WriteString("\n# English totals\n")
	total := func(what string, got, of, floor int) {
		fmt.Fprintf(&out, "%s: %d of %d (floor %d)\n", what, got, of, floor)
		if got < floor {
			t.Errorf("%s: %d of %d, want at least %d", what, got, of, floor)
		}
	}
	total("questions, relevant page first", within(answerable, 1), len(answerable), 24)
	total("questions, relevant page among the first 5", within(answerable, 5), len(answerable), 29)
	total("answerable questions answered", len(answerable)-abstained(answerable), len(answerable), 27)
	total("unanswerable questions declined", abstained(absent), len(absent), 3)
	total("turns, relevant page among the first 10", within(english, 10), len(english), 36)
	for _, set := range []struct {
		name  string
		asked []asked
		floor float64
	}{{"questions", answerable, 0.65}, {"turns", english, 0.50}} {
		var shares, ranks []float64
		var lengths []int
		for _, a := range set.asked {
			shares = append(shares, a.share)
			ranks = append(ranks, a.reciprocal())
			lengths = append(lengths, a.words)
		}
		slices.Sort(lengths)
		median := lengths[(len(lengths)-1)/2]
		ci := eval.Bootstrap(shares)
		fmt.Fprintf(&out, "%s: mean keyword share %.3f [%.3f, %.3f] (floor %.2f), MRR %.3f, median words %d (at most 150)\n",
			set.name, eval.Mean(shares), ci.Low, ci.High, set.floor, eval.Mean(ranks), median)
		if got := eval.Mean(shares); got < set.floor {
			t.Errorf("%s: mean keyword share %.3f, want at least %.2f", set.name, got, set.floor)
		}
		if median > 150 {
			t.Errorf("%s: median answer of %d words, want at most 150", set.name, median)
		}
	}
	golden.Assert(t, "testdata/docker-dev.golden", out.Bytes())
}

func keep(all []asked, want func(asked) bool) []asked {
	var out []asked
	for _, a := range all {
		if want(a) {
			out = append(out, a)
		}
	}
	return out
}

func within(all []asked, k int) int {
	return len(keep(all, func(a asked) bool { return a.rank > 0 && a.rank <= k }))
}

func abstained(all []asked) int {
	return len(keep(all, func(a asked) bool { return a.reply.Abstained }))
}

// checker checks the promises of every answer.
type checker struct {
	docs  string
	files map[string][]byte
}

var (
	outside = regexp.MustCompile("(?ms)^```.*?^```[ \t]*$|`[^`\n]*`") // code, which is shown literally
	html    = regexp.MustCompile(`<(?:script|img|iframe|div|a|br|p|span)\b|!\[[^\]]*\]\(|\{\{[<%]`)
)

// answer checks that each citation matches the file at its place, that each paragraph is cited, and that
// nothing remote or raw is shown.
func (c checker) answer(t *testing.T, id string, r *ragflow.Reply) {
	t.Helper()
	for _, q := range r.Citations {
		file, ok := c.files[q.Source]
		if !ok {
			var err error
			if file, err = os.ReadFile(filepath.Join(c.docs, filepath.FromSlash(q.Source))); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			c.files[q.Source] = file
		}
		if q.Start < 0 || q.End > len(file) || q.Start >= q.End || string(file[q.Start:q.End]) != q.Quote {
			t.Errorf("%s: the quote %q does not stand in %s at %d–%d", id, q.Quote, q.Source, q.Start, q.End)
			continue
		}
		if line := 1 + bytes.Count(file[:q.Start], []byte("\n")); line != q.StartLine {
			t.Errorf("%s: %s: the quote begins in line %d, not %d", id, q.Source, line, q.StartLine)
		}
	}
	text := outside.ReplaceAllString(r.Answer, "")
	if bad := html.FindString(text); bad != "" {
		t.Errorf("%s: %q in the answer:\n%s", id, bad, r.Answer)
	}
	if r.Abstained && len(r.Citations) == 0 {
		return // no passage is close
	}
	if !strings.Contains(r.Answer, "[Source ") || len(r.Citations) == 0 {
		t.Errorf("%s: nothing is cited:\n%s", id, r.Answer)
	}
}

// reciprocal returns 1/rank; 0 if no relevant page was found.
func (a asked) reciprocal() float64 {
	if a.rank == 0 {
		return 0
	}
	return 1 / float64(a.rank)
}
