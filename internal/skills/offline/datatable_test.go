package offline_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/state"
)

// chunksOf reads a document and cuts it into small chunks.
func chunksOf(t *testing.T, source, data string) []state.Chunk {
	t.Helper()
	doc, err := load.Parse(t.Context(), source, []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	return chunk.Cut(doc, chunk.Options{Size: 48})
}

// compute asks a question about documents. Only the first chunk was found.
func compute(t *testing.T, question string, documents ...[]state.Chunk) (state.Task, state.Answer) {
	t.Helper()
	l := library(slices.Concat(documents...))
	a := offline.New(l, 0).Answerer
	a.Documents = func(context.Context, string) ([][]state.Chunk, error) { return documents, nil }
	in := task(question, 0.3, l[0])
	got, err := a.Answer(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return in, got
}

var resultOf = regexp.MustCompile(`^[^\n]+: \*\*(.+)\*\* \((.+)\)\n`)

const orders = `Order no.,Position,Customer,City,Paid,Net,Weight (kg)
7,1,Brandt,Kiel,yes,10.50,3
7,2,Brandt,Kiel,yes,20.00,4
8,1,Jansen,Jena,no,5.25,1
9,1,Petersen,Kiel South,not yet,5.25,2
`

// TestComputedFromTable computes from one table, or declines ("").
func TestComputedFromTable(t *testing.T) {
	for _, tt := range []struct{ name, source, table, question, want string }{
		{"a sum", "orders.csv", orders, "What is the sum of net in Jena?", "5.25"},
		{"a unit in the header", "orders.csv", orders, "highest weight", "4"},
		{"equal numbers", "orders.csv", orders, "lowest net", "5.25"},
		{"an order of several rows", "orders.csv", orders, "how many orders", ""},
		{"an order of several rows, all in all", "orders.csv", orders, "total number of orders", ""},
		{"rows", "orders.csv", orders, "how many rows of the customer Brandt", "2"},
		{"a customer of several rows", "orders.csv", orders, "how many customers", ""},
		{"a part of another value", "orders.csv", orders, "sum of net in Kiel", ""},
		{"a value and its longer form", "orders.csv", orders, "sum of net in Kiel South", "5.25"},
		{"two measures", "orders.csv", orders, "sum of the orders", ""},
		{"two operations", "orders.csv", orders, "sum and average of net", ""},
		{"a number of several things", "orders.csv", orders, "total orders in Jena", ""},
		{"an alternative", "orders.csv", orders, "how many rows in Jena or Kiel South", ""},
		{"a negation", "orders.csv", orders, "how many rows not in Jena", ""},
		{"no value fits both", "orders.csv", orders, "how many rows of Jansen in Kiel South", ""},
		{"part of a name", "prices.csv", "Item,Net price,Gross price\nA,1,2\nB,2,4\n", "highest price", ""},
		{"the whole name", "prices.csv", "Item,Net price,Gross price\nA,1,2\nB,2,4\n", "highest gross price", "4"},
		{"currencies", "prices.csv", "Item,Price,Currency\nA,1,EUR\nB,2,USD\n", "sum of the price", ""},
		{"one currency", "prices.csv", "Item,Price,Currency\nA,1,EUR\nB,2,EUR\n", "sum of the price", "3"},
		{"units", "prices.csv", "Item,Price\nA,1 EUR\nB,2 USD\n", "highest price", ""},
		{"shares", "shares.csv", "Party,Share\nA,10 %\nB,20 %\n", "sum of the shares", ""},
		{"the highest share", "shares.csv", "Party,Share\nA,10 %\nB,20 %\n", "highest share", "20 %"},
		{"a blank cell", "prices.csv", "Item,Price\nA,1\nB,\nC,3\n", "sum of the price", ""},
		{"a blank condition", "prices.csv", "Item,Group,Price\nA,x1,1\nB,,2\nC,x1,3\n", "sum of the price of x1", ""},
		{"a total that has no label", "prices.csv", "Item,Price\nA,1\nB,2\n,3\n", "sum of the price", ""},
		{"a total in another column", "prices.csv", "Day,Item,Price\nMonday,A,1\nTuesday,B,2\nTuesday,Total,3\n", "sum of the price", ""},
		{"a total", "prices.csv", "Item,Group,Price\nA,x,1\nB,y,2\nTotal,,3\n", "sum of the price", "3"},
		{"a company that is called so", "prices.csv", "Customer,Price\nTotal Energy,1\nB,2\n", "sum of the price", ""},
		{"years", "ships.csv", "Ship,Built\nMewa,1998\nOrka,2003\n", "sum of built", ""},
		{"years beside a measure", "ships.csv", "Ship,Built,Length\nMewa,1998,9\nOrka,2003,11\n", "sum of built", ""},
		{"the one measure of things", "ships.csv", "Ship,Built,Length\nMewa,1998,9\nOrka,2003,11\n", "sum of the ships", "20"},
		{"codes", "list.csv", "Name,Code\nA,1044\nB,1045\n", "sum of code", ""},
		{"numbers as a condition", "list.csv", "Name,Floor\nA,1\nB,2\n", "how many names on 2", ""},
		{"a word that is no condition", "list.csv", "Name,Class\nA,a\nB,b\n", "how many rows of a class", ""},
		{"a letter that is a value", "list.csv", "Name,Class\nA1,a\nB1,b\n", "how many names in class b", "1"},
		{"years as names", "list.csv", "Cost,2023,2024\nRent,5.5,6\nTax,1.5,2\n", "sum of 2024", "8"},
		{"exact decimals", "list.csv", "Item,Price\nA,0.10\nB,0.20\nC,0.70\n", "sum of the price", "1.00"},
		{"names once more", "list.csv", "Item,Price\nA,1\nItem,Price\nB,2\n", "sum of the price", ""},
		{"a table in a text", "a.md", text400 + "| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n| P2 | 7 |\n", "how many pumps", "2"},
		{"a word of the title of a text", "pipes.md", "# Pipes\n\n## Details\n\n" + text400 + "| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n| P2 | 7 |\n", "how many pipes", ""},
		{"two tables in a text", "a.md", "| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n\n| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n", "sum of litres", ""},
		{"bars in cells", "a.md", "| Pump | Use | Litres |\n| --- | --- | --- |\n| P1 | oil \\| gas | 5 |\n| P2 | oil | 7 |\n", "sum of litres", "12"},
		{"a ragged row", "a.md", "| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n| P2 | 7 | 9 |\n", "sum of litres", ""},
		{"code", "a.md", "```\n| Pump | Litres |\n| --- | --- |\n| P1 | 5 |\n| P2 | 7 |\n```\n", "sum of litres", ""},
		{"prose", "a.md", "We have 5 pumps; each: a litre.\n\nThe sum of litres is 5.", "sum of litres", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, answer := compute(t, tt.question, chunksOf(t, tt.source, tt.table))
			got := ""
			if m := resultOf.FindStringSubmatch(answer.Text); m != nil {
				got = m[1]
			}
			if got != tt.want {
				t.Errorf("got %q, want %q:\n%s", got, tt.want, answer.Text)
			}
		})
	}
}

var text400 = strings.Repeat("A pump moves water. ", 20) + "\n\n"

// TestRowsOfResult cites rows from chunks that were found and from others, shows some, and the total of the table.
func TestRowsOfResult(t *testing.T) {
	var table strings.Builder
	table.WriteString("Item,Town,Price\n")
	for i := range 40 {
		fmt.Fprintf(&table, "I%d,%s,%d.50\n", i, []string{"Ulm", "Hof"}[i%2], i)
	}
	table.WriteString("Total,,800.00\n")
	chunks := chunksOf(t, "prices.csv", table.String())
	in, got := compute(t, "sum of the price in Hof", chunks)
	if !strings.HasPrefix(got.Text, "Sum of Price: **410.00** (20 of 40 rows where Town is Hof)\n\n- Item: I1; Town: Hof; Price: 1.50 [Source 1]\n") ||
		!strings.Contains(got.Text, "\n- … and 12 more\n\nThe table's own total, which was not added:\n\n- Item: Total; Price: 800.00 [Source ") {
		t.Errorf("got\n%s", got.Text)
	}
	if got.Abstained || got.Grade == nil || got.Grade.Score < 0.75 {
		t.Errorf("abstained %v, grade %+v", got.Abstained, got.Grade)
	}
	all := slices.Concat(in.Sources, got.Added)
	for i, c := range got.Citations {
		src := all[got.Order[c.N-1]-1]
		if c.Quote != src.Text[c.Start-src.Start:c.End-src.Start] || i < 8 && !strings.Contains(c.Quote, "Town: Hof") {
			t.Errorf("the quote %q does not stand in the source", c.Quote)
		}
	}
	if len(got.Citations) != 9 || len(got.Added) == 0 || got.Order[0] != 1 {
		t.Errorf("%d citations, order %v, %d sources added", len(got.Citations), got.Order, len(got.Added))
	}
	if _, declined := compute(t, "how many towns", chunks); !declined.Abstained || !strings.Contains(declined.Text, "a spreadsheet program can do that") {
		t.Errorf("a count that is not sure:\n%s", declined.Text)
	}
	if _, two := compute(t, "sum of the price in Hof", chunks, chunksOf(t, "old.csv", table.String())); resultOf.MatchString(two.Text) {
		t.Errorf("two tables fit:\n%s", two.Text)
	}
}
