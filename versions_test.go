package ragflow_test

import (
	"testing"

	"example.com/ragflow"
)

const (
	prices2025 = "# Price list\n\nValid from January 2025.\n\nA night in the dormitory costs 24 euros. Breakfast costs 7 euros. Towels cost 2 euros.\n"
	prices2026 = "# Price list\n\nValid from January 2026.\n\nA night in the dormitory costs 29 euros. Breakfast costs 8 euros. Towels cost 2 euros.\n"
)

// TestCopies: files with the same text count once, so they change no grade.
func TestCopies(t *testing.T) {
	files := map[string]string{"2025/prices.md": prices2025, "2026/prices.md": prices2026, "house.md": "# House rules\n\nThe doors close at eleven. Dogs are welcome.\n"}
	grade := func() float64 {
		a := open(t, ragflow.Config{Docs: pages(t, files)})
		return ask(t, a, "", "How much is a night in the dormitory?").Grade.Score
	}
	want := grade()
	for _, copied := range []string{"backup/prices.md", "backup/prices (1).md", "backup/Copy of prices.md"} {
		files[copied] = prices2026
	}
	if got := grade(); got != want || want < 0.75 {
		t.Errorf("grade %v with copies, %v without", got, want)
	}
}
