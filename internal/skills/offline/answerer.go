package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Answerer answers with passages: see [passage.around]. The best comes
// first, with its telling sentence in bold. How sure it is, the grade of the task
// says, in words; below the threshold it says that the answer was not found and
// shows the closest passages.
type Answerer struct {
	maker
	lex       lexicon
	threshold float64
	HasModel  bool // a model is configured: nobody needs to be told that one would help
}

// Ranked is a sentence, table row or block of code that may answer a question.
type Ranked struct {
	N          int       // of [Source N], from 1
	Start, End int       // bytes of the source's text
	Chance     float64   // that it is the answer, if one of all is
	Features   []float64 // in the order of [FeatureNames]

	unit int
}

// Rank returns the sentences of a task's sources, the likeliest answer first. An
// answer is built around the first.
func (a *Answerer) Rank(t state.Task) []Ranked {
	best := 0.0
	passages := make([]*passage, len(t.Sources))
	for i, s := range t.Sources {
		best = max(best, s.Score)
		passages[i] = a.lex.passage(s.Chunk)
	}
	in := a.lex.inquire(t.Question, strongest(t.Queries), passages)
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

// leastChance is below what score a further source is not shown, as a share of
// that of the best one.
const leastChance = 0.05

// pieces are what an answer shows, best first: a part of each of the best sources,
// around its telling sentence.
func (a *Answerer) pieces(t state.Task) []piece {
	var out []piece
	ranked, left, shown := a.Rank(t), answerWords, map[string]bool{}
	for n, s := range t.Sources {
		if len(out) == mostPieces || s.Score < leastChance*t.Sources[0].Score {
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
		room := left / (mostPieces - len(out))
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

// Answer answers a task. It fails only where a source is no valid text.
func (a *Answerer) Answer(_ context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		return state.Answer{Text: converse(t), Model: Name}, nil
	}
	out := state.Answer{Model: Name, Abstained: t.Grade.Score < a.threshold}
	pieces := a.pieces(t)
	if len(pieces) == 0 {
		out.Text, out.Abstained = prompts.Say(prompts.NoDocuments, t.Language), true
		return out, nil
	}
	parts := a.framing(t)
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
	if !a.HasModel && needsWriter(t.Question) {
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
	out.Terms = a.lex.telling(quotes.String())
	return out, nil
}

// framing is what stands before the passages.
func (a *Answerer) framing(t state.Task) []string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	var out, found []string
	for _, s := range t.Sources {
		found = append(found, s.Text)
	}
	if text.Foreign(t.Question, found, a.lex.stats) {
		out = append(out, say(prompts.OtherLanguage))
	}
	switch band := state.Band(t.Grade.Score, t.Grade.Score < a.threshold); {
	case band != state.BandClosest && needsWriter(t.Question):
		return append(out, say(prompts.Closest))
	case band == state.BandAnswers:
		return append(out, say(prompts.Answers))
	case band != state.BandClosest: // perhaps below its usual grade, if the threshold is
		return append(out, say(prompts.Probably))
	}
	return append(out, say(prompts.NotFound)+" "+say(prompts.Closest))
}

// writing finds questions that want what no single passage says: a reason, a
// summary, a comparison, a total.
var writing = regexp.MustCompile(`(?i)\b(?:why|summari[sz]e|summary of|compare|comparison|differences? between|altogether|in all|in total)\b|` +
	`\b(?:dlaczego|podsumuj|streść|porównaj|różni|łącznie)|(?:tại sao|vì sao|tóm tắt|so sánh|khác nhau|tổng cộng)`)

func needsWriter(question string) bool { return writing.MatchString(question) }

// Intent is in one word what a question wants, for [ragflow explain].
func Intent(question string) string {
	switch route, _ := talk(question); {
	case route != state.RouteSearch:
		return "talk"
	case asksDefinition(question):
		return "definition"
	case needsWriter(question):
		return "writing"
	}
	return "passage"
}

// definitionAsked finds a question what a thing is: in English and Polish by how it begins,
// in Vietnamese by how it ends.
var definitionAsked = regexp.MustCompile(`(?i)^(?:(?:what|who)(?:['’]s| is| are)|czym (?:jest|są)|co to (?:jest|są)|tell me about|describe) (?:an? |the )?(?:\S+ ?){1,4}$|^(?:\S+ ){1,5}là gì$`)

func asksDefinition(question string) bool {
	return definitionAsked.MatchString(strings.TrimRight(strings.TrimSpace(question), " ?.!"))
}
