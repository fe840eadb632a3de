package offline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestShowsWhatIsSeen checks that a passage is shown with everything that a reader of its document sees,
// without markup. TestShownIsWhole does the same for random documents of every format.
func TestShowsWhatIsSeen(t *testing.T) {
	rent := "Rent of the boat a week:\n\n310.50 €\n\nFirst day:\n\n2027-03-15\n\nBoarding:\n\n14:30\n\nPhone of the harbour:\n\n+48 58 555 01 07\n\n(4)\n\n１２"
	many := "The codes of the lock:\n\n```sh\n" + strings.Repeat("true\n", 15) + "sixteen\nseventeen\neighteen\n```\n\nThey change in May."
	for _, tt := range []struct {
		name, source, body, question string
		want, gone                   []string
	}{
		{"a value below its label", "p.md", rent, "What is the rent of the boat a week?", []string{"310.50 €", "2027-03-15", "14:30", "+48 58 555 01 07", "(4)", "１２"}, nil},
		{"a value of its own", "p.md", "The reading in March was\n\n4471.5\n\nand in May\n\n88 210.00", "What was the reading in March?", []string{"4471.5", "88 210.00"}, nil},
		{"a value that is a heading", "p.md", "A bicycle costs\n\n### 14.50 €\n\nA child travels for\n\n### 3.00 €", "What does a bicycle cost?", []string{"A bicycle costs**\n\n14.50 €\n\nA child travels for\n\n3.00 €"}, []string{"#"}},
		{"an amount that is a heading", "p.pdf", "Amount due for water:\n\n## 84.20 EUR\n\nPay it in June.", "What is the amount due for water?", []string{"84.20 EUR\n\nPay it in June."}, []string{"#"}},
		{"a name that is a heading", "p.md", "The keeper of the lions is\n\n## Anna Kowalska\n\nShe has nine keys.", "Who is the keeper of the lions?", []string{"Anna Kowalska"}, nil},
		{"a heading behind the beginning of a sentence", "p.md", "The keeper of the lions is\n\n## " + strings.Repeat("a long name ", 9), "Who is the keeper of the lions?", []string{"The keeper of the lions is …"}, nil},
		{"a heading behind a sentence", "p.md", "The keeper is Anna.\n\n## 2027\n\nShe has nine keys.", "Who is the keeper?", []string{"The keeper is Anna. ["}, []string{"…"}},
		{"rules", "p.md", "The pump is red.\n\n---\n\n* * *\n\n=====\n\n———\n\nIt is new.", "What colour is the pump?", []string{"**The pump is red.**\n\nIt is new."}, nil},
		{"text behind a comment", "p.md", "The pump is red.\n\n<!-- checked\nin May --> It costs 90 €.", "What colour is the pump?", []string{"It costs 90 €."}, []string{"checked", "May"}},
		{"an open comment outside of Markdown", "p.pdf", "The pump is red.\n\n<!-- begins a comment\n\nIt costs 90 €.", "What colour is the pump?", []string{"begins a comment", "It costs 90 €."}, nil},
		{"links that are defined", "p.md", "The pump is red.\n\n[one]: https://a.example/b \"the title\"\n\nIt is new.", "What colour is the pump?", []string{"It is new."}, []string{"title"}},
		{"no link is defined", "p.txt", "[12:30]: The pump is red.\n\n[12:31]: yes", "What colour is the pump?", []string{"[12:30]: The pump is red.", "[12:31]: yes"}, nil},
		{"a speaker in brackets", "p.md", "[Ann]: The pump is red.\n\n[Bob]: It costs 90 €.", "What colour is the pump?", []string{"[Ann]:", "It costs 90 €."}, nil},
		{"a label in brackets", "p.md", "[Colour of the pump]:\n\n(7)\n\nIt is new.", "What is the colour of the pump?", []string{"[Colour of the pump]:", "(7)"}, nil},
		{"a column of numbers", "p.md", "The depth of the harbour:\n\n" + strings.Repeat("12.5\n\n", 400), "What is the depth of the harbour?", []string{"12.5\n\n12.5"}, nil},
		{"names with marks", "p.txt", "The pump calls __init__ and **__main__** of it. Nothing else is there.", "What does the pump call?", []string{"calls __init__ and **__main__** of it."}, nil},
		{"a row of dashes", "p.md", "| Pump | Valve |\n| --- | --- |\n| red | blue |\n| - | - |\n| 7 | 8 |", "Which valves has the pump?", []string{"| Pump | Valve |\n| --- | --- |\n| red | blue |\n| - | - |\n| 7 | 8 |"}, nil},
		{"two tables", "p.md", "| Pump | Use |\n| --- | --- |\n| red | oil |\n\n| Valve | Use |\n| --- | --- |\n| blue | gas |", "What are pump and valve used for?", []string{"| Valve | Use |\n| --- | --- |\n| blue | gas |"}, nil},
		{"a power", "p.md", "The pump has 2**3 valves and `a**b` of them leak. **Call** us and **them**.", "How many valves has the pump?", []string{"2**3 valves and `a**b`"}, nil},
		{"signs before a number", "p.txt", "+ 3 degrees is the pump's limit.\n\n> 40 degrees breaks the pump.", "What is the limit of the pump?", []string{"+ **3 degrees", `\> 40 degrees`}, nil},
		{"code that is cut", "p.md", many, "What are the codes of the lock?", []string{"sixteen\n```\n… and 2 more lines of code\n\nThey change in May."}, []string{"seventeen"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := library{page("p", tt.body), page("q", "Nothing of the kind is told here.")}
			l[0].Source = tt.source
			got := answer(t, l, task(tt.question, 0.9, l[0]))
			for _, want := range tt.want {
				if !strings.Contains(got.Text, want) {
					t.Errorf("%q is missing in:\n%s", want, got.Text)
				}
			}
			for _, gone := range tt.gone {
				if strings.Contains(got.Text, gone) {
					t.Errorf("%q is shown in:\n%s", gone, got.Text)
				}
			}
		})
	}
	got := answer(t, library{page("p", many)}, task("What are the codes of the lock?", 0.9, page("p", many)))
	if len(got.Citations) != 2 || strings.Contains(got.Citations[0].Quote+got.Citations[1].Quote, "seventeen") {
		t.Errorf("quoted is %+v, want what is shown before and after the gap", got.Citations)
	}
}

// TestGapsAreMarked checks for "…" in place of rows or items that are left out between those shown.
func TestGapsAreMarked(t *testing.T) {
	var table, list strings.Builder
	table.WriteString("| Port | Use |\n| --- | --- |\n")
	for i := range 30 {
		fmt.Fprintf(&table, "| %d | the service of the town number %d |\n", 2000+i, i)
		fmt.Fprintf(&list, "- Door %d leads to the room of the town number %d.\n", i, i)
	}
	behind := "\nCall the porter " + strings.TrimSpace(strings.Repeat("or the guard ", 6)) + " for more."
	for question, tt := range map[string]struct{ body, want string }{
		"What is port 2028 for?":           {table.String() + behind, "| --- | --- |\n| … |\n| 2028 | the service of the town number 28 |\n\n[Source 1]"},
		"To which room does door 28 lead?": {list.String() + behind, "- …\n- Door 21"},
	} {
		l := library{page("p", tt.body)}
		got := answer(t, l, task(question, 0.9, append(slices.Clone(l), page("q", "Nothing."))...)).Text
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q is missing in:\n%s", question, tt.want, got)
		}
	}
}
