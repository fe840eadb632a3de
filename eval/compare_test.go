package eval_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/eval"
	"example.com/ragflow/internal/golden"
)

// worse declines the questions for which fails returns true.
func worse(f *fake, when func(string) bool) asker {
	return func(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error) {
		r, err := f.Ask(ctx, q)
		if err == nil && when(q.Text) {
			r.Answer, r.Abstained = "Nothing of it stands there.", true
			r.Citations, r.Retrieved = nil, r.Retrieved[:1]
		}
		return r, err
	}
}

func TestCompare(t *testing.T) {
	f := newFake(t)
	a := runSet(t, f, set(12), eval.Options{})
	b := runSet(t, worse(f, func(q string) bool { return strings.HasPrefix(q, "What") }), set(12), eval.Options{})
	c, err := eval.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if c.Matched != 15 || len(c.Questions) != 12 || len(c.LeftOut) != 0 {
		t.Errorf("comparison %+v", c)
	}
	got := strings.Join(c.Regressions, " ")
	for _, name := range []string{eval.MetricAnswered, eval.MetricKeywords, eval.MetricPageIn5, eval.MetricMRR} {
		if !strings.Contains(got, name) {
			t.Errorf("regressions %s, want %s among them", got, name)
		}
	}
	if back, err := eval.Compare(b, a); err != nil || len(back.Regressions) != 0 {
		t.Errorf("the other way round %v fell, %v", back.Regressions, err)
	}
	if same, err := eval.Compare(a, a); err != nil || len(same.Questions) != 0 || len(same.Regressions) != 0 {
		t.Errorf("a run compared with itself: %+v, %v", same, err)
	}
}

// TestCompareSmallChange checks that one fallen question of eight is not a regression: the interval is too
// wide.
func TestCompareSmallChange(t *testing.T) {
	f := newFake(t)
	a := runSet(t, f, set(8), eval.Options{})
	b := runSet(t, worse(f, func(q string) bool { return strings.Contains(q, "number 3") }), set(8), eval.Options{})
	c, err := eval.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Regressions) != 0 || len(c.Questions) != 1 {
		t.Errorf("regressions %v, %d questions changed", c.Regressions, len(c.Questions))
	}
	for _, m := range c.Metrics {
		if m.Name == eval.MetricAnswered && (m.Losses != 1 || m.Wins != 0 || m.High != 0) {
			t.Errorf("answered: %+v, want one loss that chance explains wholly", m)
		}
	}
}

// TestCompareUnmatched checks that questions that differ between runs are left out and named.
func TestCompareUnmatched(t *testing.T) {
	f := newFake(t)
	a := runSet(t, f, set(3), eval.Options{})
	d := set(4)
	d.Items[1].Question = "Something else?"
	b := runSet(t, f, d, eval.Options{Model: "other"})
	c, err := eval.Compare(a, b)
	if err != nil || strings.Join(c.LeftOut, " ") != "q2 q4" || c.Matched != 5 || c.B.Model != "other" {
		t.Errorf("comparison %+v, %v", c, err)
	}
	d = eval.Dataset{Name: "x", Items: []eval.Item{{ID: "z", Question: "?"}}}
	if _, err := eval.Compare(a, runSet(t, f, d, eval.Options{})); !errors.Is(err, eval.ErrNothingInCommon) || !strings.Contains(err.Error(), `1 question of "x"`) {
		t.Errorf("nothing in common: %v", err)
	}
}

func TestTables(t *testing.T) {
	f := newFake(t)
	c := &chat{}
	c.text = judgeText
	a := runSet(t, f, set(2), eval.Options{Judge: &eval.Judge{Chat: c}, Model: "offline", Clock: still})
	f.fail = func(q string) error {
		if q == "second" {
			return errDown
		}
		return nil
	}
	b := runSet(t, worse(f, func(q string) bool { return strings.Contains(q, "number 2") }), set(2), eval.Options{Model: "small", Clock: still})
	comparison, err := eval.Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	var out, page bytes.Buffer
	fmt.Fprintln(&out, "## a judged run")
	err = errors.Join(err, eval.WriteTable(&out, a))
	fmt.Fprintln(&out, "\n## a run with failures")
	err = errors.Join(err, eval.WriteTable(&out, b))
	fmt.Fprintln(&out, "\n## its questions as CSV")
	err = errors.Join(err, eval.WriteCSV(&out, b))
	fmt.Fprintln(&out, "\n## compared")
	err = errors.Join(err, comparison.WriteTable(&out))
	fmt.Fprintln(&out, "\n## compared, as CSV")
	err = errors.Join(err, comparison.WriteCSV(&out), eval.WriteHTML(&page, a))
	if err != nil {
		t.Fatal(err)
	}
	golden.Assert(t, "testdata/tables.golden", out.Bytes())
	_, body, _ := strings.Cut(page.String(), "</style>")
	golden.Assert(t, "testdata/report.golden", []byte(body))
}
