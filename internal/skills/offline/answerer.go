package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Answerer quotes passages, the best first, with its key sentence in bold (see [passage.around]). The words
// in front of them follow the grade of the task; if it abstains, the answer says that nothing was found
// and shows the closest passages.
type Answerer struct {
	maker
	lex      lexicon
	HasModel bool // a model is configured: do not suggest one
	// Files lists the documents, or those that name or mention a subject, the best first; nil: there are none.
	Files func(ctx context.Context, subject string) ([]Listed, error)
}

// Ranked is a sentence, table row or block of code that may answer a question.
type Ranked struct {
	N          int       // of [Source N], from 1
	Start, End int       // bytes of the source's text
	Chance     float64   // probability of being the answer, if one of them is
	Features   []float64 // in the order of [FeatureNames]

	unit int
}

// Rank returns the sentences of a task's sources, the likeliest answer first.
func (a *Answerer) Rank(t state.Task) []Ranked {
	best := 0.0
	passages := make([]*passage, len(t.Sources))
	for i, s := range t.Sources {
		best = max(best, s.Score)
		passages[i] = a.lex.passage(s.Chunk)
	}
	in := a.lex.inquire(t.Question, mainQuery(t.Queries), passages)
	var out []Ranked
	var scores []float64
	for n, p := range passages {
		for j, e := range in.measure(p, t.Sources[n].Score/max(best, math.SmallestNonzeroFloat64)) {
			scores = append(scores, choice.of(&e)-quotedCost*float64(min(p.blocks[p.units[j].block].quoted, 1)))
			out = append(out, Ranked{N: n + 1, Start: p.units[j].start, End: p.units[j].end, Features: e[:], unit: j})
		}
	}
	for i, p := range chances(scores) {
		out[i].Chance = p
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Chance, a.Chance) })
	return out
}

// quotedCost is taken off the score of a sentence that a mail quotes, so that the same sentence in the mail itself
// precedes it.
const quotedCost = 1

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
	a.preferExact(t, ranked)
	named, timely := namedSources(t), timely(t, near)
	for _, n := range order(named, timely, ranked, most) {
		if len(out) == most || !named[n] && t.Sources[n].Score < minScoreShare*t.Sources[0].Score {
			break
		}
		if !near[n] && (len(out) > 0 || band == state.BandClosest) {
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
		if p.alone(unit, terms) {
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

// order returns the indices of sources in the order in which pieces of them are shown: best first; if only one is
// shown, the source of the likeliest sentence before them. Those of the document that the question names come before
// all others, then those that [timely] prefers.
func order(named []bool, timely []int, ranked []Ranked, most int) []int {
	var out []int
	if most == 1 && len(ranked) > 0 {
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

// preferExact moves to the front what answers by its form: the long form of an abbreviation that the question asks
// for, and the row of a table that holds all numbers and codes of the question. Questions and greetings come last.
func (a *Answerer) preferExact(t state.Task, ranked []Ranked) {
	short, figures := abbreviationAsked(t.Question), a.lex.figures(t.Question)
	place := func(r Ranked) int {
		source := t.Sources[r.N-1]
		p := a.lex.passage(source.Chunk)
		if short != "" && spellsOut(source.Text[r.Start:r.End], short) ||
			len(figures) > 0 && p.isRecord(r.unit) && coverage(figures, p.terms[r.unit].in) == 1 {
			return 0
		}
		if p.asks(r.unit, t.Question) {
			return 2
		}
		return 1
	}
	slices.SortStableFunc(ranked, func(a, b Ranked) int { return place(a) - place(b) })
}

// newerShare is the share of the question's words in a quoted sentence that make a sentence of the mail itself the
// newer answer.
const newerShare = 0.5

// key returns the unit of a passage that answers a question best: the likeliest one that is neither a question nor
// a greeting, else the likeliest; -1 without one. A quoted sentence of a mail comes after one of the mail itself that says the same.
// n is the number of the passage in ranked.
func (p *passage) key(ranked []Ranked, n int, question string, terms []weighed) int {
	best, quoted := -1, -1
	var held []weighed // by the quoted unit
	for _, r := range ranked {
		if r.N != n {
			continue
		}
		u := p.units[r.unit]
		switch b, has := p.blocks[u.block], p.terms[r.unit].in; {
		case p.asks(r.unit, question):
		case b.quoted == 0 && (quoted < 0 || !b.field && coverage(held, has) >= newerShare && lacks(p.text[u.start:u.end], question) == ""):
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

// close reports for each source of a task whether it is close to the question. Of XQuAD's five best paragraphs
// for a question it keeps 96 % (English) and 91 % (German) of the right ones, and 7 % of the others.
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

// Answer answers a task. It fails only if a source is not valid UTF-8, or if Files fails.
func (a *Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		said, err := a.smallTalk(ctx, t)
		return state.Answer{Text: said, Model: Name}, err
	}
	out := state.Answer{Model: Name, Abstained: t.Abstain}
	pieces := a.pieces(t)
	if len(pieces) > 0 && state.Band(t.Grade.Score, t.Abstain) == state.BandAnswers {
		if kind := lacks(pieces[0].shown(), t.Question); kind != "" {
			t.Grade.Score, t.Grade.Why = unsure, t.Grade.Why+"; the question asks for a "+kind+", which the passage lacks"
			out.Grade, pieces = &t.Grade, a.pieces(t)
		}
	}
	rows := a.overRows(t, pieces)
	if rows {
		t = calculated(t)
		out.Abstained, out.Grade, pieces = true, &t.Grade, a.pieces(t)
	}
	if len(pieces) == 0 {
		parts := a.nothing(t)
		if rows && !a.HasModel {
			parts = append(parts, prompts.Say(prompts.NeedsModel, t.Language))
		}
		out.Text, out.Abstained = below(t.Declined, strings.Join(parts, " ")), true
		return out, nil
	}
	pieces, found := a.withVersions(t, pieces)
	parts := a.opening(t)
	if len(found) > 0 {
		parts = append(parts, differ(found, t.Language))
	}
	var picks []cite.Pick
	var used []state.Source
	for i, x := range pieces {
		said, quoted := x.render(i+1, i == 0, t.Language)
		if i < len(found) {
			parts = append(parts, found[i].label(t.Sources[x.source].Source, t.Language))
		}
		parts, picks = append(parts, said), append(picks, quoted...)
		used, out.Order = append(used, t.Sources[x.source]), append(out.Order, x.source+1)
	}
	if !a.HasModel && (rows || needsModel(t.Question)) {
		parts = append(parts, prompts.Say(prompts.NeedsModel, t.Language))
	}
	var err error
	if out.Citations, err = cite.Build(used, picks...); err != nil {
		return state.Answer{}, fmt.Errorf("offline answer: %w", err)
	}
	out.Text = below(t.Declined, parts...)
	var quotes strings.Builder
	for _, c := range out.Citations {
		quotes.WriteString(readable.Line(c.Quote) + "\n")
	}
	out.Terms = a.lex.keyTerms(quotes.String())
	return out, nil
}

// below joins the parts of an answer, below a model's refusal if there is one.
func below(refusal string, parts ...string) string {
	if refusal != "" {
		parts = append([]string{refusal}, parts...)
	}
	return strings.Join(parts, "\n\n")
}

// nothing returns the sentences of an answer without passages: that nothing is close, and which words of the
// question are in no document.
func (a *Answerer) nothing(t state.Task) []string {
	out := []string{prompts.Say(prompts.NotFound, t.Language)}
	if t.Declined != "" {
		out = nil
	}
	if a.lex.foreign(t) {
		return append(out, prompts.Say(prompts.OtherLanguage, t.Language))
	}
	if words := a.lex.unknown(t.Question); len(words) > 0 {
		out = append(out, fmt.Sprintf(prompts.Say(prompts.NoMention, t.Language), strings.Join(words, ", ")))
	}
	return out
}

// maxUnknown is the number of words that [lexicon.unknown] returns.
const maxUnknown = 3

// unknown returns the first numbers, codes and names of a question that are in no document, as written. Other words
// may be there in another form.
func (l lexicon) unknown(question string) []string {
	var out []string
	names, end := namesStandOut(question), 0
	for _, token := range l.content(question) {
		word := question[token.Start:token.End]
		first, _ := utf8.DecodeRuneInString(word)
		named := strings.ContainsFunc(word, unicode.IsDigit) || names && token.Start > 0 && unicode.IsUpper(first)
		if named && token.Start >= end && l.stats.DocFreq(token.Term) == 0 && len(out) < maxUnknown && !slices.Contains(out, word) {
			out, end = append(out, word), token.End
		}
	}
	return out
}

// namesStandOut reports whether only names have capital letters in the language of a question. In a question without
// function words, it may be German, whose nouns have them.
func namesStandOut(question string) bool {
	lang, seen := text.Language(question), 0
	for _, w := range plainWords(question) {
		if text.StopWord(lang, w) {
			seen++
		}
	}
	return lang != "de" && seen > 1
}

// foreign reports whether the question of a task is in another language than the documents.
func (l lexicon) foreign(t state.Task) bool {
	var found []string
	for _, s := range t.Sources {
		found = append(found, s.Text)
	}
	return text.Foreign(t.Question, found, l.stats)
}

// opening returns the sentences in front of the passages.
func (a *Answerer) opening(t state.Task) []string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	var out []string
	if a.lex.foreign(t) {
		out = append(out, say(prompts.OtherLanguage))
	}
	switch band := state.Band(t.Grade.Score, t.Abstain); {
	case band != state.BandClosest && needsModel(t.Question):
		return append(out, say(prompts.Closest))
	case band == state.BandAnswers:
		return append(out, say(prompts.Answers))
	case band != state.BandClosest: // the threshold may be below the usual grade of this band
		return append(out, say(prompts.Probably))
	}
	if t.Declined != "" {
		return append(out, say(prompts.Closest))
	}
	return append(out, say(prompts.NotFound)+" "+say(prompts.Closest))
}

// needsModelPattern finds questions that no single passage answers: a reason, a summary, a comparison, a
// total.
var needsModelPattern = regexp.MustCompile(`(?i)\b(?:why|summari[sz]e|summary of|compare|comparison|differences? between|altogether|in all|in total)\b|` +
	`\b(?:dlaczego|podsumuj|streść|porównaj|różni|łącznie)|(?:tại sao|vì sao|tóm tắt|so sánh|khác nhau|tổng cộng)`)

func needsModel(question string) bool { return needsModelPattern.MatchString(question) }

// Intent classifies a question in one word, for ragflow explain.
func Intent(question string) string {
	switch route, _ := talk(question); {
	case route != state.RouteSearch:
		return "talk"
	case asksDefinition(question):
		return "definition"
	case needsModel(question):
		return "writing"
	}
	return "passage"
}

// definitionAsked finds questions for a definition: English and Polish by how they begin, Vietnamese by how
// they end.
var definitionAsked = regexp.MustCompile(`(?i)^(?:(?:what|who)(?:['’]s| is| are)|czym (?:jest|są)|co to (?:jest|są)|tell me about|describe) (?:an? |the )?(?:\S+ ?){1,4}$|^(?:\S+ ){1,5}là gì$`)

func asksDefinition(question string) bool {
	return definitionAsked.MatchString(strings.TrimRight(strings.TrimSpace(question), " ?.!"))
}
