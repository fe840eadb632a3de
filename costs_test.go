package ragflow_test

import (
	"testing"

	"example.com/ragflow"
)

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
