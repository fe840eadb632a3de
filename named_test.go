package ragflow_test

import (
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestNamedDocument asks about a document by a name that its text never says.
func TestNamedDocument(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"offers/nordwind-2026.md": "# Your enquiry\n\nWe deliver within three weeks to your boathouse.\n",
		"offers/suedwerk-2026.md": "# Offer\n\nDelivery takes ten days. Delivery is free.\n",
		"minutes-2026-02.md":      "# Minutes\n\nThe roof was discussed in February.\n",
		"minutes-2026-03.md":      "# Minutes\n\nThe boats were discussed in March.\n",
	})})
	for question, want := range map[string]string{
		"What does the Nordwind offer say about delivery?": "offers/nordwind-2026.md",
		"Summarise minutes-2026-03":                        "minutes-2026-03.md",
	} {
		r := ask(t, a, "", question)
		if len(r.Citations) == 0 || !strings.HasSuffix(r.Citations[0].Source, want) {
			t.Errorf("%s: %+v, want %s first", question, r.Citations, want)
		}
	}
}
