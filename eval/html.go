package eval

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"example.com/ragflow/transcript"
)

//go:embed report.css
var reportStyle string

// pageHead is the head of a report: hash of the style, title, style, title again. The
// policy of the page allows that style and nothing else.
const pageHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Evaluation of %s</title>
<style>%s</style>
</head>
<body>
<h1>Evaluation of %s</h1>
`

// WriteHTML writes a result as one HTML page: the table of [WriteTable], and each
// question with its answer, expectations, citations and figures. The page loads nothing
// and runs no script, and shows whatever documents and questions hold as text.
func WriteHTML(w io.Writer, r *Result) error {
	var table strings.Builder
	if err := WriteTable(&table, r); err != nil {
		return err
	}
	var b bytes.Buffer
	name, style := escaped(r.Dataset.Name), sha256.Sum256([]byte(reportStyle))
	fmt.Fprintf(&b, pageHead, base64.StdEncoding.EncodeToString(style[:]), name, reportStyle, name)
	fmt.Fprintf(&b, "<pre>%s</pre>\n<h2>Questions</h2>\n", escaped(table.String()))
	for i := range r.Outcomes {
		r.Outcomes[i].writeHTML(&b)
	}
	b.WriteString("</body>\n</html>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// mostShown is the maximum length of a text in a report, in runes. JSON has all of it.
const mostShown = 20_000

// writeHTML writes a question as an element that opens on a click.
func (o *Outcome) writeHTML(b *bytes.Buffer) {
	verdict := o.Verdict
	switch {
	case o.Error != "":
		verdict = "failed"
	case verdict == "":
		verdict = "not measured"
	}
	fmt.Fprintf(b, "<details>\n<summary><b>%s</b> <span dir=\"auto\">%s</span> <i>%s</i></summary>\n", escaped(o.ID), escaped(o.Question), verdict)
	part := func(heading, text string) {
		if text != "" {
			fmt.Fprintf(b, "<h3>%s</h3>\n<pre dir=\"auto\">%s</pre>\n", heading, escaped(text))
		}
	}
	var citations, pages, figures strings.Builder
	for _, c := range o.Citations {
		exact := "the quote is in the file"
		if !c.Exact {
			exact = "the quote is NOT in the file"
		}
		fmt.Fprintf(&citations, "[%d] %s:%d-%d, %s\n%s\n", c.N, c.Source, c.StartLine, c.EndLine, exact, c.Quote)
	}
	for i, p := range o.Retrieved[:min(10, len(o.Retrieved))] {
		mark := ""
		if p.Relevant {
			mark = "  relevant"
		}
		fmt.Fprintf(&pages, "%d. %s  %.4f%s\n", i+1, p.Source, p.Score, mark)
	}
	for _, m := range Metrics() {
		if v, ok := o.Metrics[m.Name]; ok {
			fmt.Fprintf(&figures, "%.3f  %s: %s\n", v, m.Name, m.About)
		}
	}
	fmt.Fprintf(&figures, "%.0f ms", o.LatencyMS)
	part("In trouble", strings.Join(o.Trouble, "\n"))
	part("Answer", o.Answer)
	part("Expected answer", o.ExpectedAnswer)
	part("Expected keywords", strings.Join(o.ExpectedKeywords, "\n"))
	part("Relevant pages", strings.Join(o.Relevant, "\n"))
	part("Citations", citations.String())
	part("First pages found", pages.String())
	part(fmt.Sprintf("Grade %.2f; figures", o.Grade.Score), figures.String())
	b.WriteString("</details>\n")
}

// escaped is a text as HTML, without characters that a viewer would act on.
func escaped(text string) string {
	if runes := []rune(text); len(runes) > mostShown {
		text = string(runes[:mostShown]) + "\n[… cut here; the JSON of the run holds all of it]"
	}
	return html.EscapeString(transcript.Visible(text))
}
