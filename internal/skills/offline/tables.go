package offline

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"example.com/ragflow/internal/skills/table"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// computed answers a question that is computed over one table; false if it is none.
func (a *Answerer) computed(ctx context.Context, t state.Task) (out state.Answer, ok bool, err error) {
	if _, asks := table.Asked(t.Question); !asks || a.Documents == nil || a.HasModel {
		return out, false, nil
	}
	documents, err := a.Documents(ctx, t.Question)
	if err != nil {
		return out, false, fmt.Errorf("read tables: %w", err)
	}
	out, ok, err = table.Answer(t, documents)
	out.Model, out.Terms = Name, a.lex.keyTerms(out.Text)
	return out, ok, err
}

// overRows reports whether a question asks for something that has to be calculated from several rows of the table
// that was found. A row that is shown alone has what its key is asked for.
func (a *Answerer) overRows(t state.Task, pieces []piece) bool {
	of, asks := table.Asked(t.Question)
	if !asks || len(t.Sources) == 0 {
		return false
	}
	best := t.Sources[0].Chunk
	if len(pieces) > 0 {
		best = t.Sources[pieces[0].source].Chunk
		if x := pieces[0]; !x.p.isRecord(x.unit) || x.single && of == table.Counting || a.lex.isTotal(x.p, x.unit, t.Question) {
			return false
		}
	}
	p, rows := a.lex.passage(best), 0
	for j := range p.units {
		if p.isRecord(j) {
			rows++
		}
	}
	return rows > 1
}

// columnName matches the name of a column in a row of data as loaders write it.
var columnName = regexp.MustCompile(`(?:^|; )[^:;]{1,80}: `)

// isTotal reports whether unit j is the row with the total that a question asks for: it is labelled so, and all other
// words of the question stand in it or name its document.
func (l lexicon) isTotal(p *passage, j int, question string) bool {
	isSum := func(s string) bool {
		of, ok := table.Asked(s)
		return ok && of.Adds()
	}
	if !p.isRecord(j) || !isSum(question) || !isSum(columnName.ReplaceAllString(p.sentence(j), "\n")) {
		return false
	}
	return !slices.ContainsFunc(l.content(question), func(w text.Token) bool {
		return !p.names.has(w.Term) && !p.terms[j].has(w.Term) && !isSum(question[w.Start:w.End])
	})
}
