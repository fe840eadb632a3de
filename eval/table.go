package eval

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// WriteTable writes a result for a terminal: the metrics with their 95 % intervals and targets, the cost, and
// the questions that were not answered rightly. Texts of documents and errors are not escaped.
func WriteTable(w io.Writer, r *Result) error {
	fmt.Fprintf(w, "%s\n\n", r.headline())
	rows := [][]string{{"metric", "mean", "95 % interval", "n", "target"}}
	for _, m := range r.Summary.Metrics {
		rows = append(rows, []string{m.Name, threeDigits(m.Mean), fmt.Sprintf("[%.3f, %.3f]", m.Low, m.High), strconv.Itoa(m.N), m.target()})
	}
	if err := writeColumns(w, rows); err != nil {
		return err
	}
	for _, l := range r.footer() {
		fmt.Fprintln(w, l)
	}
	r.writeMissed(w)
	return nil
}

// writeColumns writes rows in columns; the first is the header.
func writeColumns(w io.Writer, rows [][]string) error {
	var columns strings.Builder
	t := tabwriter.NewWriter(&columns, 0, 0, 2, ' ', 0)
	for i, cells := range rows {
		row := strings.Join(cells, "\t")
		if i == 0 {
			row = strings.ToUpper(row)
		}
		fmt.Fprintln(t, row)
	}
	err := t.Flush()
	for l := range strings.Lines(columns.String()) {
		fmt.Fprintln(w, strings.TrimRight(l, " \n"))
	}
	return err
}

// writeNamed writes the first lines of a list, and the number of others.
func writeNamed(w io.Writer, most int, list []string) {
	for _, l := range list[:min(most, len(list))] {
		fmt.Fprintln(w, "  "+l)
	}
	if more := len(list) - most; more > 0 {
		fmt.Fprintf(w, "  … and %d more\n", more)
	}
}

// headline returns what was measured, on one line.
func (r *Result) headline() string {
	parts := []string{fmt.Sprintf("dataset %s: %s", r.Dataset.Name, plural(len(r.Outcomes), "question"))}
	if !r.Complete {
		parts[0] += fmt.Sprintf(" of %d, unfinished", r.Dataset.Questions)
	}
	if r.Model != "" {
		parts = append(parts, "answered by "+r.Model)
	}
	if r.JudgeModel != "" {
		parts = append(parts, "judged by "+r.JudgeModel)
	}
	return strings.Join(parts, ", ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// target says whether the target is reached.
func (m MetricSummary) target() string {
	if m.Reached == nil {
		return ""
	}
	word := "not reached"
	if *m.Reached {
		word = "reached"
	}
	return strconv.FormatFloat(m.Target, 'f', -1, 64) + " " + word
}

// footer returns the lines below the metrics.
func (r *Result) footer() []string {
	s := r.Summary
	lines := []string{
		"",
		s.verdicts(),
		fmt.Sprintf("latency  p50 %.0f ms, p95 %.0f ms, longest %.0f ms", s.Latency.P50, s.Latency.P95, s.Latency.Max),
		fmt.Sprintf("tokens   %d in, %d out, %s to models, %s", s.Tokens.Input, s.Tokens.Output, plural(int(s.Tokens.Calls), "call"), s.cost()),
	}
	if s.Certainty != nil {
		lines = append(lines, fmt.Sprintf("certainty  AUROC of right answers against wrong ones %.2f", *s.Certainty))
	}
	if j := s.Judged; j != nil {
		lines = append(lines, fmt.Sprintf("judge    %s, %d without a score; %d tokens in, %d out, %.4f USD",
			plural(j.Answers, "answer"), j.Failed, j.Tokens.Input, j.Tokens.Output, j.CostUSD))
	}
	return lines
}

// cost says what answering cost, and whose price is not known.
func (s Summary) cost() string {
	text := fmt.Sprintf("%.4f USD", s.CostUSD)
	if len(s.Unpriced) > 0 {
		text += ", without that of " + strings.Join(s.Unpriced, ", ") + ": set its price with LLM_PRICES"
	}
	return text
}

// verdicts says how many questions were answered rightly, and how many have no verdict.
func (s Summary) verdicts() string {
	v := s.Verdicts
	if v[notMeasured] > 0 && v[VerdictRight]+v[VerdictWrong] == 0 {
		return "verdict  correctness was not measured: the questions expect no keywords, and no judge was asked"
	}
	out := fmt.Sprintf("verdict  %d right, %d wrong, %d declined though the documents answer", v[VerdictRight], v[VerdictWrong], v[VerdictDeclined])
	if n := v[notMeasured]; n > 0 {
		out += fmt.Sprintf("; correctness of %s was not measured: they expect no keywords", plural(n, "answer"))
	}
	return out
}

// maxNamed is the number of questions that a table names.
const maxNamed = 10

// writeMissed lists the questions that failed, or were answered wrongly or not at all.
func (r *Result) writeMissed(w io.Writer) {
	var missed []string
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Error != "" || o.Verdict == VerdictWrong || o.Verdict == VerdictDeclined {
			missed = append(missed, o.ID+": "+o.told())
		}
	}
	if len(missed) > 0 {
		fmt.Fprintf(w, "\n%s not answered rightly:\n", plural(len(missed), "question"))
		writeNamed(w, maxNamed, missed)
	}
}

// WriteCSV writes one line a question, with a header; metrics that do not apply are empty. A text that a
// spreadsheet would read as a formula gets a leading '.
func WriteCSV(w io.Writer, r *Result) error {
	header := []string{"id", "item", "turn", "lang", "kind", "question", "expected_answer", "answer", "abstained", "grade"}
	for _, m := range Metrics() {
		header = append(header, m.Name)
	}
	rows := [][]string{append(header, "cited", "pages", "model", "input_tokens", "output_tokens", "cost_usd", "latency_ms", "error", "verdict")}
	for i := range r.Outcomes {
		rows = append(rows, r.Outcomes[i].cells())
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func (o *Outcome) cells() []string {
	var cited []string
	for _, c := range o.Reply.Citations {
		cited = append(cited, fmt.Sprintf("[%d] %s:%d-%d", c.N, c.Source, c.StartLine, c.EndLine))
	}
	cells := []string{
		o.ID, o.Item, strings.TrimPrefix(strconv.Itoa(o.Turn), "0"), o.Lang, o.Kind, o.Question, o.ExpectedAnswer,
		o.Reply.Answer, strconv.FormatBool(o.Reply.Abstained), decimal(o.Reply.Grade.Score),
	}
	for _, m := range Metrics() {
		cell := ""
		if v, ok := o.Metrics[m.Name]; ok {
			cell = decimal(v)
		}
		cells = append(cells, cell)
	}
	found := pages(o.Reply.Retrieved, "")
	cells = append(cells,
		strings.Join(cited, "; "), strings.Join(found[:min(10, len(found))], "; "), o.Reply.Model,
		strconv.FormatInt(o.Reply.Usage.InputTokens, 10), strconv.FormatInt(o.Reply.Usage.OutputTokens, 10), decimal(o.Reply.CostUSD), decimal(o.LatencyMS),
		o.Error, o.Verdict)
	for i, c := range cells { // cells cannot be formulas (OWASP, CSV injection)
		if c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
			cells[i] = "'" + c
		}
	}
	return cells
}

func threeDigits(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
