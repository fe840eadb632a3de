package ragflow_test

import (
	"fmt"
	"strings"
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

// TestVersions: if documents differ in a number, both are shown, the newest first.
func TestVersions(t *testing.T) {
	old := "# Fees\n\nGültig ab 1. März 2024. Der Jahresbeitrag für Erwachsene beträgt 60 Euro und ist im Januar fällig.\n"
	files := map[string]string{
		"2025/prices.md": prices2025, "2026/prices.md": prices2026, "backup/prices.md": prices2025,
		"fees-old.md": old, "fees.md": strings.NewReplacer("2024", "2026", "60", "75").Replace(old),
		"leave-2023.md": "# Leave (version 1, valid from 1 January 2023)\n\nFull-time staff have 25 days of paid leave a year. Up to 3 unused days may be carried over. Gwen approves them.\n",
		"leave-2025.md": "# Leave (version 2, valid from 1 January 2025)\n\nFull-time staff have 27 days of paid leave a year. Up to 5 unused days may be carried over. Amara approves them.\n\nThe workshop is closed between Christmas and New Year. Those days cost no leave.\n",
		"list-2024.csv": "Article,Price\nOak door,385\nPine door,240\nSash window,920\n", "list-2025.csv": "Article,Price\nOak door,410\nPine door,255\nSash window,980\n",
		"canoe.md": "# Rental\n\nThe rent of a canoe for one day is 20 euros.\n", "kayak.md": "# Rental\n\nThe rent of a kayak for one day is 25 euros.\n",
		"rye.md": "# Bread\n\nFrom 2025 on: a loaf of rye costs 4 euros, with tax and without a bag.\n",
	}
	a := open(t, ragflow.Config{Docs: pages(t, files)})
	for _, c := range []struct{ question, shown string }{ // files in the order of the answer; if one is given, others may follow
		{"How much is a night in the dormitory?", "2026/prices.md 2025/prices.md"},
		{"How much was a night in the dormitory in 2025?", "2025/prices.md 2026/prices.md"},
		{"Wie hoch ist der aktuelle Jahresbeitrag für Erwachsene?", "fees.md fees-old.md"},
		{"How many days of leave do full-time staff have?", "leave-2025.md leave-2023.md"},
		{"What is the price of an oak door?", "list-2025.csv list-2024.csv"},
		{"What is the rent of a canoe for one day?", "canoe.md"},
		{"What does a loaf of rye cost?", "rye.md"},
	} {
		r := ask(t, a, "", c.question)
		var shown []string
		for _, cited := range r.Citations {
			if i := len(shown) - 1; i < 0 || shown[i] != cited.Source {
				shown = append(shown, cited.Source)
			}
		}
		if strings.Contains(r.Answer, "Sash") {
			t.Errorf("%s: shows more than the row: %s", c.question, r.Answer)
		}
		both := strings.Contains(c.shown, " ")
		if !both && len(shown) > 1 {
			shown = shown[:1]
		}
		if got := strings.Join(shown, " "); got != c.shown {
			t.Errorf("%s: shows %s, want %s: %s", c.question, got, c.shown, r.Answer)
		}
		if differ := strings.Contains(r.Answer, "differ") || strings.Contains(r.Answer, "unterscheiden"); differ != both {
			t.Errorf("%s: says that they differ: %v: %s", c.question, differ, r.Answer)
		}
	}
}

// TestLaterDocument: what a later document of a series says follows the best passage, unless the question names that one.
func TestLaterDocument(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"2025-01-14.md": "# Team meeting, 14 January 2025\n\n## Summer party\n\nThe summer party is planned for 12 July at Roundhay Park.\n\n## Van\n\nThe van has new tyres.\n",
		"2025-02-18.md": "# Team meeting, 18 February 2025\n\n## Summer party\n\nRoundhay Park is booked out. The summer party moves to 19 July, in the yard.\n\n## First aid\n\nAmara renews her certificate on 5 March.\n",
		"lease.md":      "# Lease of 1 March 2025\n\nThe summer party of the neighbours may use the yard.\n",
	})})
	for _, c := range []struct {
		question string
		later    bool
	}{
		{"When is the summer party planned?", true},
		{"When is the summer party, says the meeting in January?", false},
		{"Has the van new tyres?", false},
	} {
		r := ask(t, a, "", c.question)
		got := strings.Contains(r.Answer, "later document speaks of it, too:\n\n2025-02-18.md (2025-02-18):") && strings.Contains(r.Answer, "19 July")
		if got != c.later || c.later && r.Grade.Score >= 0.75 {
			t.Errorf("%s: shows the later one: %v, graded %.2f: %s", c.question, got, r.Grade.Score, r.Answer)
		}
	}
}

// TestChangedMail: a reply that quotes a mail and changes what it says is shown below it.
func TestChangedMail(t *testing.T) {
	const (
		head = "From: %s@example.com\nDate: Tue, 0%d May 2025 09:14:00 +0100\nSubject: %sYour staircase\n\n"
		text = "The glass arrives later than promised. We have to move the fitting to the week of 23 June. Tom and Piotr will fit it on Monday 23 June at 8:00."
	)
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"a.eml": fmt.Sprintf(head, "gwen", 6, "") + text + "\n",
		"b.eml": fmt.Sprintf(head, "miriam", 7, "Re: ") + "Monday does not suit me. Tuesday 24 June would be fine.\n\nOn Tue, 6 May 2025 at 09:14, Gwen wrote:\n> " + text + "\n",
	})})
	r := ask(t, a, "", "When will they fit the staircase?")
	if !strings.Contains(r.Answer, "Tuesday 24 June would be fine. [Source 2]") {
		t.Errorf("without the reply: %s", r.Answer)
	}
}
