package ragflow_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/search"
)

// TestChunksAreReadOnce: the search, the grade, the context, the answer and the reply of a turn
// share one read of the texts. A retry reads what it found besides.
func TestChunksAreReadOnce(t *testing.T) {
	texts := map[string]string{}
	for i := range 80 {
		texts[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# Herb %d\n\nHerb %d dries in shade %d, as w%d w%d w%d do.\n", i, i, i, i, i+100, i+200)
	}
	a := open(t, ragflow.Config{Docs: pages(t, texts)})
	for _, q := range []struct {
		text string
		want int
	}{{"How does herb 7 dry in the shade?", 1}, {"and herb 8?", 2}} { // what was cited before is read before the search
		reply, reads, err := ragflow.CountReads(t.Context(), a, ragflow.Question{Text: q.text, Thread: "t"})
		if err != nil {
			t.Fatal(err)
		}
		if max := q.want + reply.Grade.Attempts - 1; reads > max || len(reply.Citations) == 0 {
			t.Errorf("%s: %d reads, want at most %d", q.text, reads, max)
		}
	}
}

// TestRerankerDecidesGrade: a model that ranked is heard before the grade, by the grading model
// and by the certainty.
func TestRerankerDecidesGrade(t *testing.T) {
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.6\nREFINED: herbs")},
		llmtest.Entry{When: answers, Do: llmtest.Say("Basil is dried. [Source 1]")},
	))
	defer s.Close()
	docs := pages(t, map[string]string{
		"a.md": "# Keeping herbs\n\nHow do I keep herbs in summer? Keep herbs in summer cool.\n",
		"b.md": "# Basil\n\nBasil is dried in a dry and airy room, and kept dry.\n",
		"c.md": "# Pots\n\nHerbs want pots in summer.\n",
	})
	j := &judge{word: "dry"}
	a := modelled(t, s, func(c *ragflow.Config) {
		c.Docs, c.Models.Reranker, c.Retrieval = docs, j, search.Retrieval{Rerank: search.RerankCrossEncoder}
	})
	const query = "how do I keep herbs in summer, basil"
	reply := ask(t, a, "", query)
	shown := ""
	for _, c := range s.Calls() {
		if shown == "" && strings.Contains(c.System+c.User, grades) {
			shown = c.User
		}
	}
	first := strings.Index(shown, "Basil is dried")
	if other := strings.Index(shown, "Keep herbs"); first < 0 || other >= 0 && other < first {
		t.Errorf("the grading model was not shown the best passage of the reranker first:\n%s", shown)
	}
	if p := reply.Certainty.P; p > 0.5 || reply.Grade.Attempts != 2 { // the reranker finds all of them poor, the words are all there
		t.Errorf("certainty %v after %d attempts; want the verdict of the reranker in it", p, reply.Grade.Attempts)
	}
	if len(j.shown) != 2 {
		t.Errorf("ranked %d times in two attempts", len(j.shown))
	}
}

// TestChecked: words that were shown stay, with each writer of the answer and each end.
func TestChecked(t *testing.T) {
	const right = "A volume keeps the data of a container after the container is removed. [Source 1]"
	for _, tt := range []struct {
		name  string
		says  llmtest.Behaviour
		agent bool
		want  string // beginning of the answer
		warns string
	}{
		{"a model", llmtest.Say(right + " Zebras have eleven stripes in Norway."), false, right + " Zebras have eleven stripes in Norway (unsupported).", ""},
		{"an agent", llmtest.Say(right + " Zebras have eleven stripes in Norway."), true, right + " Zebras have eleven stripes in Norway (unsupported).", ""},
		{"it breaks off", llmtest.Cut(right + " Zebras have el"), false, right, "the answer ends early"},
		{"it breaks off at once", llmtest.Cut("A vol"), false, "", "ragflow went on without it"},
		{"it declines", llmtest.Say("I don't have enough information to answer that question."), false, "I don't have enough information to answer that question.\n\nClosest passages:", ""},
		{"nothing is right", llmtest.Say("Zebras have eleven stripes in Norway."), true, "I did not find", "was withdrawn"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.Script(
				llmtest.Entry{When: grades, Do: llmtest.Say("SCORE: 0.85")},
				llmtest.Entry{When: "", Do: tt.says},
			))
			defer s.Close()
			var told draft
			a := modelled(t, s, func(c *ragflow.Config) { c.Settings.Checked = true })
			r := streamed(t, a, ragflow.Question{Text: "What does a volume keep?", Agent: tt.agent}, told.take)
			if told.shown != r.Answer || told.withdrawn != nil || !strings.HasPrefix(r.Answer, tt.want) {
				t.Errorf("told %+v of %q", told, r.Answer)
			}
			if warned := strings.Join(r.Warnings, "\n"); !strings.Contains(warned, tt.warns) || tt.warns == "" && warned != "" {
				t.Errorf("warnings %q", r.Warnings)
			}
		})
	}
}

// TestTurnCosts gates the SQL statements and model calls of a turn, which do not
// depend on the machine.
func TestTurnCosts(t *testing.T) {
	const turns, maxStatements = 10, 95
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	indexed(t, a)
	ask(t, a, "t", "How often should I water a basil plant?")
	before := ragflow.Statements(a)
	for i := range turns {
		r := ask(t, a, "t", questions[i%len(questions)])
		if r.Usage != (ragflow.Usage{}) {
			t.Errorf("an offline turn used %+v of a model", r.Usage)
		}
	}
	if got := float64(ragflow.Statements(a)-before) / turns; got > maxStatements {
		t.Errorf("a turn makes %.0f statements, want at most %d", got, maxStatements)
	}
}
