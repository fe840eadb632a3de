package cite_test

import (
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/skills/cite"
)

// TestEachRule reports what each rule gains: how many altered statements are found and how many true ones
// pass, with all rules and without one. The set with six sources has a row for each half; half "report" was
// not used for making the rules.
func TestEachRule(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of statements, once for each rule")
	}
	sets := []string{"altered", "independent", "manuals", "languages", "near", "reported", "reworded"}
	var b strings.Builder
	fmt.Fprintf(&b, "altered found / true pass, of each 100\n%-13s", "")
	for _, set := range append([]string{"six look", "six report"}, sets...) {
		fmt.Fprintf(&b, " %11s", set)
	}
	b.WriteString("\n")
	for _, without := range append([]string{""}, cite.Rules()...) {
		fmt.Fprintf(&b, "%-13s", map[bool]string{true: "all rules", false: "- " + without}[without == ""])
		for _, half := range []string{"look", "report"} {
			var altered, passed cell
			for _, c := range sixCases(t, half) {
				what, _ := outcome(c, without)
				if c.kind != "" {
					altered = altered.add(what == marked || what == withdrawn)
				} else {
					passed = passed.add(what == kept)
				}
			}
			fmt.Fprintf(&b, " %11s", percent(altered, passed))
		}
		for _, set := range sets {
			table, _ := judge(alteredCases(t, "testdata/"+set+".txt"), without)
			sum := func(kind string) cell {
				look, report := table["look "+kind], table["report "+kind]
				return cell{look.found + report.found, look.n + report.n}
			}
			fmt.Fprintf(&b, " %11s", percent(sum("altered"), sum("true")))
		}
		b.WriteString("\n")
	}
	golden.Assert(t, "testdata/rules.golden", []byte(b.String()))
}

func percent(a, b cell) string { return fmt.Sprintf("%.0f / %.0f", 100*a.share(), 100*b.share()) }
