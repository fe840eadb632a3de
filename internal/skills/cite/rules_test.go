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
	names := append([]string{""}, cite.Rules()...)
	rows := make([]strings.Builder, len(names))
	for _, half := range []string{"look", "report"} {
		altered, passed := make([]cell, len(names)), make([]cell, len(names))
		for _, c := range sixCases(t, half) {
			for i, report := range cite.CheckWithout(c.answer(), c.sources, cite.Options{Language: c.language}, names) {
				what, _ := outcome(c, report)
				if c.kind != "" {
					altered[i] = altered[i].add(what == marked || what == withdrawn)
				} else {
					passed[i] = passed[i].add(what == kept)
				}
			}
		}
		for i := range rows {
			fmt.Fprintf(&rows[i], " %11s", percent(altered[i], passed[i]))
		}
	}
	sets := []string{"altered", "independent", "manuals", "languages", "near", "reported", "reworded"}
	for _, set := range sets {
		all := alteredCases(t, "testdata/"+set+".txt")
		var reports [][]cite.Report
		for _, c := range all {
			reports = append(reports, c.check(names...))
		}
		for i := range rows {
			table, _ := judge(all, func(n int) cite.Report { return reports[n][i] })
			sum := func(kind string) cell {
				look, report := table["look "+kind], table["report "+kind]
				return cell{look.found + report.found, look.n + report.n}
			}
			fmt.Fprintf(&rows[i], " %11s", percent(sum("altered"), sum("true")))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "altered found / true pass, of each 100\n%-13s", "")
	for _, set := range append([]string{"six look", "six report"}, sets...) {
		fmt.Fprintf(&b, " %11s", set)
	}
	b.WriteString("\n")
	for i, name := range names {
		fmt.Fprintf(&b, "%-13s%s\n", map[bool]string{true: "all rules", false: "- " + name}[name == ""], rows[i].String())
	}
	golden.Assert(t, "testdata/rules.golden", []byte(b.String()))
}

func percent(a, b cell) string { return fmt.Sprintf("%.0f / %.0f", 100*a.share(), 100*b.share()) }
