package offline_test

import (
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestAskedInOtherLanguages grades questions whose words beside one only ask.
func TestAskedInOtherLanguages(t *testing.T) {
	lease := page("lease", "Mietvertrag", "Die Kündigungsfrist beträgt drei Monate. Die Nebenkosten betragen 210 Euro.\n")
	tart := page("tart", "Tarte", "Cuire la tarte 35 minutes dans un four à 180 degrés.\n")
	grader := offline.NewGrader(library{lease, tart})
	for question, chunk := range map[string]state.Chunk{
		"Wie lange ist die Kündigungsfrist?":      lease,
		"Wie hoch sind die Nebenkosten?":          lease,
		"Combien de temps faut-il cuire la tarte": tart,
	} {
		got, err := grader.Grade(t.Context(), ask(question), []state.Chunk{chunk})
		if err != nil || got.Score < 0.5 {
			t.Errorf("%s: %.2f, %v", question, got.Score, err)
		}
	}
}
