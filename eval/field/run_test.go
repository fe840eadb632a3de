package field_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// outcome is the result of a question, a line of FIELD_LOG. It contains no part of the answer, so that the
// results of half "report" may be kept.
type outcome struct {
	ID, Verdict string
	Grade       float64
	File, Held  bool // one of the files is among the sources; anything shown contains the strings
	Claims      int  // statements of a model's answer, and those without a source
	Unsupported int
	Invalid     int // removed marks of missing sources
	Calls       int64
	Tokens      int64
	Seconds     float64
}

// verdicts counts the results of the questions of a half.
type verdicts struct {
	answerable, right, shown, wrong, refused, refusedShown, rightFile int

	unanswerable, declined int
	rightGrade, wrongGrade []float64 // of the answerable questions that were answered

	all outcome // sums
}

// withModel configures the model of FIELD_MODEL_URL and FIELD_MODEL, if any.
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
	c.Models.Chat = llm.Retry(client.Chat(os.Getenv("FIELD_MODEL")), llm.RetryOptions{})
	c.Settings.NoModelGrading, c.Settings.NoRefusals = os.Getenv("FIELD_GRADER") == "off", os.Getenv("FIELD_REFUSALS") == "check"
	c.Settings.Tokens = 300
	if window := os.Getenv("FIELD_WINDOW"); window != "" { // as LLM_CONTEXT_TOKENS
		if c.Settings.Window, err = strconv.Atoi(window); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// sampleSeed selects the questions of a sample.
const sampleSeed = 21

// chosen returns the questions to ask: all, or FIELD_SAMPLE of each half, drawn so that a smaller sample is
// part of a larger one. FIELD_QUESTIONS names another file of questions.
func chosen(t *testing.T) (out []question) {
	t.Helper()
	size, err := strconv.Atoi(cmp.Or(os.Getenv("FIELD_SAMPLE"), "1000"))
	if err != nil {
		t.Fatal(err)
	}
	all := questions(t, cmp.Or(os.Getenv("FIELD_QUESTIONS"), "questions.jsonl"))
	taken, only := map[string]int{}, os.Getenv("FIELD_RUN")
	for _, i := range rand.New(rand.NewPCG(sampleSeed, 0)).Perm(len(all)) { //nolint:gosec // a sample that anyone can draw again
		if q := all[i]; taken[q.Half] < size && (!slices.Contains([]string{"look", "report"}, only) || q.Half == only) {
			taken[q.Half]++
			out = append(out, q)
		}
	}
	return out
}

// finished returns the outcomes in FIELD_LOG, by question.
func finished(t *testing.T) map[string]outcome {
	t.Helper()
	out := map[string]outcome{}
	file, err := os.Open(os.Getenv("FIELD_LOG"))
	if err != nil {
		return out // nothing was asked yet
	}
	defer file.Close()
	lines := json.NewDecoder(file)
	for lines.More() {
		var o outcome
		if err := lines.Decode(&o); err != nil {
			t.Fatal(err)
		}
		out[o.ID] = o
	}
	return out
}

// keep adds an outcome to FIELD_LOG.
func keep(t *testing.T, o outcome) {
	t.Helper()
	name := os.Getenv("FIELD_LOG")
	if name == "" {
		return
	}
	line, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		t.Error(err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnswers asks all questions without a model, or with that of FIELD_MODEL, and prints the verdicts that
// README.md defines, by half, corpus and language. It runs only if FIELD_RUN is set, because it takes
// minutes; look and report name one half. FIELD_SHOW shows the answers of look. Questions in FIELD_LOG are
// not asked again.
func TestAnswers(t *testing.T) {
	if os.Getenv("FIELD_RUN") == "" {
		t.Skip("set FIELD_RUN=1 to ask the questions")
	}
	sample, done := chosen(t), finished(t)
	opened := map[string]*ragflow.Assistant{}
	counts := map[string]*verdicts{}
	for _, q := range sample {
		o, ok := done[q.ID]
		if !ok {
			if opened[q.Corpus] == nil {
				opened[q.Corpus] = open(t, q.Corpus)
			}
			o = judge(t, opened[q.Corpus], q)
			keep(t, o)
		}
		for _, of := range []string{q.Half, q.Corpus, q.Half + ", " + q.Lang} {
			if counts[of] == nil {
				counts[of] = &verdicts{}
			}
			counts[of].add(q, o)
		}
	}
	for _, of := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%s: %s", of, counts[of])
	}
}

// open indexes a corpus.
func open(t *testing.T, corpus string) *ragflow.Assistant {
	t.Helper()
	c := withModel(t, ragflow.Config{Docs: []string{folder(t, corpus)}})
	if data := os.Getenv("FIELD_VECTORS"); data == "" {
		c.Dense.Leg = "lexical" // no vectors are made meanwhile, so that an answer does not depend on the time
	} else {
		c.DataDir = filepath.Join(data, corpus)
	}
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	if c.DataDir != "" {
		if _, err = a.Library().Sync(t.Context()); err == nil {
			_, err = a.Library().StartEmbed(t.Context()).Wait(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// judge asks a question after its history and returns the verdict.
func judge(t *testing.T, a *ragflow.Assistant, q question) outcome {
	t.Helper()
	thread := ""
	if len(q.History) > 0 {
		thread = q.ID
	}
	var r *ragflow.Reply
	for _, text := range append(slices.Clone(q.History), q.Question) {
		var err error
		if r, err = a.Ask(context.WithoutCancel(t.Context()), ragflow.Question{Text: text, Thread: thread}); err != nil {
			t.Fatalf("%s: %v", q.ID, err)
		}
	}
	written := r.Model != "offline" && !r.Abstained
	first, all, key := "", r.Answer, q.Strings
	if written {
		first, key = r.Answer, q.Written // without the passages it cites
	}
	for _, c := range r.Citations {
		all += "\n" + c.Quote
		if c.N == r.Citations[0].N && !written {
			first += "\n" + c.Quote
		}
	}
	file := slices.ContainsFunc(r.Citations, func(c ragflow.CitationReply) bool { return slices.Contains(q.Files, filepath.ToSlash(c.Source)) }) ||
		slices.ContainsFunc(r.Others, func(o ragflow.OtherReply) bool { return slices.Contains(q.Files, filepath.ToSlash(o.Source)) })
	for _, o := range r.Others {
		all += "\n" + o.Telling
	}
	o := outcome{
		ID: q.ID, Verdict: "wrong", Grade: r.Grade.Score, File: file, Held: holds(all, q.Strings),
		Claims: r.Quality.Claims, Unsupported: r.Quality.Unsupported, Invalid: r.Quality.Invalid,
		Calls: r.Usage.Calls, Tokens: r.Usage.InputTokens + r.Usage.OutputTokens, Seconds: r.LatencyMS["total"] / 1000,
	}
	switch {
	case r.Abstained:
		o.Verdict = "refused"
	case q.Answerable && holds(first, key):
		o.Verdict = "right"
	case q.Answerable && o.Held:
		o.Verdict = "shown"
	}
	if q.Half == "look" && os.Getenv("FIELD_SHOW") != "" { // the other half is never read
		fmt.Printf("%s\t%s\t%.2f\t%.0f s\t%s\n\t%s\n\twanted %q; warnings %q\n",
			q.ID, o.Verdict, o.Grade, o.Seconds, q.Question, strings.ReplaceAll(r.Answer, "\n", " / "), key, r.Warnings)
	}
	return o
}

func (v *verdicts) add(q question, o outcome) {
	v.all.Claims, v.all.Unsupported, v.all.Invalid = v.all.Claims+o.Claims, v.all.Unsupported+o.Unsupported, v.all.Invalid+o.Invalid
	v.all.Calls, v.all.Tokens, v.all.Seconds = v.all.Calls+o.Calls, v.all.Tokens+o.Tokens, v.all.Seconds+o.Seconds
	if !q.Answerable {
		v.unanswerable++
		if o.Verdict == "refused" {
			v.declined++
		}
		return
	}
	v.answerable++
	if o.File {
		v.rightFile++
	}
	switch o.Verdict {
	case "right", "shown":
		if o.Verdict == "right" {
			v.right++
		} else {
			v.shown++
		}
		v.rightGrade = append(v.rightGrade, o.Grade)
	case "wrong":
		v.wrong++
		v.wrongGrade = append(v.wrongGrade, o.Grade)
	case "refused":
		v.refused++
		if o.Held {
			v.refusedShown++
		}
	}
}

// String formats the shares of the verdicts.
func (v *verdicts) String() string {
	of := func(n, all int) float64 { return float64(n) / float64(max(1, all)) }
	asked := float64(max(1, v.answerable+v.unanswerable))
	return fmt.Sprintf("%d answerable: right %.2f, shown %.2f, wrong %.2f, refused %.2f (with the answer among the closest passages %.2f), right file %.2f; "+
		"%d unanswerable: declined %.2f; AUROC of the grade %.2f; %d statements, %d unsupported; %d invalid citations; %.1f calls, %.0f tokens, %.1f s a question",
		v.answerable, of(v.right, v.answerable), of(v.shown, v.answerable), of(v.wrong, v.answerable), of(v.refused, v.answerable),
		of(v.refusedShown, v.answerable), of(v.rightFile, v.answerable), v.unanswerable, of(v.declined, v.unanswerable), auroc(v.rightGrade, v.wrongGrade),
		v.all.Claims, v.all.Unsupported, v.all.Invalid, float64(v.all.Calls)/asked, float64(v.all.Tokens)/asked, v.all.Seconds/asked)
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

// holds reports whether a text contains one alternative of each group.
func holds(text string, groups [][]string) bool {
	text = normal(text)
	return len(groups) > 0 && !slices.ContainsFunc(groups, func(group []string) bool {
		return !slices.ContainsFunc(group, func(s string) bool { return has(text, normal(s)) })
	})
}

// has reports whether a text contains s, but not within a longer number.
func has(text, s string) bool {
	digit := func(s string, at int) bool { return at >= 0 && at < len(s) && s[at] >= '0' && s[at] <= '9' }
	for from := 0; ; from++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return false
		}
		from += i
		longer := digit(s, 0) && digit(text, from-1) || digit(s, len(s)-1) && digit(text, from+len(s))
		if !longer {
			return true
		}
	}
}
