package offline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestFields answers with the one line that gives what is asked behind its name.
func TestFields(t *testing.T) {
	invoice := page("invoice", "Invoice 2026-014", "The mill of the sons, who are at your service\n\nCustomer: Anna Schmidt\nDate: 3 February 2026\nDue: 17 February 2026\n\nNet: 390.80 EUR\nVAT 19%: 74.25 EUR\nTotal: 465.05 EUR\n")
	people := page("people", "People", "## Anna\n\nAnna lives in Rome. Birthday: 4 May.\n\n## Ben\n\nBen lives in Oslo. Birthday: 9 June.\n")
	mounts := page("mounts", "Mounts", "A bind mount shares a folder of the host with a container.\n\nThese are examples:\n\n- Bind mount: `type=bind`\n- Volume: `type=volume`\n")
	for _, tt := range []struct {
		name, question string
		chunk          state.Chunk
		want           string
	}{
		{"of an invoice", "What is the total of invoice 2026-014?", invoice, "Total: 465.05 EUR [Source 1]"},
		{"one word of the label", "How much VAT is on invoice 2026-014?", invoice, "VAT 19%: 74.25 EUR [Source 1]"},
		{"the one of two below whose heading it stands", "When is Ben's birthday?", people, "Birthday: 9 June. [Source 1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, library{tt.chunk}, task(tt.question, 0.9, tt.chunk))
			if diff := cmp.Diff("From your documents:\n\n"+tt.want, got.Text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	checkWords(t, answer(t, library{mounts}, task("What is a bind mount?", 0.9, mounts)).Text, []string{"shares a folder"}, nil)
}
