package offline

import (
	"regexp"
	"slices"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Questions over several rows of a table: for a count, and for a sum or a comparison, which no single row answers.
var (
	countAsked = regexp.MustCompile(wholeWords(`how many|number of|count of`, `wie ?viele|anzahl`, `ile|liczba`, `bao nhiêu|có mấy|số lượng`))
	sumAsked   = regexp.MustCompile(wholeWords(`sums?|totals?|altogether|together`, `summe|gesamt\pL*|insgesamt|zusammen`, `suma|łącznie|razem`, `tổng`))
	mostAsked  = regexp.MustCompile(wholeWords(`averages?|most|more|fewest|fewer|least|(?:high|low|larg|small|bigg|old|new|cheap)est|compare`,
		`durchschnitt\pL*|meisten?|mehr|wenigsten?|weniger|(?:höchst|niedrigst|größt|kleinst|ältest|neuest|günstigst|teuerst)\pL*`,
		`średni\pL*|najwięcej|więcej|najmniej|mniej|naj(?:wyższ|niższ|większ|mniejsz|starsz|nowsz|tańsz|droższ)\pL*`,
		`trung bình|(?:nhiều|ít|cao|thấp|lớn|nhỏ|cũ|mới|rẻ|đắt) nhất|nhiều hơn|ít hơn`))
)

// overRows reports whether a question asks for something that has to be calculated from several rows of the table
// that was found. A row that is shown alone has what its key is asked for.
func (a *Answerer) overRows(t state.Task, pieces []piece) bool {
	total := sumAsked.MatchString(t.Question) || mostAsked.MatchString(t.Question)
	if !total && !countAsked.MatchString(t.Question) || len(t.Sources) == 0 {
		return false
	}
	best := t.Sources[0].Chunk
	if len(pieces) > 0 {
		best = t.Sources[pieces[0].source].Chunk
		if x := pieces[0]; !x.p.isRecord(x.unit) || x.single && !total || a.lex.isTotal(x.p, x.unit, t.Question) {
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

// isTotal reports whether unit j is the row with the total that a question asks for: it is labelled so, and all other
// words of the question stand in it or name its document.
func (l lexicon) isTotal(p *passage, j int, question string) bool {
	label := columnName.ReplaceAllString(p.text[p.units[j].start:p.units[j].end], "\n")
	if !p.isRecord(j) || !sumAsked.MatchString(label) || !sumAsked.MatchString(question) {
		return false
	}
	return !slices.ContainsFunc(l.content(sumAsked.ReplaceAllString(question, " ")), func(w text.Token) bool {
		return !p.names.has(w.Term) && !p.terms[j].has(w.Term)
	})
}

// calculated returns a task as one whose answer has to be calculated: its passages are only the closest.
func calculated(t state.Task) state.Task {
	t.Abstain = true
	t.Grade.Score, t.Grade.Why = min(t.Grade.Score, unanswered), t.Grade.Why+"; the answer has to be calculated from rows of a table"
	return t
}
