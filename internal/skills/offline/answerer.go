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
	t.Language = spoken(t)
	if computed, ok, err := a.fromTable(ctx, t); ok || err != nil {
		return computed, err
	}
	out := state.Answer{Model: Name, Abstained: t.Abstain}
	pieces := a.pieces(t)
	if kind := kindAsked(t.Question); kind != nil && len(pieces) > 0 && state.Band(t.Grade.Score, t.Abstain) != state.BandClosest && !kind.value.MatchString(pieces[0].shown()) {
		t.Grade.Score, t.Grade.Why = min(t.Grade.Score, unsure), t.Grade.Why+"; the question asks for a "+kind.name+", which the passage lacks"
		if kind.rare {
			t.Abstain, t.Grade.Score = true, min(t.Grade.Score, unanswered)
		}
		out.Abstained, out.Grade, pieces = t.Abstain, &t.Grade, a.pieces(t)
	}
	rows := a.overRows(t, pieces)
	if rows {
		t = calculated(t)
		out.Abstained, out.Grade, pieces = true, &t.Grade, a.pieces(t)
	}
	if len(pieces) == 0 {
		parts := a.nothing(t)
		if rows && !a.HasModel {
			parts = append(parts, prompts.Say(prompts.NeedsTable, t.Language))
		}
		out.Text, out.Abstained = below(t.Declined, strings.Join(parts, " ")), true
		return out, nil
	}
	pieces, labels := a.withVersions(t, pieces)
	parts := a.opening(t)
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
	} else if !a.HasModel && needsModel(t.Question) {
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

// spoken returns the language of an answer: that of the question, or of the best passage if nothing in the question
// says which it is.
func spoken(t state.Task) string {
	if len(t.Sources) > 0 && t.Language == "en" && text.LanguageUnknown(t.Question) {
		return text.Language(t.Sources[0].Text)
	}
	return t.Language
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
