package field_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm/openai"
)

// verdicts counts how the questions of a half ended.
type verdicts struct {
	answerable, right, shown, wrong, refused, refusedShown, rightFile int

	unanswerable, declined int
	rightGrade, wrongGrade []float64 // of the answerable questions that were answered

	calls   int64 // to models, with tokens and seconds of the last turns
	tokens  int64
	seconds float64
}

// withModel is a configuration with the model that FIELD_MODEL_URL and FIELD_MODEL name, if any.
func withModel(t *testing.T, c ragflow.Config) ragflow.Config {
	t.Helper()
	if os.Getenv("FIELD_MODEL_URL") == "" {
		return c
	}
	client, err := openai.New(openai.Config{BaseURL: os.Getenv("FIELD_MODEL_URL")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdle)
	c.Chat = client.Chat(os.Getenv("FIELD_MODEL"))
	c.PlainGrades = os.Getenv("FIELD_GRADER") == "off"
	c.Answers.Tokens = 300
	return c
}

// chosen are the questions of a corpus; FIELD_EVERY=N takes every Nth.
func chosen(t *testing.T, corpus string) (out []question) {
	t.Helper()
	every, _ := strconv.Atoi(os.Getenv("FIELD_EVERY"))
	n := 0
	for _, q := range questions(t) {
		if q.Corpus == corpus {
			if n%max(1, every) == 0 {
				out = append(out, q)
			}
			n++
		}
	}
	return out
}

// TestAnswers asks all questions without a model, or with the one of FIELD_MODEL, and
// prints the verdicts that README.md defines, by half and corpus. It runs only where
// FIELD_RUN is set, because it takes minutes.
func TestAnswers(t *testing.T) {
	if os.Getenv("FIELD_RUN") == "" {
		t.Skip("set FIELD_RUN=1 to ask the questions")
	}
	byCorpus, byHalf := map[string]*verdicts{}, map[string]*verdicts{"look": {}, "report": {}}
	for _, corpus := range []string{"python3", "zsh", "gomod", "nginx", "bind9", "octave", "office"} {
		byCorpus[corpus] = &verdicts{}
		t.Run(corpus, func(t *testing.T) {
			a, err := ragflow.Open(t.Context(), withModel(t, ragflow.Config{Docs: []string{folder(t, corpus)}}))
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			for _, q := range chosen(t, corpus) {
				judge(t, a, q, byCorpus[corpus], byHalf[q.Half])
			}
			t.Log(byCorpus[corpus])
		})
	}
	for half, v := range byHalf {
		t.Logf("%s: %s", half, v)
	}
}

// judge asks a question after its history and counts the verdict.
func judge(t *testing.T, a *ragflow.Assistant, q question, counts ...*verdicts) {
	t.Helper()
	thread := ""
	if len(q.History) > 0 {
		thread = q.ID
	}
	var r *ragflow.Reply
	for _, text := range append(slices.Clone(q.History), q.Question) {
		var err error
		if r, err = a.Ask(context.WithoutCancel(t.Context()), ragflow.Question{Text: text, Thread: thread}); err != nil {
			t.Errorf("%s: %v", q.ID, err)
			return
		}
	}
	written := r.Model != "offline" && !r.Abstained
	first, all := "", r.Answer
	if written {
		first = r.Answer // and not the passages it cites
	}
	for _, c := range r.Citations {
		all += "\n" + c.Quote
		if c.N == r.Citations[0].N && !written {
			first += "\n" + c.Quote
		}
	}
	file := slices.ContainsFunc(r.Citations, func(c ragflow.CitationReply) bool { return slices.Contains(q.Files, filepath.ToSlash(c.Source)) })
	verdict := "wrong"
	switch {
	case r.Abstained:
		verdict = "refused"
	case q.Answerable && holds(first, q.Strings):
		verdict = "right"
	case q.Answerable && holds(all, q.Strings):
		verdict = "shown"
	}
	for _, v := range counts {
		v.calls, v.tokens, v.seconds = v.calls+r.Usage.Calls, v.tokens+r.Usage.InputTokens+r.Usage.OutputTokens, v.seconds+r.LatencyMS["total"]/1000
		v.add(q, verdict, r.Grade.Score, file, holds(all, q.Strings))
	}
	if q.Half == "look" && os.Getenv("FIELD_RUN") == "look" { // the other half is never read
		fmt.Printf("%s\t%s\t%.2f\t%.0f s\t%s\n", q.ID, verdict, r.Grade.Score, r.LatencyMS["total"]/1000, q.Question)
		if os.Getenv("FIELD_SHOW") != "" {
			fmt.Printf("\t%s\n\twanted %q\n", strings.ReplaceAll(r.Answer, "\n", " / "), q.Strings)
		}
	}
}

func (v *verdicts) add(q question, verdict string, grade float64, file, held bool) {
	if !q.Answerable {
		v.unanswerable++
		if verdict == "refused" {
			v.declined++
		}
		return
	}
	v.answerable++
	if file {
		v.rightFile++
	}
	switch verdict {
	case "right", "shown":
		if verdict == "right" {
			v.right++
		} else {
			v.shown++
		}
		v.rightGrade = append(v.rightGrade, grade)
	case "wrong":
		v.wrong++
		v.wrongGrade = append(v.wrongGrade, grade)
	case "refused":
		v.refused++
		if held {
			v.refusedShown++
		}
	}
}

// String tells the shares of the verdicts.
func (v *verdicts) String() string {
	of := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
	return fmt.Sprintf("%d answerable: right %.2f, shown %.2f, wrong %.2f, refused %.2f (with the answer among the closest passages %.2f), right file %.2f; "+
		"%d unanswerable: declined %.2f; AUROC of the grade %.2f; %d calls, %d tokens, %.1f s a question",
		v.answerable, of(v.right, v.answerable), of(v.shown, v.answerable), of(v.wrong, v.answerable), of(v.refused, v.answerable),
		of(v.refusedShown, v.answerable), of(v.rightFile, v.answerable), v.unanswerable, of(v.declined, v.unanswerable), auroc(v.rightGrade, v.wrongGrade), v.calls, v.tokens, v.seconds/float64(max(1, v.answerable+v.unanswerable)))
}

// auroc is the probability that a right answer has a higher grade than a wrong one.
func auroc(right, wrong []float64) float64 {
	sum := 0.0
	for _, r := range right {
		for _, w := range wrong {
			sum += float64(cmp.Compare(r, w)+1) / 2
		}
	}
	return sum / max(1, float64(len(right)*len(wrong)))
}

// holds reports whether a text has one alternative of each group.
func holds(text string, groups [][]string) bool {
	text = normal(text)
	return len(groups) > 0 && !slices.ContainsFunc(groups, func(group []string) bool {
		return !slices.ContainsFunc(group, func(s string) bool { return strings.Contains(text, normal(s)) })
	})
}
