package load_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"example.com/ragflow/internal/load"
)

// sheet is a sheet of a test workbook.
type sheet struct {
	rows    [][]any
	merged  []string // ranges, such as A1:C1
	formats map[string]string
	notes   map[string]string
	change  func(f *excelize.File, name string) error
}

// workbookOf returns an XLSX with a sheet named S.
func workbookOf(t *testing.T, s sheet) []byte {
	t.Helper()
	f := excelize.NewFile()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(f.SetSheetName("Sheet1", "S"))
	for r, row := range s.rows {
		for c, value := range row {
			ref, err := excelize.CoordinatesToCellName(c+1, r+1)
			check(err)
			if value != nil {
				check(f.SetCellValue("S", ref, value))
			}
		}
	}
	for _, ref := range s.merged {
		from, to, _ := strings.Cut(ref, ":")
		check(f.MergeCell("S", from, to))
	}
	for ref, code := range s.formats {
		style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &code})
		check(err)
		check(f.SetCellStyle("S", ref, ref, style))
	}
	for ref, text := range s.notes {
		check(f.AddComment("S", excelize.Comment{Cell: ref, Author: "Ann", Paragraph: []excelize.RichTextRun{{Text: text}}}))
	}
	if s.change != nil {
		check(s.change(f, "S"))
	}
	var b bytes.Buffer
	check(f.Write(&b))
	return b.Bytes()
}

// partsOf returns the parts of a document.
func partsOf(t *testing.T, source string, data []byte) []string {
	t.Helper()
	doc, err := load.Parse(t.Context(), source, data)
	if err != nil {
		t.Fatal(err)
	}
	checkChunks(t, doc)
	return strings.Split(strings.TrimSpace(doc.Text), "\n\n")
}

// TestSheets reads sheets as people lay them out: the parts below the heading.
func TestSheets(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sheet sheet
		want  []string
	}{
		{
			"years over quarters and merged labels",
			sheet{
				rows: [][]any{
					{"Ferry passengers, thousands"},
					{"Route", "Season", 2022, nil, 2023},
					{nil, nil, "Q1", "Q2", "Q1", "Q2"},
					{"Hel", "Weekday", 1, 2, 3, 4},
					{nil, "Sunday", 5, 6, 7, 8},
					{"Sopot", "Weekday", 11, 12, 13, 14},
				},
				merged: []string{"A1:F1", "A2:A3", "B2:B3", "C2:D2", "E2:F2", "A4:A5"},
			},
			[]string{
				"Ferry passengers, thousands",
				"Route: Hel; Season: Weekday; 2022 Q1: 1; 2022 Q2: 2; 2023 Q1: 3; 2023 Q2: 4",
				"Route: Hel; Season: Sunday; 2022 Q1: 5; 2022 Q2: 6; 2023 Q1: 7; 2023 Q2: 8",
				"Route: Sopot; Season: Weekday; 2022 Q1: 11; 2022 Q2: 12; 2023 Q1: 13; 2023 Q2: 14",
			},
		},
		{
			"merged numbers are not repeated",
			sheet{rows: [][]any{{"Team", "Man", "Hours", "Bonus"}, {"A", "Ann", 8, 100}, {nil, "Bob", 7}}, merged: []string{"A2:A3", "D2:D3"}},
			[]string{"Team: A; Man: Ann; Hours: 8; Bonus: 100", "Team: A; Man: Bob; Hours: 7"},
		},
		{
			"names in equal neighbours",
			sheet{rows: [][]any{{"Item", "Plan", "Plan", "Real"}, {nil, "May", "June", "May"}, {"Rent", 5, 6, 7}}},
			[]string{"Item: Rent; Plan May: 5; Plan June: 6; Real May: 7"},
		},
		{
			"one row of names above words",
			sheet{rows: [][]any{{"Item", "Price"}, {"Water", "free"}, {"Tea", 3.5}}},
			[]string{"Item: Water; Price: free", "Item: Tea; Price: 3.5"},
		},
		{
			"years as names, and years as values",
			sheet{rows: [][]any{{"Cost", 2023, 2024}, {"Rent", 500, 510}, nil, {"Ship", "Built"}, {"Mewa", 1998}, {"Orka", 2003}}},
			[]string{"Cost: Rent; 2023: 500; 2024: 510", "Ship: Mewa; Built: 1998", "Ship: Orka; Built: 2003"},
		},
		{
			"sections and a note",
			sheet{rows: [][]any{{"Item", "Pieces", "Price"}, {"Fruit"}, {"Plums", 3, 1.5}, {"Pears", 4, 2}, {"Roots"}, {"Beet", 5, 1}, {"Source: own count"}}},
			[]string{"Fruit; Item: Plums; Pieces: 3; Price: 1.5", "Fruit; Item: Pears; Pieces: 4; Price: 2", "Roots; Item: Beet; Pieces: 5; Price: 1", "Source: own count"},
		},
		{
			"a row with a blank is no section of words",
			sheet{rows: [][]any{{"Name", "Town"}, {"Ann", "Hel"}, {"Bob"}, {"Eva", "Ulm"}}},
			[]string{"Name: Ann; Town: Hel", "Name: Bob", "Name: Eva; Town: Ulm"},
		},
		{
			"labels once for several rows",
			sheet{rows: [][]any{{"Region", "Product", "Sum"}, {"North", "Pumps", 1}, {nil, "Valves", 2}, {nil, "Seals", 3}, {"South", "Pumps", 4}, {nil, "Seals", 5}}},
			[]string{"Region: North; Product: Pumps; Sum: 1", "Region: North; Product: Valves; Sum: 2", "Region: North; Product: Seals; Sum: 3", "Region: South; Product: Pumps; Sum: 4", "Region: South; Product: Seals; Sum: 5"},
		},
		{
			"tables below each other",
			sheet{rows: [][]any{{"Boat", "Price"}, {"Mewa", 5}, nil, {"Orka", 7}, nil, {"Crew"}, {"Name", "Share"}, {"Jan", 3}}},
			[]string{"Boat: Mewa; Price: 5", "Boat: Orka; Price: 7", "Crew", "Name: Jan; Share: 3"},
		},
		{
			"tables beside each other",
			sheet{rows: [][]any{{"Boat", "Price", nil, nil, "Name", "Share"}, {"Mewa", 5, nil, nil, "Jan", 1}, {"Orka", 7, nil, nil, "Ola", 2}}},
			[]string{"Boat: Mewa; Price: 5", "Boat: Orka; Price: 7", "Name: Jan; Share: 1", "Name: Ola; Share: 2"},
		},
		{
			"names, an empty row, values",
			sheet{rows: [][]any{{"Boat", "Price"}, nil, {"Mewa", 5}}},
			[]string{"Boat: Mewa; Price: 5"},
		},
		{
			"a form",
			sheet{rows: [][]any{{"Client:", "Orka"}, {"Since:", 1999}, nil, {"Day", "Hours"}, {"Monday", 5}}},
			[]string{"Client: Orka", "Since: 1999", "Day: Monday; Hours: 5"},
		},
		{
			"dates, parts and amounts",
			sheet{
				rows:    [][]any{{"What", "On", "Paid", "At", "Part", "Price"}, {"Rent", 46082, 46083, 46084.5, 0.19, 1234.5}},
				formats: map[string]string{"B2": "d.m.yy", "C2": "d mmmm yyyy", "D2": "m/d/yy h:mm", "E2": "0%", "F2": `#,##0.00 "zł"`},
			},
			[]string{"What: Rent; On: 2026-03-01; Paid: 2026-03-02 (2 March 2026); At: 2026-03-03 12:00; Part: 19%; Price: 1,234.50 zł"},
		},
		{
			"comments",
			sheet{rows: [][]any{{"Item", "Price"}, {"Rope", 5}}, notes: map[string]string{"B1": "without tax", "B2": "old price", "A9": "ask Ola"}},
			[]string{"Price (comment: without tax)", "Item: Rope; Price: 5 (comment: old price)", "(comment: ask Ola)"},
		},
		{
			"hidden rows behind an empty one",
			sheet{
				rows:   [][]any{{"Item", "Price"}, {"Rope", 5}, nil, nil, {"Sail", 50}, {"Tar", 3}, nil, {"Oar", 4}},
				change: func(f *excelize.File, name string) error { return f.SetRowVisible(name, 5, false) },
			},
			[]string{"Item: Rope; Price: 5", "Item: Sail; Price: 50 (hidden row)", "Item: Tar; Price: 3", "Item: Oar; Price: 4"},
		},
		{
			"hidden rows and columns",
			sheet{
				rows: [][]any{{"Item", "Cost", "Price"}, {"Rope", 3, 5}, {"Sail", 30, 50}},
				change: func(f *excelize.File, name string) error {
					if err := f.SetColVisible(name, "B", false); err != nil {
						return err
					}
					return f.SetRowVisible(name, 3, false)
				},
			},
			[]string{"Item: Rope; Cost (hidden column): 3; Price: 5", "Item: Sail; Cost (hidden column): 30; Price: 50 (hidden row)"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := partsOf(t, "a.xlsx", workbookOf(t, tt.sheet))
			if d := cmp.Diff(append([]string{"# S"}, tt.want...), got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestSheetFormats checks that the same content gives the same text: files that openpyxl, python-pptx and odfpy
// wrote. The last slide is only in one of them.
func TestSheetFormats(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(filepath.Join("testdata", "office", name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(partsOf(t, name, data), "\n\n")
	}
	if d := cmp.Diff(read("harbour.xlsx"), read("harbour.ods")); d != "" {
		t.Error(d)
	}
	slides, last, _ := strings.Cut(read("harbour.odp"), "\n\n# Stores\n\n")
	if d := cmp.Diff(read("harbour.pptx"), slides); d != "" || last == "" {
		t.Errorf("last slide %q, %s", last, d)
	}
}

// TestOpenSheet reads what only an OpenDocument spreadsheet has.
func TestOpenSheet(t *testing.T) {
	data := openSheet(t, `<table-row number-rows-repeated="900000"><table-cell number-columns-repeated="16384"/></table-row>`+
		`<table-row><table-cell/><table-cell><p>Item</p></table-cell><table-cell><p>Price</p></table-cell></table-row>`+
		`<table-row number-rows-repeated="2"><table-cell/><table-cell><p>Rope</p></table-cell><table-cell value-type="float" value="2.5"><p>2,5</p></table-cell><table-cell number-columns-repeated="16381"/></table-row>`+
		`<table-row number-rows-repeated="100000"><table-cell/><table-cell><p>Tar</p></table-cell><table-cell formula="of:=1"/></table-row>`)
	doc, err := load.Parse(t.Context(), "a.ods", data)
	if err != nil {
		t.Fatal(err)
	}
	want := "# S\n\nItem: Rope; Price: 2.5\n\nItem: Rope; Price: 2.5\n\nItem: Tar\n\nItem: Tar\n"
	if !strings.HasPrefix(doc.Text, want) || strings.Count(doc.Text, "Tar") != 1000 || doc.Line(strings.Index(doc.Text, "Rope")) != 900_002 || len(doc.Warnings) != 2 {
		t.Errorf("%d bytes that begin with %q, warnings %q", len(doc.Text), doc.Text[:min(len(doc.Text), len(want))], doc.Warnings)
	}
}

// TestTextTables reads files of text as programs export them. Clean ones have a line for each record; others are
// read as sheets are.
func TestTextTables(t *testing.T) {
	for _, tt := range []struct {
		name, data string
		want       []string
	}{
		{"records with blanks", "Name,Town,Age\nAnn,,\n,,\nBob,Ulm,3\n", []string{"Name: Ann", "Name: Bob; Town: Ulm; Age: 3"}},
		{"a head of the account", "Account:;DE12\nOwner:;Ann Lis\n\nDay;Text;Amount\n01.03.2026;Rent;-500,00\n02.03.2026;Power;-80,10\n", []string{
			"Account: DE12", "Owner: Ann Lis", "Day: 01.03.2026; Text: Rent; Amount: -500,00", "Day: 02.03.2026; Text: Power; Amount: -80,10",
		}},
		{"no names", "1;2;3\n4;5;6\n", []string{"1; 2; 3", "4; 5; 6"}},
		{"years as names", "Town,2023,2024\nUlm,5,6\n", []string{"Town: Ulm; 2023: 5; 2024: 6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, partsOf(t, "a.csv", []byte(tt.data))); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestOpenTables reads tables of an OpenDocument text: a nested one stands once, in its cell, and covered cells
// keep the columns.
func TestOpenTables(t *testing.T) {
	cell := func(inside string) string { return "<table-cell>" + inside + "</table-cell>" }
	data := zipped(t, "content.xml", "<document-content><table><table-row>"+cell("<p>Town</p>")+`<table-cell number-columns-spanned="2"><p>Year</p></table-cell><covered-table-cell/>`+cell("<p>Note</p>")+"</table-row>"+
		"<table-row>"+cell("<p>Hel</p>")+cell("<p>1</p>")+cell("<p>2</p>")+cell("<p>as</p><table><table-row>"+cell("<p>inner</p>")+cell("<p>part</p>")+"</table-row></table>")+"</table-row></table></document-content>")
	want := []string{"| Town | Year |  | Note |\n| --- | --- | --- | --- |\n| Hel | 1 | 2 | as inner part |"}
	if d := cmp.Diff(want, partsOf(t, "a.odt", data)); d != "" {
		t.Error(d)
	}
}

// TestManyRows reads a table and a sheet of 100,000 rows to the end.
func TestManyRows(t *testing.T) {
	if testing.Short() {
		t.Skip("large files")
	}
	const rows = 99_999
	for source, data := range map[string][]byte{
		"a.csv":  append([]byte("Name,Price\n"), bytes.Repeat([]byte("Rope,5\n"), rows)...),
		"a.xlsx": workbook(t, "", bytes.Repeat([]byte(`<row><c t="inlineStr"><is><t>Rope</t></is></c><c><v>5</v></c></row>`), rows)),
	} {
		doc, err := load.Parse(t.Context(), source, data)
		isData := source == "a.csv" // never read as Markdown
		if err != nil || strings.Count(doc.Text, "Rope") != rows || isData && len(doc.Warnings) > 0 {
			t.Errorf("%s: %d rows, %v %v", source, strings.Count(doc.Text, "Rope"), doc.Warnings, err)
		}
	}
}
