package eval

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"example.com/ragflow/internal/transcript"
)

//go:embed report.css
var reportStyle string

// reportPage loads nothing and runs no script.
var reportPage = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evaluation of {{.Name}}</title>
<style>{{.Style}}</style>
</head>
<body>
<h1>Evaluation of {{.Name}}</h1>
<pre>{{.Table}}</pre>
<h2>Questions</h2>
{{range .Questions}}<details>
<summary><b>{{.ID}}</b> <span dir="auto">{{.Question}}</span> <i>{{.Verdict}}</i></summary>
{{range .Parts}}{{if index . 1}}<h3>{{index . 0}}</h3>
<pre dir="auto">{{index . 1}}</pre>
{{end}}{{end}}</details>
{{end}}</body>
</html>
`))

// reportQuestion is a question in a report; Parts are headings with their texts.
type reportQuestion struct {
	ID, Question, Verdict string
	Parts                 [][2]string
}

// WriteHTML writes a result as one HTML page: the table of [WriteTable], and each question with its answer,
// expectations, citations and figures. Texts of documents and questions are escaped.
func WriteHTML(w io.Writer, r *Result) error {
	var table strings.Builder
	if err := WriteTable(&table, r); err != nil {
		return err
	}
	questions := make([]reportQuestion, len(r.Outcomes))
	for i := range r.Outcomes {
		questions[i] = r.Outcomes[i].report()
	}
	err := reportPage.Execute(w, map[string]any{
		"Name": shown(r.Dataset.Name), "Style": template.CSS(reportStyle), "Table": shown(table.String()), "Questions": questions,
	})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (o *Outcome) report() reportQuestion {
	var citations, figures strings.Builder
	for i, c := range o.Reply.Citations {
		exact := "the quote is in the file"
		if !o.Exact[i] {
			exact = "the quote is NOT in the file"
		}
		fmt.Fprintf(&citations, "[%d] %s, %s\n%s\n", c.N, transcript.Place(c.Citation, ""), exact, c.Quote)
	}
	found := pages(o.Reply.Retrieved, "")
	for _, m := range Metrics() {
		if v, ok := o.Metrics[m.Name]; ok {
			fmt.Fprintf(&figures, "%.3f  %s: %s\n", v, m.Name, m.About)
		}
	}
	fmt.Fprintf(&figures, "%.2f  grade\n%.0f ms", o.Reply.Grade.Score, o.LatencyMS)
	q := reportQuestion{ID: shown(o.ID), Question: shown(o.Question), Verdict: shown(o.told()), Parts: [][2]string{
		{"Answer", o.Reply.Answer},
		{"Expected answer", o.ExpectedAnswer},
		{"Expected keywords", strings.Join(o.ExpectedKeywords, "\n")},
		{"Relevant pages", strings.Join(o.Relevant, "\n")},
		{"Citations", citations.String()},
		{"First pages found", strings.Join(found[:min(10, len(found))], "\n")},
		{"Figures", figures.String()},
	}}
	for i := range q.Parts {
		q.Parts[i][1] = shown(q.Parts[i][1])
	}
	return q
}

// shown returns at most 20,000 characters of a text, without those that a viewer would interpret.
func shown(text string) string {
	const most = 20_000
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "\n[… cut here; the JSON of the run holds all of it]"
	}
	return transcript.Visible(text)
}
