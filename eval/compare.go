package eval

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// ErrNothingInCommon is a comparison of runs that share no question.
var ErrNothingInCommon = errors.New("the runs have no question in common")

// Comparison tells how run B differs from run A, question by question. Its JSON
// is the schema of `ragflow eval compare --json`.
type Comparison struct {
	A           RunRef             `json:"a"`
	B           RunRef             `json:"b"`
	Matched     int                `json:"matched"`     // questions in both, with the same text and expectations
	LeftOut     []string           `json:"left_out"`    // ids of questions that are not in both, or are not the same in both
	Setup       []string           `json:"setup"`       // what else differs, in words
	Metrics     []MetricComparison `json:"metrics"`     // in the order of [Metrics]
	Questions   []QuestionChange   `json:"questions"`   // those with another figure, in the order of A
	Regressions []string           `json:"regressions"` // metrics that fell by more than their interval
}

// RunRef names one side of a comparison, with what it took.
type RunRef struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Started   time.Time `json:"started"`
	Dataset   string    `json:"dataset"`
	Model     string    `json:"model"`
	Questions int       `json:"questions"`
	Latency   Latency   `json:"latency_ms"` // not compared: it depends on the machine
	Tokens    Tokens    `json:"tokens"`
	CostUSD   float64   `json:"cost_usd"`
}

// MetricComparison compares a metric over the questions that have it in both
// runs.
type MetricComparison struct {
	Name       string  `json:"name"`
	N          int     `json:"n"`
	A          float64 `json:"a"`          // mean
	B          float64 `json:"b"`          // mean
	Difference float64 `json:"difference"` // B - A
	Interval           // 95 %, of the difference: bootstrap over items
	Wins       int     `json:"wins"`
	Losses     int     `json:"losses"`
	Ties       int     `json:"ties"`
}

// Fell reports a regression: the whole interval of the difference lies below
// zero.
func (m MetricComparison) Fell() bool { return m.High < 0 }

// QuestionChange is a question whose figures differ.
type QuestionChange struct {
	ID       string         `json:"id"`
	Question string         `json:"question"`
	Changes  []MetricChange `json:"changes"`
}

// MetricChange is a figure in both runs; nil where the metric does not apply.
type MetricChange struct {
	Name string   `json:"name"`
	A    *float64 `json:"a"`
	B    *float64 `json:"b"`
}

// Compare compares run B with run A. Questions are matched by id; those that
// are not the same in both are left out and named. Latencies are not compared.
func Compare(a, b *Result) (*Comparison, error) {
	c := &Comparison{
		A: ref(a), B: ref(b), LeftOut: []string{}, Setup: a.Setup.Differences(b.Setup),
		Metrics: []MetricComparison{}, Questions: []QuestionChange{}, Regressions: []string{},
	}
	if c.Setup == nil {
		c.Setup = []string{}
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
		if change := p.change(); len(change.Changes) > 0 {
			c.Questions = append(c.Questions, change)
		}
	}
	return c, nil
}

func ref(r *Result) RunRef {
	return RunRef{
		ID: r.ID, Name: r.Name, Started: r.Started, Dataset: r.Dataset.Name, Model: r.Setup.Model, Questions: len(r.Outcomes),
		Latency: r.Summary.Latency, Tokens: r.Summary.Tokens, CostUSD: r.Summary.CostUSD,
	}
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

// compareMetric compares a metric over the pairs that have it on both sides.
func compareMetric(name string, pairs []pair) (m MetricComparison, ok bool) {
	m = MetricComparison{Name: name}
	var as, bs []float64
	var groups [][]float64
	item := ""
	for _, p := range pairs {
		x, inA := p.a.Metrics[name]
		y, inB := p.b.Metrics[name]
		if !inA || !inB {
			continue
		}
		as, bs = append(as, x), append(bs, y)
		switch {
		case y > x:
			m.Wins++
		case y < x:
			m.Losses++
		default:
			m.Ties++
		}
		if len(groups) == 0 || p.a.Item != item {
			groups = append(groups, nil)
			item = p.a.Item
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], y-x)
	}
	if len(as) == 0 {
		return m, false
	}
	m.N, m.A, m.B = len(as), Mean(as), Mean(bs)
	m.Difference = Mean(slices.Concat(groups...))
	m.Interval = bootstrapGroups(groups)
	return m, true
}

// change lists the figures of a question that differ.
func (p pair) change() QuestionChange {
	c := QuestionChange{ID: p.a.ID, Question: p.a.Question}
	for _, m := range Metrics() {
		x, inA := p.a.Metrics[m.Name]
		y, inB := p.b.Metrics[m.Name]
		if inA == inB && x == y {
			continue
		}
		change := MetricChange{Name: m.Name}
		if inA {
			change.A = &x
		}
		if inB {
			change.B = &y
		}
		c.Changes = append(c.Changes, change)
	}
	return c
}

// mostChanges is how many changed questions a table names.
const mostChanges = 30

// WriteTable writes a comparison for people to read on a terminal.
func (c *Comparison) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "A  %s\nB  %s\n", c.A.line(), c.B.line())
	for _, l := range c.remarks() {
		fmt.Fprintln(w, l)
	}
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nMETRIC\tA\tB\tB - A\t95 % INTERVAL\tWON/LOST/TIED\t")
	for _, m := range c.Metrics {
		verdict := ""
		switch {
		case m.Fell():
			verdict = "worse"
		case m.Low > 0:
			verdict = "better"
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%+.3f\t[%+.3f, %+.3f]\t%d/%d/%d\t%s\n",
			m.Name, m.A, m.B, m.Difference, m.Low, m.High, m.Wins, m.Losses, m.Ties, verdict)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprint(w, tidy(rows.String()))
	changed := c.Questions
	fmt.Fprintf(w, "\n%s with other figures\n", plural(len(changed), "question"))
	for _, q := range changed[:min(mostChanges, len(changed))] {
		var parts []string
		for _, m := range q.Changes {
			parts = append(parts, fmt.Sprintf("%s %s → %s", m.Name, figure(m.A), figure(m.B)))
		}
		fmt.Fprintf(w, "  %s: %s\n", q.ID, strings.Join(parts, ", "))
	}
	if more := len(changed) - mostChanges; more > 0 {
		fmt.Fprintf(w, "  … and %d more\n", more)
	}
	return nil
}

func figure(f *float64) string {
	if f == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *f)
}

func (r RunRef) line() string {
	name := cmp.Or(r.ID, "(not stored)")
	if r.Name != "" {
		name += " (" + r.Name + ")"
	}
	out := fmt.Sprintf("%s  %s, %s, %s; p50 %.0f ms", name, r.Dataset, plural(r.Questions, "question"), r.Model, r.Latency.P50)
	if r.Tokens.Calls > 0 || r.Tokens.Total > 0 {
		out += fmt.Sprintf(", %d tokens, %.4f USD", r.Tokens.Total, r.CostUSD)
	}
	return out
}

// remarks say what is not compared, and what else differs.
func (c *Comparison) remarks() []string {
	var out []string
	if n := len(c.LeftOut); n > 0 {
		const most = 5
		list := strings.Join(c.LeftOut[:min(most, n)], ", ")
		if n > most {
			list += ", …"
		}
		out = append(out, fmt.Sprintf("left out, because it is not the same in both: %s: %s", plural(n, "question"), list))
	}
	for _, d := range c.Setup {
		out = append(out, "differs: "+d)
	}
	return out
}

// WriteCSV writes one line a metric, with a header.
func (c *Comparison) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"metric", "n", "a", "b", "difference", "low", "high", "wins", "losses", "ties"}); err != nil {
		return err
	}
	for _, m := range c.Metrics {
		cells := []string{m.Name, strconv.Itoa(m.N)}
		for _, f := range []float64{m.A, m.B, m.Difference, m.Low, m.High} {
			cells = append(cells, decimal(f))
		}
		for _, n := range []int{m.Wins, m.Losses, m.Ties} {
			cells = append(cells, strconv.Itoa(n))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
