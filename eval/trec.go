package eval

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// TREC is a run in the format of TREC: the documents found for each query, best
// first.
type TREC map[string][]Page

const trecExample = `"q1 Q0 d1 1 12.5 name": query, Q0, document, rank, score and name of the run`

// ReadTREC reads a run of six columns, or five without the name at the end,
// separated by tabs or else by blanks; it may be packed with gzip. As in
// trec_eval the score alone makes the order, in 32 bits, and of equal scores the
// document with the greater name comes first. What is wrong is told at once, as a
// [*DatasetError].
func ReadTREC(r io.Reader) (TREC, error) {
	run := TREC{}
	var wrong faults
	lines := map[[2]string]int{}
	err := wrong.eachLine(r, func(n int, line []byte) error {
		c := columns(string(line))
		if len(c) < 5 || len(c) > 6 {
			wrong.add(n, "not a line such as %s", trecExample)
			return nil
		}
		score, err := strconv.ParseFloat(c[4], 64)
		pair := [2]string{c[0], c[2]}
		switch {
		case err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(score):
			wrong.add(n, "the score is %q, but a number is expected", c[4])
		case lines[pair] > 0:
			wrong.add(n, "document %q stands on line %d already, for the same query %q", c[2], lines[pair], c[0])
		default:
			lines[pair] = n
			run[c[0]] = append(run[c[0]], Page{Source: c[2], Score: score})
		}
		return nil
	})
	if err == nil && len(run) == 0 && len(wrong) == 0 {
		wrong.add(1, "the run is empty; a line is like %s", trecExample)
	}
	for _, pages := range run {
		slices.SortStableFunc(pages, func(a, b Page) int {
			return cmp.Or(cmp.Compare(float32(b.Score), float32(a.Score)), strings.Compare(b.Source, a.Source))
		})
	}
	return run, errors.Join(err, wrong.err())
}

// WriteTREC writes what a retrieval run found in the format of TREC, under the
// name given. Where an id holds a blank, tabs separate the columns. Scores are
// written in 32 bits, and one that would not fall below the one before is made to
// by the last bit, so that who sorts by them sees the same order.
func WriteTREC(w io.Writer, r *Result, name string) error {
	out := bufio.NewWriter(w)
	blank := func(s string) bool { return strings.ContainsFunc(s, unicode.IsSpace) }
	separator := " "
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if blank(o.ID) || slices.ContainsFunc(o.Retrieved, func(p Page) bool { return blank(p.Source) }) {
			separator = "\t"
		}
	}
	for i := range r.Outcomes {
		last := float32(math.Inf(1))
		for rank, p := range r.Outcomes[i].Retrieved {
			score := min(float32(p.Score), math.Nextafter32(last, float32(math.Inf(-1))))
			last = score
			fmt.Fprintln(out, strings.Join([]string{
				r.Outcomes[i].ID, "Q0", p.Source, strconv.Itoa(rank + 1), strconv.FormatFloat(float64(score), 'g', -1, 32), name,
			}, separator))
		}
	}
	return out.Flush()
}

// Measure measures a run of somebody's against a set of queries. Queries that
// the run says nothing of have found nothing; those that are not in the set do
// not count. Documents beyond the depth are cut.
func (run TREC) Measure(j Judged, o RetrievalOptions) *Result {
	o = o.withDefaults()
	result, _ := NewRetrievalResult(j, o)
	for _, q := range j.Queries {
		pages := slices.Clone(run[q.ID])
		pages = pages[:min(o.Depth, len(pages))]
		for i := range pages {
			pages[i].Relevant = q.Gains[pages[i].Source] > 0
		}
		out := Outcome{
			ID: q.ID, Item: q.ID, Question: q.Text, Expected: Expected{Relevant: q.relevant()},
			Metrics: map[string]float64{}, Retrieved: append([]Page{}, pages...), Citations: []Citation{},
		}
		out.measureRanking(sources(pages), q.Gains, "")
		out.Trouble = out.retrievalTroubles(len(q.Gains))
		result.Outcomes = append(result.Outcomes, out)
	}
	result.Complete = true
	result.Summarise()
	return result
}
