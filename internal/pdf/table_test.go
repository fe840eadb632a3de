package pdf_test

import (
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/pdf"
)

// truth is the tables of a document of the ICDAR-2013 competition.
type truth struct {
	Regions []struct {
		Cells []struct {
			Row     int    `xml:"start-row,attr"`
			Column  int    `xml:"start-col,attr"`
			LastRow *int   `xml:"end-row,attr"`
			LastCol *int   `xml:"end-col,attr"`
			Text    string `xml:"content"`
		} `xml:"cell"`
	} `xml:"table>region"`
}

func (t truth) grids() (grids []pdf.Grid) {
	for _, r := range t.Regions {
		var g pdf.Grid
		for _, c := range r.Cells {
			cell := pdf.GridCell{Text: c.Text, Row: c.Row, LastRow: c.Row, Column: c.Column, LastColumn: c.Column}
			if c.LastRow != nil {
				cell.LastRow = *c.LastRow
			}
			if c.LastCol != nil {
				cell.LastColumn = *c.LastCol
			}
			g = append(g, cell)
		}
		grids = append(grids, g)
	}
	return grids
}

// relation is two neighbouring cells of a table.
type relation struct {
	down        bool
	first, next string
}

// relations counts the neighbours in tables: for each cell the next one with text on the right and below, for
// each row and column that it covers.
func relations(grids []pdf.Grid) map[relation]int {
	counts := map[relation]int{}
	for _, g := range grids {
		type place struct{ row, column int }
		at := map[place]int{}
		last := place{}
		for i, c := range g {
			if plainText(c.Text) == "" {
				continue
			}
			for row := c.Row; row <= c.LastRow; row++ {
				for column := c.Column; column <= c.LastColumn; column++ {
					at[place{row, column}] = i
					last = place{max(last.row, row), max(last.column, column)}
				}
			}
		}
		seen := map[[2]int]bool{}
		count := func(down bool, from, to place) (found bool) {
			a, b := at[from], at[to]
			if _, ok := at[to]; !ok {
				return false
			}
			if a != b && !seen[[2]int{a, b}] {
				seen[[2]int{a, b}] = true
				counts[relation{down, plainText(g[a].Text), plainText(g[b].Text)}]++
			}
			return true
		}
		for p := range at {
			for column := p.column + 1; column <= last.column && !count(false, p, place{p.row, column}); column++ {
			}
			for row := p.row + 1; row <= last.row && !count(true, p, place{row, p.column}); row++ {
			}
		}
	}
	return counts
}

func plainText(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, s)
}

// agreement counts relations that were found, wanted, and both.
type agreement struct{ found, wanted, both int }

func agree(found, wanted map[relation]int, rows bool) (a agreement) {
	for r, n := range found {
		if !rows || !r.down {
			a.found += n
			a.both += min(n, wanted[r])
		}
	}
	for r, n := range wanted {
		if !rows || !r.down {
			a.wanted += n
		}
	}
	return a
}

func (a agreement) precision() float64 { return float64(a.both) / float64(max(1, a.found)) }

func (a agreement) recall() float64 { return float64(a.both) / float64(max(1, a.wanted)) }

func (a agreement) f() float64 { return 2 * float64(a.both) / float64(max(1, a.found+a.wanted)) }

// TestTables measures the tables of PDFs of public bodies against their true cells: half of the
// ICDAR-2013 table competition.
func TestTables(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(golden.Public(t, "tables"), "*.pdf"))
	if err != nil || len(names) == 0 {
		t.Fatal("no PDFs: ", err)
	}
	var p, r, f float64
	var rows agreement
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := pdf.Grids(t.Context(), data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		found := relations(slices.Concat(pages...))
		readings, err := filepath.Glob(strings.TrimSuffix(name, ".pdf") + "-str*.xml")
		if err != nil {
			t.Fatal(err)
		}
		best, bestRows := agreement{}, agreement{}
		for _, reading := range readings {
			data, err := os.ReadFile(reading)
			if err != nil {
				t.Fatal(err)
			}
			var tr truth
			if err := xml.Unmarshal(data, &tr); err != nil {
				t.Fatal(err)
			}
			wanted := relations(tr.grids())
			if a := agree(found, wanted, false); best.wanted == 0 || a.f() > best.f() {
				best, bestRows = a, agree(found, wanted, true)
			}
		}
		t.Logf("%-8s P %.3f R %.3f F %.3f of %d", strings.TrimSuffix(filepath.Base(name), ".pdf"), best.precision(), best.recall(), best.f(), best.wanted)
		p, r, f = p+best.precision(), r+best.recall(), f+best.f()
		rows = agreement{rows.found + bestRows.found, rows.wanted + bestRows.wanted, rows.both + bestRows.both}
	}
	n := float64(len(names))
	t.Logf("P %.3f R %.3f F %.3f, rows P %.3f R %.3f", p/n, r/n, f/n, rows.precision(), rows.recall())
	if f/n < 0.88 || rows.recall() < 0.90 {
		t.Error("below the floors: F .88, recall of rows .90")
	}
}
