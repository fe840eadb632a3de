package offline_test

import (
	"strings"
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestIdentifiers asks what an identifier is: the reference has a section about it, and
// other pages name it more often.
func TestIdentifiers(t *testing.T) {
	notes := page("notes", "Tips", "Understand `select_related()`. Use `select_related()` where `select_related()` helps, and chain `select_related()` calls.\n")
	reference := page("ref", "QuerySet", "## `reverse()`\n\nReverses the order.\n\n## `select_related()`\n\n- `select_related(*fields)`\n\nDefault: none\n\nReturns a set that follows relations. It saves queries. For example:\n\n```\nselect_related(\"blog\")\n```\n")
	for question, want := range map[string]string{
		"What does select_related do?": "From your documents:\n\nReturns a set that follows relations. [Source 2] It saves queries. [Source 2]",
		"What is select_related()?":    "From your documents:\n\nReturns a set that follows relations. [Source 2] It saves queries. [Source 2]",
		"What is reverse()?":           "From your documents:\n\nReverses the order. [Source 2]",
	} {
		if got := answer(t, library{notes, reference}, task(question, 0.8, notes, reference)); got.Text != want {
			t.Errorf("%s: %q, want %q", question, got.Text, want)
		}
		ranked, err := offline.NewReranker(library{notes, reference}).Rerank(t.Context(), ask(question), []state.Source{{Chunk: notes, Score: 1}, {Chunk: reference, Score: 0.8}})
		if err != nil || ranked[0].ID != "ref" {
			t.Errorf("%s: %q comes first, %v", question, ranked[0].ID, err)
		}
	}
	got := answer(t, library{notes, reference}, task("What does select_related save in a loop over blogs?", 0.8, notes, reference))
	if strings.HasPrefix(got.Text, "From your documents:\n\nReturns") {
		t.Errorf("what it asks beside the name counts for nothing: %q", got.Text)
	}
}
