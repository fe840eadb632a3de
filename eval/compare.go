package eval

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNothingInCommon is the error of comparing runs that share no question.
var ErrNothingInCommon = errors.New("the runs have no question in common")

// Comparison is how run B differs from run A, question by question. Its JSON is the schema of `ragflow eval
// compare --json`.
type Comparison struct {
	A           RunRef             `json:"a"`
	B           RunRef             `json:"b"`
	Matched     int                `json:"matched"`     // questions in both, with the same text and expectations
	LeftOut     []string           `json:"left_out"`    // ids of questions that only one run has, or that differ
	Metrics     []MetricComparison `json:"metrics"`     // in the order of [Metrics]
	Questions   []string           `json:"questions"`   // changed questions with the metrics of both runs, in the order of A
	Regressions []string           `json:"regressions"` // metrics that fell by more than their interval
}

// RunRef identifies one run of a comparison, with its cost.
type RunRef struct {
	Started   time.Time `json:"started"`
	Dataset   string    `json:"dataset"`
	Model     string    `json:"model"`
	Questions int       `json:"questions"`
	Latency   Latency   `json:"latency_ms"` // not compared, because it depends on the machine
	CostUSD   float64   `json:"cost_usd"`
}

// MetricComparison compares a metric over the questions that have it in both
// runs.
type MetricComparison struct {
	Name       string  `json:"name"`
	N          int     `json:"n"`
	A          float64 `json:"a"`          // mean
	B          float64 `json:"b"`          // mean
	Difference float64 `json:"difference"` // B − A
	Interval           // 95 %, of the difference; bootstrap over items
	Wins       int     `json:"wins"`
	Losses     int     `json:"losses"`
	Ties       int     `json:"ties"`
}

// Fell reports a regression: the whole interval of the difference is below zero.
func (m MetricComparison) Fell() bool { return m.High < 0 }

// Compare compares run B with run A. Questions are matched by id; different ones are left out and named.
// Latencies are not compared.
func Compare(a, b *Result) (*Comparison, error) {
	c := &Comparison{
		A: ref(a), B: ref(b), LeftOut: []string{},
		Metrics: []MetricComparison{}, Questions: []string{}, Regressions: []string{},
	}
	pairs := c.match(a, b)
	c.Matched = len(pairs)
	if len(pairs) == 0 {
		return c, fmt.Errorf("%w: one asked %s of the dataset %q, the other %s of %q", ErrNothingInCommon,
			plural(len(a.Outcomes), "question"), a.Dataset.Name, plural(len(b.Outcomes), "question"), b.Dataset.Name)
	}
	for _, m := range Metrics() {
		if compared, ok := compareMetric(m.Name, pairs); ok {
			c.Metrics = append(c.Metrics, compared)
			if compared.Fell() {
				c.Regressions = append(c.Regressions, m.Name)
			}
		}
	}
	for _, p := range pairs {
		if changes := p.changes(); len(changes) > 0 {
			c.Questions = append(c.Questions, p.a.ID+": "+strings.Join(changes, ", "))
		}
	}
	return c, nil
}

func ref(r *Result) RunRef {
	return RunRef{r.Started, r.Dataset.Name, r.Model, len(r.Outcomes), r.Summary.Latency, r.Summary.CostUSD}
}

// pair is one question in both runs.
type pair struct{ a, b *Outcome }

// match pairs the questions of two runs, in the order of A.
func (c *Comparison) match(a, b *Result) []pair {
	inB := map[string]*Outcome{}
	for i := range b.Outcomes {
		inB[b.Outcomes[i].ID] = &b.Outcomes[i]
	}
	var pairs []pair
	for i := range a.Outcomes {
		x := &a.Outcomes[i]
		if y := inB[x.ID]; y != nil && x.sameQuestion(y) {
			pairs = append(pairs, pair{x, y})
		} else {
			c.LeftOut = append(c.LeftOut, x.ID)
		}
		delete(inB, x.ID)
	}
	for i := range b.Outcomes {
		if inB[b.Outcomes[i].ID] != nil {
			c.LeftOut = append(c.LeftOut, b.Outcomes[i].ID)
		}
	}
	return pairs
}

func (o *Outcome) sameQuestion(other *Outcome) bool {
	return o.Question == other.Question && o.answerable() == other.answerable() && o.ExpectedAnswer == other.ExpectedAnswer &&
		slices.Equal(o.ExpectedKeywords, other.ExpectedKeywords) && slices.Equal(o.Relevant, other.Relevant)
}

// compareMetric compares a metric over the pairs that have it in both runs.
func compareMetric(name string, pairs []pair) (m MetricComparison, ok bool) {
	m = MetricComparison{Name: name}
	var as, bs, differences sample
	for _, p := range pairs {
		x, inA := p.a.Metrics[name]
		y, inB := p.b.Metrics[name]
		if !inA || !inB {
			continue
		}
		as.add(p.a.Item, x)
		bs.add(p.a.Item, y)
		differences.add(p.a.Item, y-x)
		switch {
		case y > x:
			m.Wins++
		case y < x:
			m.Losses++
		default:
			m.Ties++
		}
	}
	_, m.A, _ = as.mean()
	_, m.B, _ = bs.mean()
	m.N, m.Difference, m.Interval = differences.mean()
	return m, m.N > 0
}

// changes returns the changed metrics of a question.
func (p pair) changes() (out []string) {
	figure := func(o *Outcome, name string) string {
		if f, ok := o.Metrics[name]; ok {
			return fmt.Sprintf("%.2f", f)
		}
		return "–"
	}
	for _, m := range Metrics() {
		if a, b := figure(p.a, m.Name), figure(p.b, m.Name); a != b {
			out = append(out, fmt.Sprintf("%s %s → %s", m.Name, a, b))
		}
	}
	return out
}

// rows returns the metrics as cells, with a header.
func (c *Comparison) rows(figure func(float64) string) [][]string {
	rows := [][]string{{"metric", "n", "a", "b", "difference", "low", "high", "wins", "losses", "ties", "verdict"}}
	for _, m := range c.Metrics {
		verdict := ""
		switch {
		case m.Fell():
			verdict = "worse"
		case m.Low > 0:
			verdict = "better"
		}
		rows = append(rows, []string{
			m.Name, strconv.Itoa(m.N), figure(m.A), figure(m.B), figure(m.Difference), figure(m.Low), figure(m.High),
			strconv.Itoa(m.Wins), strconv.Itoa(m.Losses), strconv.Itoa(m.Ties), verdict,
		})
	}
	return rows
}

// maxChanges is the number of changed questions that a table names.
const maxChanges = 30

// WriteTable writes a comparison for a terminal.
func (c *Comparison) WriteTable(w io.Writer) error {
	for i, r := range []RunRef{c.A, c.B} {
		fmt.Fprintf(w, "%c  %s  %s, %s, %s; p50 %.0f ms, %.4f USD\n", 'A'+i, r.Started.Format(time.DateTime), r.Dataset, plural(r.Questions, "question"), r.Model, r.Latency.P50, r.CostUSD)
	}
	if n := len(c.LeftOut); n > 0 {
		const most = 5
		fmt.Fprintf(w, "left out, because not the same in both: %s, such as %s\n", plural(n, "question"), strings.Join(c.LeftOut[:min(most, n)], ", "))
	}
	fmt.Fprintln(w)
	if err := writeColumns(w, c.rows(threeDigits)); err != nil {
		return err
	}
	changed := c.Questions
	fmt.Fprintf(w, "\n%s with other figures\n", plural(len(changed), "question"))
	writeNamed(w, maxChanges, changed)
	return nil
}

// WriteCSV writes one line a metric, with a header.
func (c *Comparison) WriteCSV(w io.Writer) error { return csv.NewWriter(w).WriteAll(c.rows(decimal)) }
