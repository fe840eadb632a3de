package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// minScoreShare is the score that a further source needs to be shown, as a share of the best one's.
const minScoreShare = 0.05

// pieces returns the parts of the best sources that an answer shows, one a source: if the grade is high, the one
// with the likeliest sentence alone; else those that [lexicon.close] keeps, best first.
func (a *Answerer) pieces(t state.Task) []piece {
	ranked, sections := a.Rank(t), a.sections(t)
	exact := a.preferExact(t, ranked, sections)
	most, near, named := maxPieces, a.lex.close(t), namedSources(t)
	band := state.Band(t.Grade.Score, t.Abstain)
	if band == state.BandAnswers || len(t.Sources) == 1 {
		most = 1
	}
	terms := a.lex.question(mainQuery(t.Queries), historyWeight)
	var out []piece
	shown := ""
	for _, n := range order(named, timely(t, near), ranked, most == 1 || exact) {
		if len(out) == most {
			break
		}
		weak := !named[n] && t.Sources[n].Score < minScoreShare*t.Sources[0].Score
		at := slices.IndexFunc(ranked, func(r Ranked) bool { return r.N == n+1 })
		if at < 0 || weak || !near[n] && (len(out) > 0 || band == state.BandClosest) {
			continue
		}
		p, unit := a.lex.passage(t.Sources[n].Chunk), ranked[at].unit
		said := readable.Line(p.sentence(unit))
		if said == "" || strings.Contains(shown, said) {
			continue
		}
		room := moreWords
		if most == 1 {
			room = answerWords
		} else if len(out) == 0 {
			room = bestWords
		}
		x := p.around(n, unit, room)
		if sections[n].first == unit {
			x.first, x.last = unit, min(sections[n].last, max(x.last, unit))
		} else if p.alone(unit, terms) {
			x.first, x.last, x.single = unit, unit, true
		}
		if len(out) > 0 && x.headerOnly() {
			continue
		}
		for j := x.first; j <= x.last; j++ {
			shown += readable.Line(p.sentence(j)) + "\n"
		}
		out = append(out, x)
	}
	return out
}

// order returns the indices of sources in the order in which pieces of them are shown: best first, after the source of
// the likeliest sentence if that is wanted. Those of the document that the question names come before all others, then
// those that [timely] prefers.
func order(named []bool, timely []string, ranked []Ranked, likeliest bool) []int {
	var out []int
	if likeliest && len(ranked) > 0 {
		out = append(out, ranked[0].N-1)
	}
	for n := range named {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int {
		switch {
		case named[a] == named[b]:
			return cmp.Compare(timely[b], timely[a])
		case named[a]:
			return -1
		}
		return 1
	})
	return out
}

// namedSources reports for each source whether the question names its file, and no other as well.
func namedSources(t state.Task) []bool {
	asked, held, best := text.NewAsked(t.Question), make([]int, len(t.Sources)), 1
	for i, s := range t.Sources {
		held[i] = asked.Names(text.NewFileName(s.Source))
		best = max(best, held[i])
	}
	out := make([]bool, len(held))
	for i := range out {
		out[i] = held[i] == best
	}
	return out
}

// preferExact moves to the front what answers by its form: the section that the question names by number, the row with
// the total asked for, and a value of the kind asked for beside as many words of the question as the likeliest sentence
// holds. Questions and greetings come last. It reports whether the first one answers by its form.
func (a *Answerer) preferExact(t state.Task, ranked []Ranked, sections []span) bool {
	kind, words, least := kindAsked(t.Question), a.lex.unnamedWords(t.Question), -1.0
	for i := range ranked {
		r := &ranked[i]
		p := a.lex.passage(t.Sources[r.N-1].Chunk)
		held, asks := coverage(words, p.terms[r.unit].in), p.asks(r.unit)
		if least < 0 && !asks {
			least = held
		}
		switch {
		case r.unit == sections[r.N-1].first, a.lex.isTotal(p, r.unit, t.Question), kind != nil && !asks && held >= least && kind.value.MatchString(p.sentence(r.unit)):
			r.place = 0
		case asks:
			r.place = 2
		default:
			r.place = 1
		}
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int { return a.place - b.place })
	return len(ranked) > 0 && ranked[0].place == 0
}

// asks reports whether unit j is a question or a greeting.
func (p *passage) asks(j int) bool {
	said := strings.TrimRight(p.sentence(j), " *_\"”“»)]")
	return p.blocks[p.units[j].block].kind != code && (strings.HasSuffix(said, "?") || strings.HasSuffix(said, "？") || greetingLine.MatchString(said))
}

// greetingLine matches the first line of a letter, in English, German, Polish and Vietnamese.
var greetingLine = regexp.MustCompile(`(?i)^(?:dear|hi|hello|hallo|guten (?:tag|morgen|abend)|sehr geehrte[rs]?|liebe[rs]?|dzień dobry|witam|cześć|szanown[iay]|kính gửi|xin chào)\b[^.?;]{0,40}[,!]?$`)

// A passage is close to a question if it holds closeShare of the weight of its words, and two of them.
const (
	closeShare   = 0.3
	closeToWords = 2
)

// close reports for each source of a task whether it is close to the question.
func (l lexicon) close(t state.Task) []bool {
	q := mainQuery(t.Queries)
	q.Boosts = slices.Clone(q.Boosts)
	for i := range q.Boosts { // a synonym says the same
		q.Boosts[i].Weight = 1
	}
	own, terms := l.question(state.Query{Text: q.Text}, 0), l.question(q, 1)
	if len(own) == 0 || l.foreign(t) { // only names and numbers of a foreign question can match
		own = slices.DeleteFunc(terms, func(w weighed) bool { return l.stats.DocFreq(w.term) == 0 })
	}
	asked := 0.0
	for _, w := range own {
		asked += w.weight
	}
	out := make([]bool, len(t.Sources))
	for i, s := range t.Sources {
		p, held, words := l.passage(s.Chunk), 0.0, 0
		for _, w := range terms {
			if in := max(p.all.soft(w.term), p.names.in(w.term)); in > 0 {
				held += in * w.weight
				words++
			}
		}
		out[i] = held >= closeShare*asked && words >= min(closeToWords, len(own))
	}
	return out
}
