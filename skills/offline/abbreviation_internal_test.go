package offline

import "testing"

func TestSpellsOut(t *testing.T) {
	for _, tt := range []struct {
		said, abbreviation string
		want               bool
	}{
		{"It uses multiversion concurrency control (MVCC) to store rows.", "MVCC", true},
		{"a multiversion model (Multiversion Concurrency Control, MVCC).", "MVCC", true},
		{"MVCC (Multiversion Concurrency Control) is used.", "MVCC", true},
		{"The “Write-Ahead Log” (WAL) is kept.", "WAL", true},
		{"The write ahead log (WAL) is kept.", "WAL", true},
		{"Because of MVCC, it is necessary.", "MVCC", false},
		{"With snapshots (MVCC) it works.", "MVCC", false},
		{"(MVCC)", "MVCC", false},
		{"MVCC ()", "MVCC", false},
		{"MVCC (" + `"" "` + ")", "MVCC", false},
		{"MVCC (", "MVCC", false},
	} {
		if got := spellsOut(tt.said, tt.abbreviation); got != tt.want {
			t.Errorf("spellsOut(%q) = %v", tt.said, got)
		}
	}
}
