package offline

import (
	"regexp"
	"slices"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// overRows reports whether a question asks for something that has to be calculated from several rows of the table
// that was found. A row that is shown alone has what its key is asked for.
func (a *Answerer) overRows(t state.Task, pieces []piece) bool {
	of, asks := operationAsked(t.Question)
	if !asks || len(t.Sources) == 0 {
		return false
	}
	best := t.Sources[0].Chunk
	if len(pieces) > 0 {
		best = t.Sources[pieces[0].source].Chunk
		if x := pieces[0]; !x.p.isRecord(x.unit) || x.single && of == counting || a.lex.isTotal(x.p, x.unit, t.Question) {
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
		of, ok := operationAsked(s)
		return ok && (of == summing || of == totalling)
	}
	if !p.isRecord(j) || !isSum(question) || !isSum(columnName.ReplaceAllString(p.sentence(j), "\n")) {
		return false
	}
	return !slices.ContainsFunc(l.content(question), func(w text.Token) bool {
		return !p.names.has(w.Term) && !p.terms[j].has(w.Term) && !isSum(question[w.Start:w.End])
	})
}
