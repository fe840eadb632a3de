package cite_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// kinds are the ways in which statements of testdata/altered.txt were altered.
var kinds = []string{"negation", "antonym", "number", "unit", "name", "role", "quantifier", "order"}

// alteredCase is a statement of testdata/altered.txt.
type alteredCase struct {
	half, kind, text string // kind is empty for a statement that the passage makes
	source           state.Source
}

func alteredCases(t *testing.T) []alteredCase {
	t.Helper()
	data, err := os.ReadFile("testdata/altered.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []alteredCase
	for _, block := range strings.Split(string(data), "\n= ")[1:] {
		head, body, _ := strings.Cut(block, "\n")
		half, name, _ := strings.Cut(head, " ")
		passage := body[:strings.Index(body, "\n+ ")]
		source := state.Source{Chunk: state.Chunk{ID: name, Source: name, Text: passage}}
		for line := range strings.Lines(body[len(passage)+1:]) {
			one := alteredCase{half: half, source: source}
			switch sign, rest, _ := strings.Cut(strings.TrimSpace(line), " "); sign {
			case "+":
				one.text = rest
			case "-":
				one.kind, one.text, _ = strings.Cut(rest, ": ")
			default:
				continue
			}
			all = append(all, one)
		}
	}
	return all
}

// TestAltered reports how many altered statements the check finds, and how many
// true ones it lets pass, and holds the half that is only reported to its floors.
func TestAltered(t *testing.T) {
	type cell struct{ found, n int }
	table := map[string]*cell{}
	add := func(key string, found bool) {
		if table[key] == nil {
			table[key] = &cell{}
		}
		table[key].n++
		if found {
			table[key].found++
		}
	}
	var wrong strings.Builder
	for _, c := range alteredCases(t) {
		r := cite.Check(c.text+" "+cite.Marker(1), []state.Source{c.source}, cite.Options{Language: "en"})
		s := r.Sentences[0]
		found := !s.Supported
		if c.kind == "" {
			add(c.half+" true", !found)
		} else {
			add(c.half+" altered", found)
			add(c.half+" "+c.kind, found)
		}
		if found != (c.kind != "") {
			fmt.Fprintf(&wrong, "%s %s: %s: %s\n", c.half, c.source.ID, c.kind, c.text)
			if found {
				fmt.Fprintf(&wrong, "  %s\n", s.Why)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-8s %-8s\n", "", "look", "report")
	for _, row := range append([]string{"true", "altered"}, kinds...) {
		l, r := table["look "+row], table["report "+row]
		fmt.Fprintf(&b, "%-12s %-8s %-8s\n", row, fmt.Sprintf("%d/%d", l.found, l.n), fmt.Sprintf("%d/%d", r.found, r.n))
	}
	precision := func(half string) float64 {
		found, passed := table[half+" altered"], table[half+" true"]
		return float64(found.found) / float64(found.found+passed.n-passed.found)
	}
	fmt.Fprintf(&b, "%-12s %-8.3f %-8.3f\n", "precision", precision("look"), precision("report"))
	// The floors: of the half that is only reported, four of five altered statements
	// are found, nine of ten that are objected to are altered, nine of ten true ones pass.
	found, passed := table["report altered"], table["report true"]
	if recall := float64(found.found) / float64(found.n); recall < 0.80 || precision("report") < 0.90 || float64(passed.found) < 0.90*float64(passed.n) {
		t.Errorf("found %.3f of the altered at precision %.3f, %d of %d true ones pass", recall, precision("report"), passed.found, passed.n)
	}
	b.WriteString("\nJudged wrongly:\n" + wrong.String())
	golden.Assert(t, "testdata/altered.golden", []byte(b.String()))
}
