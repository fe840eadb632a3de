package eval

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/transcript"
)

//go:embed report/report.tmpl
var reportTemplate string

//go:embed report/report.css
var reportStyle string

var parsedReport = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("report").Funcs(template.FuncMap{"visible": transcript.Visible, "clip": clip}).Parse(reportTemplate))
})

// WriteHTML writes a result as one HTML page that needs nothing else: it loads
// nothing, runs no script, and shows whatever documents and questions hold as
// text.
func WriteHTML(w io.Writer, r *Result) error {
	style := sha256.Sum256([]byte(reportStyle))
	page := reportPage{
		Result: r, Headline: r.headline(), Style: template.CSS(reportStyle),
		StyleHash: "sha256-" + base64.StdEncoding.EncodeToString(style[:]),
		Metrics:   metricRows(r), Setup: r.setupRows(),
	}
	for _, l := range r.footer() {
		if l = strings.TrimSpace(l); l != "" {
			page.Footer = append(page.Footer, l)
		}
	}
	for i := range r.Outcomes {
		page.Questions = append(page.Questions, questionView(&r.Outcomes[i]))
	}
	if err := parsedReport().Execute(w, page); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// reportPage is what the template shows.
type reportPage struct {
	Result    *Result
	Headline  string
	Style     template.CSS
	StyleHash string
	Metrics   []metricRow
	Footer    []string
	Questions []question
	Setup     []named
}

// metricRow is one line of the table of metrics.
type metricRow struct {
	Name, About, Mean, Interval, Target string
	Verdict                             string // "yes" or "no" beside a target, else ""
	N                                   int    // questions measured
}

func metricRows(r *Result) []metricRow {
	about := map[string]string{}
	for _, m := range Metrics() {
		about[m.Name] = m.About
	}
	rows := make([]metricRow, 0, len(r.Summary.Metrics))
	for _, m := range r.Summary.Metrics {
		verdict := ""
		if m.Reached != nil {
			verdict = map[bool]string{true: "yes", false: "no"}[*m.Reached]
		}
		rows = append(rows, metricRow{
			Name: m.Name, About: about[m.Name], N: m.N, Target: m.target(), Verdict: verdict,
			Mean: fmt.Sprintf("%.3f", m.Mean), Interval: fmt.Sprintf("%.3f – %.3f", m.Low, m.High),
		})
	}
	return rows
}

// named is a figure with its name.
type named struct{ Name, Value string }

// setupRows says what was measured, for people.
func (r *Result) setupRows() []named {
	rows := []named{
		{"dataset", fmt.Sprintf("%s, %s, SHA-256 %s", r.Dataset.Name, plural(r.Dataset.Questions, "question"), r.Dataset.Hash)},
		{"version", r.Setup.Version + ", " + r.Setup.Go},
		{"answered by", cmp.Or(r.Setup.Model, "unknown")},
		{"judged by", cmp.Or(r.JudgeModel, "nobody; no model was asked to")},
	}
	for _, i := range r.Setup.Index {
		rows = append(rows, named{"documents", fmt.Sprintf("%s: %s, %s, generation %d", i.Root, plural(i.Files, "file"), plural(i.Chunks, "chunk"), i.Generation)})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Setup.Settings)) {
		rows = append(rows, named{name, r.Setup.Settings[name]})
	}
	return rows
}

// question is one question as the page shows it.
type question struct {
	O         *Outcome
	Keywords  []keyword
	Pages     []Page
	MorePages int
	Missed    []string
	Metrics   []named
}

type keyword struct {
	Text  string
	Found bool
}

// shownPages is how many retrieved pages stand below a question.
const shownPages = 15

func questionView(o *Outcome) question {
	q := question{O: o, Pages: o.Retrieved[:min(shownPages, len(o.Retrieved))]}
	q.MorePages = len(o.Retrieved) - len(q.Pages)
	for _, k := range o.ExpectedKeywords {
		share, _ := KeywordShare(o.Answer, []string{k})
		q.Keywords = append(q.Keywords, keyword{k, share == 1})
	}
	found := sources(o.Retrieved)
	for _, p := range o.Relevant {
		if !slices.Contains(found, p) {
			q.Missed = append(q.Missed, p)
		}
	}
	for _, m := range Metrics() {
		if v, ok := o.Metrics[m.Name]; ok {
			q.Metrics = append(q.Metrics, named{m.Name, fmt.Sprintf("%.3f", v)})
		}
	}
	return q
}

// clip cuts a text at n runes and says so.
func clip(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "\n[… cut here; the JSON of the run holds all of it]"
		}
	}
	return s
}
