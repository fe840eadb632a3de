package eval

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"example.com/ragflow"
)

// unit is what a result counts.
func (r *Result) unit() string {
	if r.Retrieval != nil {
		return "query"
	}
	return "question"
}

// retrievalHeadline says what was searched and how, on one line.
func (r *Result) retrievalHeadline() string {
	out := fmt.Sprintf("%s: %s", r.Dataset.Name, plural(len(r.Outcomes), "query"))
	if !r.Complete {
		out += fmt.Sprintf(" of %d, unfinished", r.Dataset.Questions)
	}
	if n := r.Retrieval.Documents; n > 0 {
		out += " over " + plural(n, "document")
	}
	if r.Retrieval.FromRun != "" {
		return out + ", found by the run " + r.Retrieval.FromRun
	}
	return out + ", " + r.Setup.Model
}

// retrievalFooter is what stands below the metrics of a retrieval run.
func (r *Result) retrievalFooter() []string {
	lines := []string{"", fmt.Sprintf("depth    %s a query; documents beyond count as not found", plural(r.Retrieval.Depth, "document"))}
	if r.Retrieval.FromRun == "" {
		s := r.Summary
		lines = append(lines, fmt.Sprintf("latency  p50 %.1f ms, p95 %.1f ms, longest %.1f ms", s.Latency.P50, s.Latency.P95, s.Latency.Max))
	}
	told := map[string]bool{}
	for i := range r.Outcomes {
		for _, w := range r.Outcomes[i].Warnings {
			if !told[w] && len(told) < 5 {
				told[w] = true
				lines = append(lines, "warning  "+w)
			}
		}
	}
	return lines
}

// writeRetrieval writes a retrieval run for people: a row each metric, a column
// each way of searching.
func writeRetrieval(w io.Writer, r *Result) error {
	fmt.Fprintf(w, "%s\n\n", r.headline())
	var rows strings.Builder
	t := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	columns := []struct{ leg, title string }{{"", "ALL"}, {ragflow.LegLexical, "WORDS"}, {ragflow.LegDense, "MEANING"}}
	_, lexical := r.Summary.Metric(legMetric(MetricNDCG, ragflow.LegLexical))
	_, dense := r.Summary.Metric(legMetric(MetricNDCG, ragflow.LegDense))
	if !lexical && !dense {
		columns = columns[:1]
		columns[0].title = "MEAN"
	}
	fmt.Fprint(t, "METRIC")
	for _, c := range columns {
		fmt.Fprintf(t, "\t%s\t95 %% INTERVAL", c.title)
	}
	fmt.Fprintln(t)
	for _, m := range RetrievalMetrics()[:len(RetrievalMetrics())/3] {
		if _, ok := r.Summary.Metric(m.Name); !ok {
			continue
		}
		fmt.Fprint(t, m.Name)
		for _, c := range columns {
			if s, ok := r.Summary.Metric(legMetric(m.Name, c.leg)); ok {
				fmt.Fprintf(t, "\t%.4f\t[%.4f, %.4f]", s.Mean, s.Low, s.High)
			} else {
				fmt.Fprint(t, "\t–\t")
			}
		}
		fmt.Fprintln(t)
	}
	return r.endTable(w, t, &rows)
}

// retrievalTiles are the figures that the report of a retrieval run begins with.
func retrievalTiles(r *Result) []named {
	out := []named{{"queries", strconv.Itoa(r.Summary.Questions)}, {"in trouble", strconv.Itoa(r.Summary.Troubled)}}
	for _, m := range []struct{ name, label string }{{MetricNDCG, "nDCG@10"}, {MetricRecall10, "recall@10"}, {MetricRecall100, "recall@100"}, {MetricMRR, "MRR"}, {MetricMAP, "MAP"}} {
		if x, ok := r.Summary.Metric(m.name); ok {
			out = append(out, named{m.label, fmt.Sprintf("%.4f", x.Mean)})
		}
	}
	return append(out, named{"median latency", fmt.Sprintf("%.1f ms", r.Summary.Latency.P50)})
}

// retrievalRows says what was measured, for people.
func (r *Result) retrievalRows() []named {
	i := r.Retrieval
	rows := []named{{"queries and judgements", fmt.Sprintf("%s, %s, SHA-256 %s", i.Queries, i.Qrels, i.Hash)}}
	if i.FromRun != "" {
		return append(rows, named{"run measured", i.FromRun})
	}
	return append(rows, named{"corpus", cmp.Or(i.Corpus, "unknown")}, named{"search", r.Setup.Model})
}
