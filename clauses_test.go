package ragflow_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow"
)

// contract returns the text of a contract in the form that a Word document has after loading: numbered
// headings and clauses of some length, with amounts and references to other clauses.
func contract(section, clause func(n, m int) string, sentences []string) string {
	var b strings.Builder
	for n := 1; n <= 12; n++ {
		fmt.Fprintf(&b, "## %s\n\n", section(n, 0))
		for m := 1; m <= 5; m++ {
			fmt.Fprintf(&b, "%s", clause(n, m))
			for i := range 6 {
				fmt.Fprintf(&b, " %s", fmt.Sprintf(sentences[(n*7+m*3+i)%len(sentences)], (n*5+m*2+i)%12+1, (n+m+i)%5+1))
			}
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// TestClauseByNumber asks for clauses by their numbers. Nine of ten must be the first passage, and a clause of
// one paragraph is marked in the answer.
func TestClauseByNumber(t *testing.T) {
	decimal := func(n, m int) string {
		if m == 0 {
			return fmt.Sprintf("%d. Part %c", n, 'A'+n)
		}
		return fmt.Sprintf("%d.%d", n, m)
	}
	english := []string{
		"Deliveries follow within %d weeks of an order, see clause %d.", "The rate is %d.%d percent of the value of the order.", "Notices are sent in writing at least %d days before day %d of a month.",
		"Damage is reported within %d days to office %d.", "Goods stay the property of the seller until they are paid, under schedule %d, part %d.", "The buyer keeps records for %d years in %d copies.", "Disputes go to chamber %d of court %d.",
	}
	german := []string{
		"Die Lieferung erfolgt binnen %d Wochen, siehe Anlage %d.", "Der Satz beträgt %d,%d Prozent des Wertes.", "Mitteilungen ergehen mindestens %d Tage vor dem Tag %d des Monats.",
		"Schäden werden binnen %d Tagen der Stelle %d gemeldet.", "Die Ware bleibt Eigentum bis zur Zahlung nach Liste %d, Teil %d.", "Der Käufer bewahrt Belege %d Jahre in %d Exemplaren auf.", "Streit entscheidet Kammer %d des Gerichts %d.",
	}
	vietnamese := []string{
		"Hàng được giao trong %d tuần, xem phụ lục %d.", "Mức phạt là %d,%d phần trăm giá trị đơn hàng.", "Thông báo được gửi trước %d ngày, vào ngày %d hằng tháng.",
		"Hư hỏng được báo trong %d ngày cho phòng %d.", "Hàng thuộc bên bán cho đến khi trả tiền theo bảng %d, phần %d.", "Bên mua giữ sổ sách %d năm thành %d bản.",
	}
	for _, tt := range []struct {
		name, text, question string
		marks                func(n, m int) string
		numbers              [][2]int
	}{
		{"clause", contract(decimal, decimal, english), "What does clause %s say?", decimal, [][2]int{{3, 2}, {4, 4}, {7, 1}, {10, 5}, {12, 3}, {1, 1}, {2, 5}, {5, 3}, {8, 4}, {11, 2}}},
		{"section sign", contract(func(n, _ int) string { return fmt.Sprintf("§ %d Teil %c", n, 'A'+n) }, func(_, m int) string { return fmt.Sprintf("(%d)", m) }, german), "Was steht in %s?", func(n, _ int) string { return fmt.Sprintf("§ %d", n) }, [][2]int{{2, 0}, {3, 0}, {5, 0}, {7, 0}, {9, 0}, {11, 0}}},
		{"Ziffer", contract(decimal, decimal, german), "Was regelt Ziffer %s?", func(n, _ int) string { return fmt.Sprintf("%d.", n) }, [][2]int{{2, 0}, {4, 0}, {6, 0}, {8, 0}, {10, 0}}},
		{"Điều", contract(func(n, _ int) string { return fmt.Sprintf("Điều %d. Phần %c", n, 'A'+n) }, decimal, vietnamese), "%s quy định gì?", func(n, _ int) string { return fmt.Sprintf("Điều %d", n) }, [][2]int{{2, 0}, {4, 0}, {7, 0}, {9, 0}, {12, 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := open(t, ragflow.Config{Docs: pages(t, map[string]string{"contract.md": tt.text})})
			found := 0
			for _, number := range tt.numbers {
				mark := tt.marks(number[0], number[1])
				question := fmt.Sprintf(tt.question, strings.TrimSuffix(mark, "."))
				if number[1] > 0 && !strings.Contains(ask(t, a, "", question).Answer, "**"+mark+" ") {
					t.Errorf("%s: the clause is not marked", question)
				}
				hits := searchLeg(t, a, question, 5, "").Hits
				if len(hits) > 0 && strings.Contains("\n"+strings.ReplaceAll(hits[0].Text, "## ", ""), "\n"+mark) {
					found++
				} else if len(hits) > 0 {
					t.Logf("%s: %.200q", question, hits[0].Text)
				}
			}
			if t.Logf("%d of %d", found, len(tt.numbers)); 10*found < 9*len(tt.numbers) {
				t.Error("the passage of a clause is not the first one")
			}
		})
	}
}

// TestSectionAlone asks for short sections of two documents by their numbers: the section with the sign or the words of
// the question is shown, and nothing of its neighbours.
func TestSectionAlone(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"lease.md":    "# Mietvertrag\n\n## § 2 Mietdauer\nDas Mietverhältnis beginnt am 1. März.\n\n## § 5 Kündigung\nDie Frist beträgt drei Monate.\n",
		"nordwind.md": "# Agreement with Nordwind\n\n2. Parties\nHarbour and Nordwind.\n\n3.2 Notice\nSix weeks in writing.\n\n5. Liability\nUp to the yearly fee.\n",
		"minutes.md":  "# Minutes\n\n1. Roof\n2. Boats\n5 people came.\n",
	})})
	for question, want := range map[string]string{
		"Was steht in § 5?":                           "Die Frist beträgt drei Monate. [Source 1]",
		"What does clause 3.2 say?":                   "3.2 Notice Six weeks in writing. [Source 1]",
		"What is clause 5 of the Nordwind agreement?": "5. Liability Up to the yearly fee. [Source 1]",
	} {
		r := ask(t, a, "", question)
		if _, said, _ := strings.Cut(r.Answer, "\n\n"); r.Abstained || said != want {
			t.Errorf("%s: %q, want %q", question, r.Answer, want)
		}
	}
}
