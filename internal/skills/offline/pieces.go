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
	var out []piece
	ranked, left, shown := a.Rank(t), answerWords, map[string]bool{}
	most, near := maxPieces, a.lex.close(t)
	band := state.Band(t.Grade.Score, t.Abstain)
	if band == state.BandAnswers || len(t.Sources) == 1 {
		most = 1
	}
	terms := a.lex.question(mainQuery(t.Queries), historyWeight)
	exact := a.preferExact(t, ranked)
	number, _ := text.SectionAsked(t.Question)
	named, timely := namedSources(t), timely(t, near)
	for _, n := range order(named, timely, ranked, most == 1 || exact) {
		if len(out) == most {
			break
		}
		if weak := !named[n] && t.Sources[n].Score < minScoreShare*t.Sources[0].Score; weak || !near[n] && (len(out) > 0 || band == state.BandClosest) {
			continue
		}
		p := a.lex.passage(t.Sources[n].Chunk)
		unit := p.key(ranked, n+1, t.Question, terms)
		if unit < 0 {
			continue
		}
		said := readable.Line(p.text[p.units[unit].start:p.units[unit].end])
		if said == "" || shown[said] {
			continue
		}
		room := left / (maxPieces - len(out))
		if most == 1 {
			room = left
		} else if len(out) == 0 {
			room = bestWords
		}
		x := p.around(n, unit, room)
		if first, last := p.unitsOf(SectionOf(t.Sources[n].Chunk, number)); first == unit {
			x.first, x.last = first, min(last, max(x.last, first))
		} else if p.alone(unit, terms) {
			x.first, x.last, x.single = unit, unit, true
		}
		if len(out) > 0 && x.headerOnly() {
			continue
		}
		for _, u := range p.units[x.first : x.last+1] {
			shown[readable.Line(p.text[u.start:u.end])] = true
		}
		left -= x.wordCount()
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

// preferExact moves to the front what answers by its form: the section that the question names by number, the row of a
// table that holds all its numbers and codes, the row with the total asked for, and a value of the kind asked for beside all its words. Questions and greetings come last. It reports
// whether the first one answers by its form.
func (a *Answerer) preferExact(t state.Task, ranked []Ranked) bool {
	figures, value := a.lex.figures(t.Question), a.lex.valueAsked(t.Question)
	number, _ := text.SectionAsked(t.Question)
	begins := make([]int, len(t.Sources)) // the first unit of the section asked for
	for i, s := range t.Sources {
		begins[i], _ = a.lex.passage(s.Chunk).unitsOf(SectionOf(s.Chunk, number))
	}
	place := func(r Ranked) int {
		source := t.Sources[r.N-1]
		p := a.lex.passage(source.Chunk)
		if r.unit == begins[r.N-1] || value.in(p, r.unit) || a.lex.isTotal(p, r.unit, t.Question) ||
			len(figures) > 0 && p.isRecord(r.unit) && coverage(figures, p.terms[r.unit].in) == 1 && a.lex.inCells(figures, source.Text[r.Start:r.End]) {
			return 0
		}
		if p.asks(r.unit, t.Question) {
			return 2
		}
		return 1
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int { return place(a) - place(b) })
	return len(ranked) > 0 && place(ranked[0]) == 0
}

// columnName matches the name of a column in a row of data as loaders write it.
var columnName = regexp.MustCompile(`(?:^|; )[^:;]{1,80}: `)

// inCells reports whether the cells of a row hold all numbers of a question, or one of its codes. Names of columns do
// not count: "from 20" says nothing about a row.
func (l lexicon) inCells(figures []weighed, row string) bool {
	cells := l.set(columnName.ReplaceAllString(row, "\n"))
	return coverage(figures, cells.in) == 1 || slices.ContainsFunc(figures, func(f weighed) bool {
		return !isFigure(f.term) && cells.has(f.term)
	})
}

// newerShare is the share of the question's words in a quoted sentence that make a sentence of the mail itself the
// newer answer.
const newerShare = 0.5

// key returns the unit of a passage that answers a question best: the likeliest one that is neither a question nor
// a greeting, else the likeliest; -1 without one. A quoted sentence of a mail comes after one of the mail itself that says the same.
// n is the number of the passage in ranked.
func (p *passage) key(ranked []Ranked, n int, question string, terms []weighed) int {
	best, quoted, kind := -1, -1, kindAsked(question)
	var held []weighed // by the quoted unit
	for _, r := range ranked {
		if r.N != n {
			continue
		}
		u := p.units[r.unit]
		switch b, has := p.blocks[u.block], p.terms[r.unit].in; {
		case p.asks(r.unit, question):
		case b.quoted == 0 && (quoted < 0 || !b.field && coverage(held, has) >= newerShare && (kind == nil || kind.value.MatchString(p.text[u.start:u.end]))):
			return r.unit
		case quoted < 0:
			quoted = r.unit
			held = slices.DeleteFunc(slices.Clone(terms), func(t weighed) bool { return has(t.term) == 0 })
		}
		if best < 0 {
			best = r.unit
		}
	}
	if quoted >= 0 {
		return quoted
	}
	return best
}

// asks reports whether unit j is a question or a greeting, or repeats the question, as an example in code may.
func (p *passage) asks(j int, question string) bool {
	u := p.units[j]
	said := p.text[u.start:u.end]
	if words := plainWords(question); len(words) >= minRun && strings.Contains(strings.Join(plainWords(said), " "), strings.Join(words, " ")) {
		return true
	}
	said = strings.TrimRight(said, " *_\"”“»)]")
	return p.blocks[u.block].kind != code && (strings.HasSuffix(said, "?") || strings.HasSuffix(said, "？") || greetingLine.MatchString(said))
}

// greetingLine matches the first line of a letter, in English, German, Polish and Vietnamese.
var greetingLine = regexp.MustCompile(`(?i)^(?:dear|hi|hello|hallo|guten (?:tag|morgen|abend)|sehr geehrte[rs]?|liebe[rs]?|dzień dobry|witam|cześć|szanown[iay]|kính gửi|xin chào)\b[^.?;]{0,40}[,!]?$`)

// A passage is close to a question if it holds these shares of the weight of its words, and two of them.
const (
	closeShare   = 0.3 // of the question
	closeOfBest  = 0.7 // of what the best of the passages holds
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
	named := l.kindWords(q.Text) // a passage with a price need not say "cost"
	if rest := slices.DeleteFunc(slices.Clone(own), func(w weighed) bool { return named.has(w.term) }); len(rest) > 0 {
		own = rest
	}
	asked, best := 0.0, 0.0
	for _, w := range own {
		asked += w.weight
	}
	held, out := make([]float64, len(t.Sources)), make([]bool, len(t.Sources))
	for i, s := range t.Sources {
		p, words := l.passage(s.Chunk), 0
		for _, w := range terms {
			if in := max(p.all.soft(w.term), p.names.in(w.term)); in > 0 {
				held[i] += in * w.weight
				words++
			}
		}
		out[i] = held[i] >= closeShare*asked && words >= min(closeToWords, len(own))
		best = max(best, min(held[i], asked))
	}
	for i := range out {
		out[i] = out[i] && held[i] >= closeOfBest*best
	}
	return out
}
