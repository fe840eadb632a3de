package state_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

func TestFilterParsing(t *testing.T) {
	is := func(key, op string, values ...string) state.Condition {
		return state.Condition{Key: key, Op: op, Values: values}
	}
	tests := []struct {
		text string
		want state.Filter
	}{
		{"category=guide", state.Filter{Must: []state.Condition{is("category", "=", "guide")}}},
		{" Tags = a , b ", state.Filter{Must: []state.Condition{is("tags", "=", "a", "b")}}},
		{`title="a, ""b"""`, state.Filter{Must: []state.Condition{is("title", "=", `a, "b"`)}}},
		{`title=""`, state.Filter{Must: []state.Condition{is("title", "=", "")}}},
		{"version>=1.10.2", state.Filter{Must: []state.Condition{is("version", ">=", "1.10.2")}}},
		{"lang!=vi", state.Filter{MustNot: []state.Condition{is("lang", "=", "vi")}}},
		{"source!~**/old/*,tmp", state.Filter{MustNot: []state.Condition{is("source", "~", "**/old/*", "tmp")}}},
		{"draft=*", state.Filter{Must: []state.Condition{{Key: "draft", Op: state.OpExists}}}},
		{"date<2024-06-30", state.Filter{Must: []state.Condition{is("date", "<", "2024-06-30")}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var got state.Filter
			if err := got.Add(tt.text); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			for _, c := range got.Must {
				var again state.Filter
				if err := again.Add(c.String()); err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(c, again.Must[0]); d != "" {
					t.Errorf("%s: %s", c, d)
				}
			}
		})
	}
}

func TestFilterFaults(t *testing.T) {
	tests := []struct {
		text   string
		column int
	}{
		{"category", 9},
		{"", 1},
		{"=guide", 1},
		{"category=", 10},
		{"category==guide", 10},
		{"category=a,,b", 12},
		{`title="open`, 7},
		{`title="a" b`, 11},
		{"a!b", 2},
		{"version>=two", 10},
		{"version>1,2", 12},
		{"größe>=zwei", 8},
	}
	for _, tt := range tests {
		var f state.Filter
		err := f.Add(tt.text)
		fault, ok := errors.AsType[*state.FilterError](err)
		if !ok || fault.Column != tt.column {
			t.Errorf("%q: %v, want a fault at column %d", tt.text, err, tt.column)
		}
		if !f.Empty() {
			t.Errorf("%q left %+v", tt.text, f)
		}
	}
	var f state.Filter
	if err := f.AddAny("lang!=vi"); err == nil {
		t.Error("a negation is one of several")
	}
}

func TestMeasure(t *testing.T) {
	ascending := [][]string{
		{"-3", "0", "1.5", "2", "1e3"},
		{"2023-12-31", "2024", "2024-01-02", "2024-02", "3 March 2024", "2024-03-03T10:00:00Z"},
		{"v1", "1.9.9", "1.10.0", "2"},
	}
	for _, list := range ascending {
		for i, a := range list {
			for j, b := range list {
				x, ok := state.ParseMeasure(a)
				y, too := state.ParseMeasure(b)
				if !ok || !too {
					t.Fatalf("%q or %q is no measure", a, b)
				}
				order, comparable := x.Compare(y)
				if !comparable || (order < 0) != (i < j) || (order > 0) != (i > j) {
					t.Errorf("%q beside %q: %d %t", a, b, order, comparable)
				}
			}
		}
	}
	for _, s := range []string{"", "guide", "NaN", "Inf", "1.x", "2024-13-01x"} {
		if _, ok := state.ParseMeasure(s); ok {
			t.Errorf("%q is a measure", s)
		}
	}
}

// FuzzFilter: String formats every parsed condition so that it parses to the same
// condition, and every error has a column within the text.
func FuzzFilter(f *testing.F) {
	f.Add(`a="x,""y""",b`)
	f.Add("a!~**")
	f.Fuzz(func(t *testing.T, text string) {
		var got state.Filter
		if err := got.Add(text); err != nil {
			fault, ok := errors.AsType[*state.FilterError](err)
			if !ok || fault.Column < 1 || fault.Column > len(text)+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		for _, c := range got.Must {
			var again state.Filter
			if err := again.Add(c.String()); err != nil || !cmp.Equal(c, again.Must[0]) {
				t.Fatalf("%q gives %+v, its string %q gives %+v (%v)", text, c, c, again, err)
			}
		}
	})
}
