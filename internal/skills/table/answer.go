// Package table answers questions for a count, a sum, a mean or an extreme that are computed over one table of a document.
//
//	answer, ok, err := table.Answer(task, documents)
//
// Every word of the question must be explained by the table: as an operation, a column, a value or a word that limits
// nothing. Else nothing is computed.
package table

import (
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/state"
)

// The grade of an answer that was calculated (in eval/tables more are right), and the number of rows that it shows.
const computedGrade, maxRows = 0.8, 8

// Answer answers a question for a count, a sum, an average, a highest or a lowest number, if all its words are explained
// by exactly one table of some documents, each given by all its chunks. ok is false if it is no such question, or if the
// result is not sure. It fails if a source is not valid UTF-8.
func Answer(t state.Task, documents [][]state.Chunk) (out state.Answer, ok bool, err error) {
	var found []*question
	for _, chunks := range documents {
		for _, table := range read(chunks) {
			if q, fits := table.explain(wordsOf(t.Question)); fits {
				found = append(found, q)
			}
		}
	}
	if len(found) != 1 || !found[0].compute() {
		return out, false, nil
	}
	out, err = found[0].answer(t)
	return out, true, err
}

// answer writes the result, with the rows that it was calculated from and the total that the table has itself.
func (q *question) answer(task state.Task) (out state.Answer, err error) {
	var used []state.Source
	var picks []cite.Pick
	show := func(r row) string {
		chunk := q.t.chunks[slices.IndexFunc(q.t.chunks, func(c state.Chunk) bool { return r.start < c.End })]
		is := func(s state.Source) bool { return s.ID == chunk.ID }
		if !slices.ContainsFunc(used, is) {
			at := slices.IndexFunc(task.Sources, is)
			if at < 0 {
				out.Added = append(out.Added, state.Source{Chunk: chunk})
				at = len(task.Sources) + len(out.Added) - 1
			}
			used, out.Order = append(used, state.Source{Chunk: chunk}), append(out.Order, at+1)
		}
		n := slices.IndexFunc(used, is) + 1
		picks = append(picks, cite.Pick{N: n, Start: max(0, r.start-chunk.Start), End: min(r.end, chunk.End) - chunk.Start})
		line := "- "
		for i, cell := range r.cells {
			if cell != "" {
				line += readable.Line(q.t.names[i]+": "+cell) + "; "
			}
		}
		return strings.TrimSuffix(line, "; ") + " " + cite.Marker(n)
	}
	lines := []string{q.sentence(task.Language), ""}
	for _, i := range q.shown[:min(len(q.shown), maxRows)] {
		lines = append(lines, show(q.t.rows[i]))
	}
	if more := len(q.shown) - maxRows; more > 0 {
		lines = append(lines, "- "+prompts.More(more, task.Language))
	}
	if n := len(q.t.totals); n > 0 && q.column >= 0 {
		lines = append(lines, "", prompts.Say(prompts.OwnTotal, task.Language), "", show(q.t.totals[n-1]))
	}
	out.Text = strings.Join(lines, "\n")
	out.Grade = &state.Grade{Score: computedGrade, Why: "computed over the rows of " + q.t.chunks[0].Source}
	if out.Citations, err = cite.Build(used, picks...); err != nil {
		return out, fmt.Errorf("computed answer: %w", err)
	}
	return out, nil
}

// sentence says the result, how many rows were counted, and the conditions in words.
func (q *question) sentence(language string) string {
	say := func(s prompts.Situation, values ...any) string {
		return fmt.Sprintf(prompts.Say(s, language), values...)
	}
	labels := []prompts.Situation{prompts.CountOf, prompts.SumOf, prompts.SumOf, prompts.AverageOf, prompts.HighestOf, prompts.LowestOf} // by operation
	what := prompts.Say(labels[q.of], language)
	if q.column >= 0 {
		what = fmt.Sprintf(what, readable.Line(q.t.names[q.column]))
	}
	var conditions []string
	for i, name := range q.t.names {
		if q.conditions[i] != "" {
			conditions = append(conditions, say(prompts.RowsWith, readable.Line(name), readable.Line(q.t.rows[q.rows[0]].cells[i])))
		}
	}
	rows := say(prompts.RowsCounted, len(q.rows), len(q.t.rows))
	if conditions != nil {
		rows = say(prompts.RowsWhere, len(q.rows), len(q.t.rows), strings.Join(conditions, ", "))
	}
	return what + ": **" + q.result + "** (" + rows + ")"
}
