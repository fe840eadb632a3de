package offline

import (
	"regexp"

	"example.com/ragflow/state"
)

// Questions over several rows of a table: for a count, and for a sum or a comparison, which no single row answers.
var (
	countAsked = regexp.MustCompile(wholeWords(`how many|number of|count of`, `wie ?viele|anzahl`, `ile|liczba`, `bao nhiêu|có mấy|số lượng`))
	totalAsked = regexp.MustCompile(wholeWords(`sums?|totals?|altogether|averages?|most|more|fewest|fewer|least|(?:high|low|larg|small|bigg|old|new|cheap)est|compare`,
		`summe|gesamt\pL*|insgesamt|durchschnitt\pL*|meisten?|mehr|wenigsten?|weniger|(?:höchst|niedrigst|größt|kleinst|ältest|neuest|günstigst|teuerst)\pL*`,
		`suma|łącznie|średni\pL*|najwięcej|więcej|najmniej|mniej|naj(?:wyższ|niższ|większ|mniejsz|starsz|nowsz|tańsz|droższ)\pL*`,
		`tổng|trung bình|(?:nhiều|ít|cao|thấp|lớn|nhỏ|cũ|mới|rẻ|đắt) nhất|nhiều hơn|ít hơn`))
)

// overRows reports whether a question asks for something that has to be calculated from several rows of the table
// that was found. A row that is shown alone has what its key is asked for.
func (a *Answerer) overRows(t state.Task, pieces []piece) bool {
	total := totalAsked.MatchString(t.Question)
	if !total && !countAsked.MatchString(t.Question) || len(t.Sources) == 0 {
		return false
	}
	best := t.Sources[0].Chunk
	if len(pieces) > 0 {
		best = t.Sources[pieces[0].source].Chunk
		if x := pieces[0]; !x.p.isRecord(x.unit) || x.single && !total {
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

// calculated returns a task as one whose answer has to be calculated: its passages are only the closest.
func calculated(t state.Task) state.Task {
	t.Abstain = true
	t.Grade.Score, t.Grade.Why = min(t.Grade.Score, unanswered), t.Grade.Why+"; the answer has to be calculated from rows of a table"
	return t
}
