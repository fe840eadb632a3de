package offline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLabels parts notes that no blank line parts; code and sentences that go on stay whole.
func TestLabels(t *testing.T) {
	for name, tt := range map[string]struct {
		s    string
		want []string
	}{
		"notes": {"Meeting notes, 14 May\nPresent: Maria, Tom\n\n1. Launch. We agreed to move it.\nAction items:\n- Maria: update the sheet\n- Tom: send invitations\nNext meeting: 28 May\n", []string{
			"Meeting notes, 14 May", "Present: Maria, Tom", "Launch. We agreed to move it.", "Action items:", "Maria: update the sheet", "Tom: send invitations", "Next meeting: 28 May",
		}},
		"an invoice": {"Net total: 300.00\nVAT 23%: 69.00\nTotal to pay: 369.00\n\nBank account: PL61\nPlease give the number.\n", []string{
			"Net total: 300.00", "VAT 23%: 69.00", "Total to pay: 369.00", "Bank account: PL61", "Please give the number.",
		}},
		"a long line goes on":  {"Note: what is said here has no room on one line of this width\nMaria said.\n", []string{"Note: what is said here has no room on one line of this width\nMaria said."}},
		"an item goes on":      {"- Open it.\nClose it.\n- next: one\n", []string{"Open it.\nClose it.", "next: one"}},
		"a sentence goes on":   {"It holds the\nfollowing: one and\nAlso 12:30 Uhr.\n", []string{"It holds the\nfollowing: one and\nAlso 12:30 Uhr."}},
		"code":                 {"> ```yaml\n> a\nName: x\n```\n", []string{"> ```yaml\n> a\nName: x\n```"}},
		"a label and its text": {"It stops.\nNote: it starts again.\n", []string{"It stops.", "Note: it starts again."}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range units(tt.s) {
				got = append(got, tt.s[u.start:u.end])
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
