package ragflow_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/feedback"
	"example.com/ragflow/search"
)

const irrigation = "Basil irrigation schedule"

// TestRate is B01, B02 and R16: a good answer is promoted into the searched
// index, a bad rating withdraws it, and both ratings are kept.
func TestRate(t *testing.T) {
	docs, data := library(t), t.TempDir()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	config := ragflow.Config{DataDir: data, Docs: []string{docs}, Clock: func() time.Time { return now }}
	a := open(t, config)
	reply := ask(t, a, "work", "How do I water a basil plant?")

	up, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Good: true, Question: irrigation, Note: "clear"})
	if err != nil {
		t.Fatal(err)
	}
	if up.Rating != feedback.RatingUp || up.RunID != reply.RunID || !up.Time.Equal(now) || up.Note != "clear" {
		t.Errorf("rated %+v", up)
	}
	written, err := os.ReadFile(up.Document)
	c := reply.Citations[0]
	want := fmt.Sprintf("---\n\n%s\n\nFrom %s:%d\n", strings.TrimSpace(c.Quote), c.Source, c.StartLine)
	if err != nil || !strings.Contains(string(written), want) || strings.Contains(string(written), "[Source") {
		t.Errorf("promoted document %q: %v", written, err)
	}
	if got := foundIn(t, a); len(got) == 0 || got[0] != filepath.Base(up.Document) {
		t.Errorf("the promoted answer is not found first: %q", got)
	}

	down, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Turn: 1})
	if err != nil || down.Rating != feedback.RatingDown || down.Document != "" {
		t.Fatalf("rated %+v, %v", down, err)
	}
	if _, err := os.Stat(up.Document); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the withdrawn answer is still there: %v", err)
	}
	if got := foundIn(t, a); len(got) > 0 && got[0] == filepath.Base(up.Document) {
		t.Errorf("the withdrawn answer is still found: %q", got)
	}
	list, err := feedback.ReadFeedback(data)
	if err != nil || len(list.Feedback) != 2 || list.Feedback[0].Rating != feedback.RatingDown || list.Feedback[1].Question != irrigation {
		t.Errorf("feedback %+v, %v", list, err)
	}
}

// TestPromotedAnswersFollowTheirDocuments checks that a promoted answer is found over the same
// documents only, and is deleted once they say something else.
func TestPromotedAnswersFollowTheirDocuments(t *testing.T) {
	data, docs, other := t.TempDir(), library(t), t.TempDir()
	write(t, filepath.Join(other, "sky.md"), "The sky is blue.\n")
	over := func(folder string) *ragflow.Assistant {
		return open(t, ragflow.Config{DataDir: data, Docs: []string{folder}})
	}
	a := over(docs)
	reply := ask(t, a, "work", "How do I water a basil plant?")
	up, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Good: true, Question: irrigation})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(up.Document)
	if got := foundIn(t, over(docs)); len(got) == 0 || got[0] != name {
		t.Errorf("over its documents: %q", got)
	}
	if got := foundIn(t, over(other)); slices.Contains(got, name) {
		t.Errorf("over others: %q", got)
	}
	write(t, filepath.Join(docs, reply.Citations[0].Source), "Nothing about it any more.\n")
	if got := foundIn(t, over(docs)); slices.Contains(got, name) {
		t.Errorf("after a change: %q", got)
	}
	if _, err := os.Stat(up.Document); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// foundIn returns the sources of the hits for the question that the answers are promoted under.
func foundIn(t *testing.T, a *ragflow.Assistant) []string {
	t.Helper()
	found, err := a.Search(t.Context(), irrigation, ragflow.SearchOptions{Request: search.Request{K: 3}})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, h := range found.Hits {
		out = append(out, h.Source)
	}
	return out
}

func TestRateFaults(t *testing.T) {
	docs, data := library(t), t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}})
	ask(t, a, "work", "How do I water a basil plant?")
	ask(t, a, "none", "Who won the cycling race of 1903?")
	for name, c := range map[string]struct {
		rating ragflow.Rating
		want   error
	}{
		"no such thread":  {ragflow.Rating{Thread: "nobody", Good: true}, ragflow.ErrNotFound},
		"no such turn":    {ragflow.Rating{Thread: "work", Turn: 9}, ragflow.ErrNotFound},
		"declined answer": {ragflow.Rating{Thread: "none", Good: true}, ragflow.ErrNoAnswer},
	} {
		if _, err := a.Rate(t.Context(), c.rating); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Thread: "work", Note: strings.Repeat("x", 2001)}); err == nil {
		t.Error("a note of 2001 characters is taken")
	}
	if err := os.WriteFile(filepath.Join(data, "feedback.jsonl"), []byte("{}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := feedback.ReadFeedback(data); err == nil || !strings.Contains(err.Error(), "feedback.jsonl:2:") {
		t.Errorf("a broken line: %v", err)
	}
}

// TestRateByRun rates an answer by its run, as a program does that has only the reply, and by a quality (B02).
func TestRateByRun(t *testing.T) {
	a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{library(t)}})
	first := ask(t, a, "work", "How do I water a basil plant?")
	ask(t, a, "work", "How many hours of light does it need?")
	f, err := a.Rate(t.Context(), ragflow.Rating{Run: first.RunID, Quality: new(0.96)})
	if err != nil || f.ThreadID != "work" || f.Rating != feedback.RatingUp || f.Document == "" || f.Question != first.Question ||
		!slices.Equal(f.Passages, []string{fmt.Sprintf("%s:%d", first.Citations[0].Source, first.Citations[0].StartLine)}) {
		t.Errorf("%+v, %v", f, err)
	}
	if f, err = a.Rate(t.Context(), ragflow.Rating{Run: first.RunID, Quality: new(0.95), Good: true}); err != nil || f.Rating != feedback.RatingDown {
		t.Errorf("%+v, %v", f, err)
	}
	for name, r := range map[string]ragflow.Rating{
		"no such run":    {Run: "none", Good: true},
		"another thread": {Run: first.RunID, Thread: "play", Good: true},
	} {
		if _, err := a.Rate(t.Context(), r); !errors.Is(err, ragflow.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Run: first.RunID, Quality: new(1.5)}); err == nil {
		t.Error("a quality of 1.5 is taken")
	}
}

// TestRatingsOfOwners checks that nobody rates the answers of others, nor sees their ratings.
func TestRatingsOfOwners(t *testing.T) {
	a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{library(t)}})
	ann, bob := ragflow.OwnedBy(t.Context(), "ann"), ragflow.OwnedBy(t.Context(), "bob")
	reply, err := a.Ask(ann, ragflow.Question{Text: "How do I water a basil plant?"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Rate(bob, ragflow.Rating{Run: reply.RunID, Good: true}); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("bob rates ann's answer: %v", err)
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Good: true}); err != nil { // who owns the folder may
		t.Fatal(err)
	}
	for _, c := range []struct {
		owner, like string
		want        int
	}{
		{"ann", "", 1},
		{"bob", "", 0},
		{"", "", 1},
		{"ann", "How is a basil plant watered?", 1}, // R16: 0.7 of the words
		{"bob", "How is a basil plant watered?", 0},
		{"ann", "How much light does mint need?", 0},
	} {
		if got, err := a.Ratings(ragflow.OwnedBy(t.Context(), c.owner), c.like); err != nil || len(got) != c.want {
			t.Errorf("%q, like %q: %+v, %v, want %d", c.owner, c.like, got, err, c.want)
		}
	}
}

// TestBetterAnswer promotes the answer of a person that its sources say: it is found, cited as what it is, and gone when
// its source changes, while the assistant is open.
func TestBetterAnswer(t *testing.T) {
	docs, data := library(t), t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{docs}})
	reply := ask(t, a, "work", "How do I water a basil plant?")
	n := reply.Citations[0].N
	better := fmt.Sprintf("In winter, water a basil plant twice a week [Source %d].", n)

	refuted, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Promote: true, Better: fmt.Sprintf("In winter, water a basil plant nine times a week [Source %d].", n)})
	if err != nil || refuted.Document != "" || len(refuted.Unsupported) != 1 || refuted.Better == "" || !slices.Equal(refuted.Sources, []string{"herbs/basil.md"}) {
		t.Errorf("what the source does not say: %+v, %v", refuted, err)
	}
	own, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Promote: true, Better: "I water mine whenever it rains."})
	if err != nil || own.Document != "" || own.Better == "" {
		t.Errorf("without a source: %+v, %v", own, err)
	}
	if _, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Better: "Twice a week [Source 99]."}); err == nil {
		t.Error("a source that the answer did not have is taken")
	}

	if f, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Better: better}); err != nil || f.Document != "" || f.Better != better {
		t.Errorf("promoted although nobody asked for it: %+v, %v", f, err)
	}

	f, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Promote: true, Better: better, Question: irrigation})
	if err != nil || len(f.Unsupported) > 0 || f.Better != better || f.Rating != feedback.RatingDown {
		t.Fatalf("%+v, %v", f, err)
	}
	again := ask(t, a, "again", irrigation+" in winter")
	c := again.Citations[0]
	if !strings.HasPrefix(c.Source, "answer-by-a-person-") || c.Title != irrigation || !strings.Contains(c.Quote, "twice a week") || strings.Contains(c.Quote, "[Source") {
		t.Errorf("cited as %q, %q: %q", c.Source, c.Title, c.Quote)
	}
	if c.Metadata["document_type"] != "answer of a person" {
		t.Errorf("metadata %v", c.Metadata)
	}

	if _, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Better: "Never [Source 99]."}); err == nil {
		t.Error("a source that the answer did not have is taken")
	}
	if _, err := os.Stat(f.Document); err != nil {
		t.Errorf("a refused rating withdrew what was promoted: %v", err)
	}
	write(t, filepath.Join(docs, "herbs/basil.md"), "---\ntitle: Basil\n---\n\nWater basil with care.\n")
	gone := ask(t, a, "later", irrigation+" in winter")
	for _, c := range gone.Citations {
		if strings.HasPrefix(c.Source, "answer-by-a-person-") {
			t.Errorf("it is still cited: %q", c.Quote)
		}
	}
	if _, err := os.Stat(f.Document); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestBetterAnswersOfASource checks which answers of a person their source says well enough to be promoted. Others are kept,
// each beside the sentence that is closest to it, and later questions do not find them.
func TestBetterAnswersOfASource(t *testing.T) {
	a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: pages(t, map[string]string{"leave.md": `# Leave

You have 14 days of leave a year. Leave is paid. Ask your manager two weeks before you go. Unused leave expires on 31 March
and is not carried over. Part-time staff have leave too. You may not work during leave. Leave must be taken in whole days.
`})})
	reply := ask(t, a, "work", "How many days of leave do I have?")
	for _, tt := range []struct {
		better string // of a person; # is replaced by a citation mark
		beside string // what the source says; empty: nothing like it
	}{
		{"You have 12 days of leave a year #.", "14 days"},
		{"You have twelve days of leave a year #.", "14 days"},
		{"You have 14 weeks of leave a year #.", "14 days"},
		{"You have 14 days of leave a month #.", "14 days"},
		{"Leave is not paid #.", "Leave is paid."},
		{"Leave isn't paid #.", "Leave is paid."},
		{"It is never paid #.", "Leave is paid."},
		{"Nobody gets paid leave #.", "Leave is paid."},
		{"You have 14 days of leave a year, but they are not paid #.", "14 days"},
		{"You have 14 days of leave a year #. Is it paid? No, never.", ""},
		{"You have 14 days of leave a year #. It is not paid.", "Leave is paid."},
		{"Unused leave is carried over #.", "not carried over"},
		{"Unused leave does not expire #.", "expires on 31 March"},
		{"Unused leave expires on 30 April #.", "expires on 31 March"},
		{"Ask your manager three weeks before you go #.", "two weeks before"},
		{"Ask your manager two weeks after you go #.", "two weeks before"},
		{"There is no need to ask your manager #.", "Ask your manager"},
		{"You may work during leave #.", "You may not work"},
		{"Part-time staff have no leave #.", "Part-time staff have leave"},
		{"Leave may be taken in half days #.", "whole days"},
		{"Urlop nie jest płatny #.", ""},
	} {
		r := ragflow.Rating{Run: reply.RunID, Promote: true, Better: strings.ReplaceAll(tt.better, "#", "[Source 1]")}
		f, err := a.Rate(t.Context(), r)
		if err != nil || f.Document != "" || len(f.Unsupported) == 0 || !strings.Contains(strings.Join(f.Unsupported, " "), tt.beside) || f.Better != r.Better {
			t.Errorf("%s: %+v, %v", tt.better, f, err)
		}
	}
	for _, better := range []string{
		"You have 14 days of leave a year #.",
		"There are fourteen days of leave #.",
		"14 days #.",
		"Leave is paid #.",
		"You have 14 days of leave a year #. Leave is paid #.",
		"Unused leave expires on March 31 #.",
		"Unused leave is not carried over #.",
		"You cannot carry unused leave over #.",
		"Two weeks before you go, ask your manager #.",
		"Part-time staff have leave, too #.",
		"Do not work during leave #.",
		"Leave is taken in whole days #.",
	} {
		f, err := a.Rate(t.Context(), ragflow.Rating{Run: reply.RunID, Promote: true, Better: strings.ReplaceAll(better, "#", "[Source 1]")})
		if err != nil || f.Document == "" || len(f.Unsupported) > 0 {
			t.Errorf("%s: %+v, %v", better, f, err)
			continue
		}
		written, err := os.ReadFile(f.Document)
		if want := "\n\nA person wrote this answer from:\n\n"; err != nil || !strings.Contains(string(written), want) || !strings.Contains(string(written), "\n\nFrom leave.md:") {
			t.Errorf("%s: %s, %v", better, written, err)
		}
	}
}

// TestAdaptiveWeights checks that ratings change the weights of the legs only if that is asked for, and not after a
// reset.
func TestAdaptiveWeights(t *testing.T) {
	docs, data := pages(t, map[string]string{"a.md": "# Basil\n\nBasil wants water.\n", "b.md": "# Mint\n\nMint wants shade.\n"}), t.TempDir()
	for i := range 40 {
		f := feedback.Feedback{RunID: strconv.Itoa(i), Rating: feedback.RatingUp, Legs: map[string]float64{search.LegDense: 1, search.LegLexical: 0}}
		if err := feedback.AppendFeedback(data, &f); err != nil {
			t.Fatal(err)
		}
	}
	share := func(adaptive bool) float64 {
		a := open(t, ragflow.Config{
			DataDir: data, Docs: docs, AdaptiveWeights: adaptive,
			Models: ragflow.Models{Embedder: newMeaning()}, Dense: search.Dense{Alpha: 0.5},
		})
		indexed(t, a)
		for _, h := range searchLeg(t, a, "basil water", 2, search.LegHybrid).Hits {
			for _, l := range h.Legs {
				if l.Name == search.LegDense {
					return l.Share
				}
			}
		}
		t.Fatal("nothing was found by meaning")
		return 0
	}
	if got := share(false); got != 0.5 {
		t.Errorf("off: the dense leg has %v", got)
	}
	if got := share(true); math.Abs(got-0.8) > 1e-9 { // twice the one, half of the other
		t.Errorf("on: the dense leg has %v", got)
	}
	if err := feedback.AppendFeedback(data, &feedback.Feedback{Rating: feedback.Reset}); err != nil {
		t.Fatal(err)
	}
	if got := share(true); got != 0.5 {
		t.Errorf("after a reset the dense leg has %v", got)
	}
}
