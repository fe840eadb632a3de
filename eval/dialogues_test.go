package eval_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ragflow "example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
)

// followUpFloors are the least shares, by half, of follow-ups whose page comes first among those whose page comes
// first if they are asked in their standalone form.
var followUpFloors = map[string]float64{"look": 0.85, "report": 0.80}

// TestDialogues asks the dialogues of testdata/dialogues.jsonl, each turn in its thread and in its standalone
// form without one. A page counts if it is the first of the ranking that answers are made from. The id of a
// dialogue is half/corpus/subject: only "look" is tuned on, and only its failures are logged.
func TestDialogues(t *testing.T) {
	if testing.Short() {
		t.Skip("asks 600 questions over 2,677 articles and seven folders")
	}
	needMeaning(t)
	items, err := eval.ReadFile("testdata/dialogues.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	assistants, totals := map[string]*ragflow.Assistant{}, map[string]*turnTotals{}
	for _, item := range items {
		part := strings.Split(item.ID, "/")
		half, corpus := part[0], part[1]
		if _, ok := assistants[corpus]; !ok {
			assistants[corpus] = openCorpus(t, corpus)
		}
		if assistants[corpus] == nil {
			continue // this machine lacks the documents
		}
		for _, of := range []string{half, half + ", " + corpus, half + ", " + item.Lang} {
			if totals[of] == nil {
				totals[of] = &turnTotals{}
			}
		}
		for i, turn := range item.Turns {
			in, alone := firstIs(t, assistants[corpus], item.ID, turn.Question, turn), firstIs(t, assistants[corpus], "", turn.Standalone, turn)
			for _, of := range []string{half, half + ", " + corpus, half + ", " + item.Lang} {
				totals[of].add(i == 0, turn.Question != turn.Standalone, in, alone)
			}
			if half == "look" && i > 0 && !in {
				t.Logf("%s.%d %q: not first; standalone %v", item.ID, i+1, turn.Question, alone)
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(totals)) {
		n := totals[of]
		t.Logf("%s: page first for %d of %d follow-ups, %d in standalone form; %d of %d new questions, %d without a thread",
			of, n.first, n.followUps, n.alone, n.kept, n.others, n.ownAlone)
		if got := float64(n.first) / float64(n.alone); got < followUpFloors[of] {
			t.Errorf("%s: page first for %.2f of what the standalone form finds first, want at least %.2f", of, got, followUpFloors[of])
		}
	}
}

// turnTotals counts turns whose page comes first.
type turnTotals struct {
	followUps, first, alone int // turns that need earlier ones, as typed and in their standalone form
	others, kept, ownAlone  int // later turns that need none, in their thread and without it
}

func (n *turnTotals) add(opening, followUp, in, alone bool) {
	one := map[bool]int{true: 1}
	switch {
	case followUp:
		n.followUps, n.first, n.alone = n.followUps+1, n.first+one[in], n.alone+one[alone]
	case !opening:
		n.others, n.kept, n.ownAlone = n.others+1, n.kept+one[in], n.ownAlone+one[alone]
	}
}

// openCorpus indexes the documents of a corpus; it returns nil if it is one of eval/field's manuals and FIELD_DATA
// does not name their folder.
func openCorpus(t *testing.T, corpus string) *ragflow.Assistant {
	t.Helper()
	dir := filepath.Join("field", corpus)
	switch lang, ok := strings.CutPrefix(corpus, "xquad-"); {
	case ok:
		paragraphs, _ := xquad(t, lang)
		dir = asFiles(t, paragraphs)
	case corpus == "clapnq":
		dir = articles(t)
	case !strings.HasPrefix(corpus, "office"):
		dir = filepath.Join(os.Getenv("FIELD_DATA"), corpus)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Logf("%s is left out: %v", corpus, err)
		return nil
	}
	assistant, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := assistant.Close(); err != nil {
			t.Error(err)
		}
	})
	return assistant
}

// articles writes the passages of MTRAG's domain clapnq into a folder, one file for each article of Wikipedia.
func articles(t *testing.T) string {
	t.Helper()
	texts := map[string]string{}
	lines(t, golden.Public(t, "mtrag", "corpus-pooled", "clapnq.jsonl.gz"), func(line []byte) error {
		var p paragraph
		err := json.Unmarshal(line, &p)
		texts[p.Title] += "\n" + p.Text + "\n"
		return err
	})
	dir := t.TempDir()
	for title, text := range texts {
		file := filepath.Join(dir, strings.ReplaceAll(title, "/", "-")+".md")
		if err := os.WriteFile(file, []byte("# "+title+"\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// firstIs reports whether the passage ranked first for a question is of a page of the turn.
func firstIs(t *testing.T, a *ragflow.Assistant, thread, question string, turn eval.Turn) bool {
	t.Helper()
	reply, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: thread})
	if err != nil {
		t.Fatalf("%q: %v", question, err)
	}
	run, err := a.Threads().Run(t.Context(), reply.RunID)
	if err != nil {
		t.Fatalf("%q: %v", question, err)
	}
	ranked := run.State.Turn.Ranking.Hits
	return len(ranked) > 0 && slices.Contains(turn.Relevant, reply.Retrieved[ranked[0]].Source)
}
