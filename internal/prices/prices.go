// Package prices knows what calls of models cost.
//
//	table, err := prices.BuiltIn().With(file)
//	price, known := table.Of("openai:gpt-4o")
package prices

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/llm"
)

// Table is prices by model, named PROVIDER:MODEL or as the person who set the price names it. The zero Table knows
// none. A Table does not change.
type Table struct {
	Date   string // of the newest list, YYYY-MM-DD; empty if no list says one
	models map[string]llm.PerMillion
}

// maxBytes is the size of the largest list that is read.
const maxBytes = 1 << 20

//go:embed prices.txt
var builtIn string

// BuiltIn returns the list that the program was built with. Its names begin with the provider.
func BuiltIn() Table {
	t, err := Table{}.With(strings.NewReader(builtIn))
	if err != nil {
		panic("prices.txt: " + err.Error()) // it is part of the program, and a test reads it
	}
	return t
}

// With returns t with the prices of a list; a model that both have gets the price of the list. A line of the list is
// MODEL=INPUT/OUTPUT in US dollars for a million tokens, "date YYYY-MM-DD", or a comment that begins with #. The
// error names the first wrong line.
func (t Table) With(list io.Reader) (Table, error) {
	out := Table{Date: t.Date, models: maps.Clone(t.models)}
	if out.models == nil {
		out.models = map[string]llm.PerMillion{}
	}
	lines := bufio.NewScanner(io.LimitReader(list, maxBytes+1))
	read := 0
	for n := 1; lines.Scan(); n++ {
		read += len(lines.Bytes()) + 1
		text := strings.TrimSpace(lines.Text())
		date, isDate := strings.CutPrefix(text, "date ")
		switch {
		case read > maxBytes:
			return t, fmt.Errorf("a list of prices has at most %d bytes", maxBytes)
		case text == "" || text[0] == '#':
		case isDate:
			if _, err := time.Parse(time.DateOnly, date); err != nil {
				return t, fmt.Errorf("line %d: %q is no date such as 2026-01-31", n, date)
			}
			out.Date = max(out.Date, date)
		default:
			model, p, ok := Parse(text)
			if !ok {
				return t, fmt.Errorf("line %d: %q is not of the form MODEL=INPUT/OUTPUT, such as openai:gpt-4o=2.5/10", n, text)
			}
			out.models[model] = p
		}
	}
	return out, lines.Err()
}

// Parse reads MODEL=INPUT/OUTPUT, or MODEL=INPUT for a model that writes nothing.
func Parse(text string) (model string, p llm.PerMillion, ok bool) {
	model, figures, _ := strings.Cut(text, "=")
	in, out, _ := strings.Cut(figures, "/")
	amount := func(s string) float64 {
		f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil || math.IsInf(f, 0) {
			return -1
		}
		return f
	}
	model, p = strings.TrimSpace(model), llm.PerMillion{Input: amount(in), Output: amount(cmp.Or(out, "0"))}
	return model, p, model != "" && p.Input >= 0 && p.Output >= 0
}

// dated matches the end of a name that is the day of a release.
var dated = regexp.MustCompile(`-(\d{4}-\d\d-\d\d|\d{8})$`)

// Of returns the price of a model by its name, or by its name without the day of its release.
func (t Table) Of(model string) (llm.PerMillion, bool) {
	if p, ok := t.models[model]; ok {
		return p, true
	}
	p, ok := t.models[dated.ReplaceAllString(model, "")]
	return p, ok
}

// Models lists the models whose price is known, in order.
func (t Table) Models() []string { return slices.Sorted(maps.Keys(t.models)) }
