package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

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
			scores = append(scores, choice.of(&e))
			out = append(out, Ranked{N: n + 1, Start: p.units[j].start, End: p.units[j].end, Features: e[:], unit: j})
		}
	}
	for i, p := range chances(scores) {
		out[i].Chance = p
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Chance, a.Chance) })
	return out
}

// minScoreShare is the score that a further source needs to be shown, as a share of the best one's.
const minScoreShare = 0.05

// pieces returns the parts of the best sources that an answer shows, one a source, best first.
func (a *Answerer) pieces(t state.Task) []piece {
	var out []piece
	ranked, left, shown := a.Rank(t), answerWords, map[string]bool{}
	for n, s := range t.Sources {
		if len(out) == maxPieces || s.Score < minScoreShare*t.Sources[0].Score {
			break
		}
		i := slices.IndexFunc(ranked, func(r Ranked) bool { return r.N == n+1 })
		if i < 0 {
			continue
		}
		p := a.lex.passage(s.Chunk)
		said := readable.Line(p.text[ranked[i].Start:ranked[i].End])
		if said == "" || shown[said] {
			continue
		}
		room := left / (maxPieces - len(out))
		if len(out) == 0 {
			room = bestWords
		}
		if len(t.Sources) == 1 {
			room = left
		}
		x := p.around(n, ranked[i].unit, room)
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

// Answer answers a task. It fails only if a source is not valid UTF-8.
func (a *Answerer) Answer(_ context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		return state.Answer{Text: smallTalk(t), Model: Name}, nil
	}
	out := state.Answer{Model: Name, Abstained: t.Abstain}
	pieces := a.pieces(t)
	if len(pieces) == 0 {
		out.Text, out.Abstained = below(t.Declined, prompts.Say(prompts.NoDocuments, t.Language)), true
		return out, nil
	}
	parts := a.opening(t)
	var picks []cite.Pick
	var used []state.Source
	for i, x := range pieces {
		said, quoted := x.render(i+1, i == 0, t.Language)
		parts, picks = append(parts, said), append(picks, quoted...)
		used, out.Order = append(used, t.Sources[x.source]), append(out.Order, x.source+1)
	}
	if n := len(t.Sources) - len(out.Order); n > 0 {
		parts = append(parts, prompts.LeftOut(n, t.Language))
	}
	if !a.HasModel && needsModel(t.Question) {
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

// opening returns the sentences in front of the passages.
func (a *Answerer) opening(t state.Task) []string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	var out, found []string
	for _, s := range t.Sources {
		found = append(found, s.Text)
	}
	if text.Foreign(t.Question, found, a.lex.stats) {
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
