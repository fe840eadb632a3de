package prices_test

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/prices"
	"example.com/ragflow/llm"
)

// TestTable is N02: a price is known by the name of a model, a list extends the one of the program, and what neither
// has is unknown.
func TestTable(t *testing.T) {
	table, err := prices.BuiltIn().With(strings.NewReader("# mine\ndate 2031-02-03\n\nopenai:gpt-4o=1/2\nown:embed = 0.5\n"))
	if err != nil || table.Date != "2031-02-03" {
		t.Fatalf("date %q, %v", table.Date, err)
	}
	for model, want := range map[string]*llm.PerMillion{
		"openai:gpt-4o":                       {Input: 1, Output: 2},
		"openai:gpt-4o-2024-11-20":            {Input: 1, Output: 2},
		"anthropic:claude-haiku-4-5-20251001": {Input: 1, Output: 5},
		"openai:text-embedding-3-small":       {Input: 0.02},
		"own:embed":                           {Input: 0.5},
		"own:gpt-4o":                          nil,
		"gpt-4o":                              nil,
		"openai:gpt-4o-huge":                  nil,
	} {
		p, ok := table.Of(model)
		if ok != (want != nil) || ok && p != *want {
			t.Errorf("%s: %v, %t, want %v", model, p, ok, want)
		}
	}
	if b := prices.BuiltIn(); b.Date == "" || len(b.Models()) < 50 {
		t.Errorf("built in: %q, %d models", b.Date, len(b.Models()))
	}
}

func TestTableFaults(t *testing.T) {
	for list, want := range map[string]string{
		"a=1/2\nb=cheap\n":           "line 2",
		"a=-1/2\n":                   "line 1",
		"a=NaN\n":                    "line 1",
		"=1/2\n":                     "line 1",
		"a\n":                        "line 1",
		"date yesterday\n":           "no date",
		strings.Repeat("#\n", 1<<20): "at most",
	} {
		if _, err := (prices.Table{}).With(strings.NewReader(list)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", list, err, want)
		}
	}
}
