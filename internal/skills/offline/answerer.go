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
	// Documents returns the documents that a question may be about, the best first, each with all its chunks; nil: no
	// document can be read as a whole.
	Documents func(ctx context.Context, question string) ([][]state.Chunk, error)
}

// Ranked is a sentence, table row or block of code that may answer a question.
type Ranked struct {
	N          int       // of [Source N], from 1
	Start, End int       // bytes of the source's text
	Chance     float64   // probability of being the answer, if one of them is
	Features   []float64 // in the order of [FeatureNames]

	unit  int
	place int // see preferExact
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
			score := choice.of(&e)
			if b := p.blocks[p.units[j].block]; b.quoted > 0 || b.field {
				score -= quotedCost
			}
			scores = append(scores, score)
			out = append(out, Ranked{N: n + 1, Start: p.units[j].start, End: p.units[j].end, Features: e[:], unit: j})
		}
	}
	for i, p := range chances(scores) {
		out[i].Chance = p
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Chance, a.Chance) })
	return out
}

// quotedCost is taken off the score of a sentence that a mail quotes and of a field of its head, so that the text of the
// mail itself precedes them.
const quotedCost = 3

// unanswered is the highest grade of a question that no passage answers by itself.
const unanswered = 0.49

// Answer answers a task. It fails only if a source is not valid UTF-8, or if Files or Documents fails.
func (a *Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		said, err := a.smallTalk(ctx, t)
		return state.Answer{Text: said, Model: Name}, err
	}
	if listed, ok, err := a.namedFiles(ctx, t); ok || err != nil {
		return listed, err
	}
	if len(t.Sources) > 0 && t.Language == "en" && text.LanguageUnknown(t.Question) {
		t.Language = text.Language(t.Sources[0].Text)
	}
	if computed, ok, err := a.computed(ctx, t); ok || err != nil {
		return computed, err
	}
	out, pieces := state.Answer{Model: Name, Abstained: t.Abstain}, a.pieces(t)
	rows := a.overRows(t, pieces)
	why, most := lacks(t, pieces, rows)
	if why == "" && len(pieces) > 0 && a.versions(t, pieces[0]) == nil && a.later(t, pieces[0]) != nil {
		why, most = "a later document of the series speaks of it, too", unsure
	}
	if why != "" {
		t.Abstain = t.Abstain || most == unanswered
		t.Grade.Score, t.Grade.Why = min(t.Grade.Score, most), t.Grade.Why+"; "+why
		out.Abstained, out.Grade, pieces = t.Abstain, &t.Grade, a.pieces(t)
	}
	if t.Grade.Score > unsure && needsModel(t.Question) {
		t.Grade.Score, t.Grade.Why = unsure, t.Grade.Why+"; no single passage answers such a question"
		out.Grade = &t.Grade
	}
	parts := a.opening(t, len(pieces) > 0)
	var labels []string
	if len(pieces) > 0 {
		pieces, labels = a.withVersions(t, pieces)
	} else {
		out.Abstained = true
	}
	var picks []cite.Pick
	var used []state.Source
	for i, x := range pieces {
		said, quoted := x.render(i+1, i == 0, t.Language)
		if i < len(labels) {
			parts = append(parts, labels[i])
		}
		parts, picks = append(parts, said), append(picks, quoted...)
		used, out.Order = append(used, t.Sources[x.source]), append(out.Order, x.source+1)
	}
	if rows && !a.HasModel {
		parts = append(parts, prompts.Say(prompts.NeedsTable, t.Language))
	} else if !a.HasModel && len(pieces) > 0 && needsModel(t.Question) {
		parts = append(parts, prompts.Say(prompts.NeedsModel, t.Language))
	}
	var err error
	if out.Citations, err = cite.Build(used, picks...); err != nil {
		return state.Answer{}, fmt.Errorf("offline answer: %w", err)
	}
	out.Text = strings.Join(parts, "\n\n")
	var quotes strings.Builder
	for _, c := range out.Citations {
		quotes.WriteString(readable.Line(c.Quote) + "\n")
	}
	out.Terms = a.lex.keyTerms(quotes.String())
	return out, nil
}

// lacks returns why the best piece does not answer by itself, and the highest grade that it may have then: the answer has
// to be calculated from rows, or the question asks for a kind of value that the piece does not hold.
func lacks(t state.Task, pieces []piece, rows bool) (why string, most float64) {
	kind := kindAsked(t.Question)
	switch {
	case rows:
		return "the answer has to be calculated from rows of a table", unanswered
	case kind == nil || len(pieces) == 0 || state.Band(t.Grade.Score, t.Abstain) == state.BandClosest || kind.value.MatchString(pieces[0].shown()):
		return "", 1
	case kind.rare:
		most = unanswered
	default:
		most = unsure
	}
	return "the question asks for a " + kind.name + ", which the passage lacks", most
}

// maxUnknown is the number of words that [lexicon.unknown] returns.
const maxUnknown = 3

// unknown returns the first numbers, codes and names of a question that are in no document, as written. Other words
// may be there in another form. In German all nouns have capital letters.
func (l lexicon) unknown(question string) []string {
	var out []string
	german, end := text.Language(question) == "de", 0
	for _, token := range l.content(question) {
		word := question[token.Start:token.End]
		first, _ := utf8.DecodeRuneInString(word)
		named := hasDigit(word) || !german && token.Start > 0 && unicode.IsUpper(first)
		if named && hasDigit(word) { // 600 of RB-600 is as little in a document as all of it
			word = strings.Trim(fieldAt(question, token.Start), ".,;:?!()[]\"'“”„»«")
		}
		if named && token.Start >= end && l.stats.DocFreq(token.Term) == 0 && len(out) < maxUnknown && !slices.Contains(out, word) {
			out, end = append(out, word), token.End
		}
	}
	return out
}

// fieldAt returns the text between two spaces that holds a position.
func fieldAt(s string, at int) string {
	start := len(strings.TrimRightFunc(s[:at], func(r rune) bool { return !unicode.IsSpace(r) }))
	if end := strings.IndexFunc(s[at:], unicode.IsSpace); end >= 0 {
		return s[start : at+end]
	}
	return s[start:]
}

// foreign reports whether the question of a task is in another language than the documents.
func (l lexicon) foreign(t state.Task) bool {
	var found []string
	for _, s := range t.Sources {
		found = append(found, s.Text)
	}
	return text.Foreign(t.Question, found, l.stats)
}

// opening returns the sentences in front of the passages, or in place of them: that nothing is close, and which words of
// the question are in no document.
func (a *Answerer) opening(t state.Task, found bool) (out []string) {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	foreign, verdict := a.lex.foreign(t), say(prompts.NotFound)
	if t.Declined != "" {
		out, verdict = append(out, t.Declined), ""
	}
	if foreign {
		out = append(out, say(prompts.OtherLanguage))
	}
	band, missing := state.Band(t.Grade.Score, t.Abstain), ""
	if words := a.lex.unknown(t.Question); len(words) > 0 && !foreign && band != state.BandAnswers {
		missing = " " + fmt.Sprintf(say(prompts.NoMention), strings.Join(words, ", "))
	}
	switch {
	case !found:
		verdict += missing
	case band == state.BandClosest, needsModel(t.Question):
		if band != state.BandClosest {
			verdict = ""
		}
		verdict += missing + " " + say(prompts.Closest)
	case band == state.BandAnswers:
		verdict = say(prompts.Answers)
	default: // the threshold may be below the usual grade of this band
		verdict = missing + " " + say(prompts.Probably)
	}
	if verdict = strings.TrimSpace(verdict); verdict != "" {
		out = append(out, verdict)
	}
	return out
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
