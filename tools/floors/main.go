// Command floors compares floors, ceilings and golden figures of two trees of this project: floors LANDED NOW
//
// A figure that is worse in NOW, or gone, needs a line in docs/floors.md that LANDED lacks and that holds the name of
// the file, the value before, and the value now or "gone". Figures without one are printed as rows for that page, and
// the exit code is 1.
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() { os.Exit(min(run(os.Args[1], os.Args[2], os.Stdout), 1)) }

// figure is a number that shows how good the product is, or a bound of it.
type figure struct{ file, name, value string }

var (
	// inGolden are bounds, and values of metrics and cells of tables; no bounds of intervals.
	inGolden = regexp.MustCompile(`(?:floor|below|at most) (\d*\.?\d+)|(?:[:,]|\s|nDCG@10|ndcg_10|R@10|recall[_@]\d+|mrr|MRR|AUROC|accuracy|error|share|first|three) ` +
		`+(\d*\.\d+|\d+/\d+|\d+ of \d+)(?:[^\]\d]|$)`)
	// inTest are a comparison, which counts if the test fails on it, and a constant or field with the name of a bound.
	inTest  = regexp.MustCompile(`[<>]=? *(-?\d[\d.]*)|\b(?:floor|least|most|min|max)\w* *(?:=|:=|:) *(-?\d[\d.]*)`)
	fails   = regexp.MustCompile(`\.(Error|Fatal)f?\(`)
	ceiling = regexp.MustCompile(`(>=?|\b(max|most)\w* *(=|:=|:)|error|below|at most)$`) // before it: lower is better
	digits  = regexp.MustCompile(`\d+`)
)

// run returns how many figures are worse and have no line.
func run(landed, now string, out io.Writer) (worse int) {
	old, _ := os.ReadFile(filepath.Join(landed, "docs/floors.md")) // may not be there
	page, err := os.ReadFile(filepath.Join(now, "docs/floors.md"))
	before, err1 := figures(landed)
	after, err2 := figures(now)
	for _, f := range before {
		value := f.loss(after)
		said := value == ""
		for line := range strings.Lines(string(page)) {
			said = said || !strings.Contains(string(old), line) && strings.Contains(line, filepath.Base(f.file)) &&
				strings.Contains(line, strings.TrimPrefix(f.value, "0")) && strings.Contains(line, strings.TrimPrefix(value, "0"))
		}
		if !said {
			fmt.Fprintf(out, "| %s: %s | %s | %s | what was lost, why, and who gains |\n", filepath.Base(f.file), f.name, f.value, value)
			worse++
		}
	}
	fmt.Fprintf(out, "%d figures, of which %d are worse and have no line in docs/floors.md\n", len(before), worse)
	if err = errors.Join(err, err1, err2); err != nil {
		fmt.Fprintln(out, "floors:", err)
		worse++
	}
	return worse
}

// loss returns the value of f now if that is worse, "gone" if there is none, and "" if it is as good. A
// figure may move to another file.
func (f figure) loss(now []figure) string {
	loss := "gone"
	for _, g := range now {
		if g.name != f.name {
			continue
		}
		rise := number(g.value) - number(f.value)
		if ceiling.MatchString(f.name) {
			rise = -rise
		}
		if rise >= 0 {
			loss = ""
		} else if g.file == f.file {
			return g.value
		}
	}
	return loss
}

// number is the value of "0.5", "1/2" or "1 of 2".
func number(value string) float64 {
	part, whole := 0.0, 1.0
	_, _ = fmt.Sscanf(strings.Replace(value, " of ", "/", 1), "%g/%g", &part, &whole) // without the whole: a number
	return part / whole
}

// figures returns those in the tests and golden files below root. A figure has the name of the line without
// indentation above it and of what stands before it.
func figures(root string) (out []figure, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		kind := map[string]*regexp.Regexp{".go": inTest, ".golden": inGolden}[filepath.Ext(file)]
		if err != nil || d.IsDir() || kind == nil || kind == inTest && !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		path, _ := filepath.Rel(root, file)
		seen, heading, lines := map[string]int{}, "", strings.Split(string(text)+"\n", "\n")
		for i, line := range lines[:len(lines)-1] {
			before := ""
			if strings.TrimLeft(line, " \t") != line {
				before = heading + ": "
			} else if len(line) > 1 {
				heading, _, _ = strings.Cut(line, ":")
			}
			for _, m := range kind.FindAllStringSubmatchIndex(line, -1) {
				from, to := max(m[2], m[4]), max(m[3], m[5])
				if kind == inTest && m[2] >= 0 && !fails.MatchString(lines[i+1]) {
					continue
				}
				name := strings.Join(strings.Fields(digits.ReplaceAllString(before+line[:from], "#")), " ")
				if seen[name]++; seen[name] > 1 {
					name = fmt.Sprintf("%d. %s", seen[name], name)
				}
				out = append(out, figure{path, name, line[from:to]})
			}
		}
		return err
	})
	return out, err
}
