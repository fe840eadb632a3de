package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Answerer answers with passages, whole: see [inquiry.whole]. The best comes
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
	in := a.lex.inquire(t.Question, strongest(t.Queries))
	best, top := 0.0, math.Inf(-1)
	passages := make([]*passage, len(t.Sources))
	for i, s := range t.Sources {
		best = max(best, s.Score)
		passages[i] = a.lex.passage(s.Chunk)
	}
	in.weigh(passages)
	var out []Ranked
	for n, s := range t.Sources {
		share := 0.0
		if best > 0 {
			share = s.Score / best
		}
		p := passages[n]
		for j, e := range in.measure(p, share) {
			z := choice.of(&e)
			top = max(top, z)
			out = append(out, Ranked{n + 1, p.units[j].start, p.units[j].end, z, e[:], j})
		}
	}
	sum := 0.0
	for i := range out {
		out[i].Chance = math.Exp(out[i].Chance - top)
		sum += out[i].Chance
	}
	for i := range out {
		out[i].Chance /= sum
	}
	slices.SortStableFunc(out, func(a, b Ranked) int { return cmp.Compare(b.Chance, a.Chance) })
	return out
}

// leastChance is below what chance a further passage is not shown, as a share of
// that of the best one.
const leastChance = 0.05

// pieces are what an answer shows, best first.
func (a *Answerer) pieces(t state.Task) []piece {
	in := a.lex.inquire(t.Question, strongest(t.Queries))
	var out []piece
	ranked, left, shown := a.Rank(t), answerWords, map[string]bool{}
	for _, r := range ranked {
		p := a.lex.passage(t.Sources[r.N-1].Chunk)
		b := p.units[r.unit].block
		if len(out) == mostPieces || left < fewestLeft || r.Chance < leastChance*ranked[0].Chance {
			break
		}
		again := func(x piece) bool { return x.source == r.N-1 && slices.Contains(x.blocks, b) }
		if said := tidy(p.text[r.Start:r.End]); said == "" || shown[said] || slices.ContainsFunc(out, again) {
			continue
		}
		x := in.whole(p, r.N-1, r.unit, min(left, pieceWords))
		for _, i := range x.blocks {
			for _, o := range out { // what is shown already stays out
				if o.source == x.source && slices.Contains(o.blocks, i) && i != b {
					x.drop(i)
				}
			}
		}
		for j, u := range p.units {
			if slices.Contains(x.blocks, u.block) {
				shown[tidy(p.text[p.units[j].start:u.end])] = true
			}
		}
		left -= x.wordCount()
		out = append(out, x)
	}
	return out
}

// Answer answers a task. It fails only where a source is no valid text, or where
// the documents cannot be listed.
func (a *Answerer) Answer(ctx context.Context, t state.Task) (state.Answer, error) {
	if t.Route == state.RouteChitchat || t.Route == state.RouteMeta {
		said, err := a.converse(ctx, t)
		return state.Answer{Text: said, Model: Name}, err
	}
	out := state.Answer{Model: Name, Abstained: t.Grade.Score < a.threshold}
	pieces := a.pieces(t)
	if len(pieces) == 0 {
		out.Text, out.Abstained = prompts.Say(prompts.NoDocuments, t.Language), true
		return out, nil
	}
	for _, x := range pieces {
		if !slices.Contains(out.Order, x.source+1) {
			out.Order = append(out.Order, x.source+1)
		}
	}
	parts, picks := a.framing(t), []cite.Pick(nil)
	for i, x := range pieces {
		said, quoted := x.render(1+slices.Index(out.Order, x.source+1), i == 0, t.Language)
		parts, picks = append(parts, said), append(picks, quoted...)
	}
	if n := len(t.Sources) - len(out.Order); n > 0 {
		parts = append(parts, prompts.LeftOut(n, t.Language))
	}
	if !a.HasModel && needsWriter(t.Question) {
		parts = append(parts, prompts.Say(prompts.NeedsModel, t.Language))
	}
	used := make([]state.Source, len(out.Order))
	for i, n := range out.Order {
		used[i] = t.Sources[n-1]
	}
	var err error
	if out.Citations, err = cite.Build(used, picks...); err != nil {
		return state.Answer{}, fmt.Errorf("offline answer: %w", err)
	}
	out.Text = strings.Join(parts, "\n\n")
	var quotes strings.Builder
	for _, c := range out.Citations {
		quotes.WriteString(tidy(c.Quote) + "\n")
	}
	out.Terms = a.lex.telling(quotes.String())
	return out, nil
}

// framing is what stands before the passages.
func (a *Answerer) framing(t state.Task) []string {
	say := func(s prompts.Situation) string { return prompts.Say(s, t.Language) }
	var out []string
	own := func(s state.Source) bool { return text.Language(s.Text) == t.Language }
	if t.Language != "" && !slices.ContainsFunc(t.Sources, own) && !a.spoken(t.Language) {
		out = append(out, say(prompts.OtherLanguage))
	}
	switch state.Band(t.Grade.Score, t.Grade.Score < a.threshold) {
	case state.BandAnswers:
		return append(out, say(prompts.Answers))
	case state.BandProbably:
		return append(out, say(prompts.Probably))
	}
	return append(out, say(prompts.NotFound)+" "+say(prompts.Closest))
}

// spoken reports whether the index has documents in a language.
func (a *Answerer) spoken(language string) bool {
	documents, ok := a.lex.stats.(interface{ Speaks(language string) bool })
	return ok && language != "en" && language != "vi" && documents.Speaks(language)
}

// writing finds questions that want what no single passage says: a reason, a
// summary, a comparison, a total.
var writing = regexp.MustCompile(`(?i)\b(?:why|summari[sz]e|summary of|compare|comparison|differences? between|altogether|in all|in total)\b|` +
	`\b(?:dlaczego|podsumuj|streść|porównaj|różni|łącznie)|(?:tại sao|vì sao|tóm tắt|so sánh|khác nhau|tổng cộng)`)

func needsWriter(question string) bool { return writing.MatchString(question) }

// Intent is in one word what a question wants, for [ragflow explain].
func Intent(question string) string {
	plain := plainWords(question)
	s := shapeOf(plain)
	switch {
	case talk(question) != noTalk:
		return "talk"
	case Topic(question) != "":
		return "definition"
	case needsWriter(question):
		return "writing"
	case s.number == 1:
		return "number"
	case s.name == 1:
		return "name"
	}
	return "passage"
}

// topicAsked finds what a question for a definition is about: in English and
// Polish by how the question begins, in Vietnamese by how it ends.
var topicAsked = regexp.MustCompile(`(?i)^(?:(?:what|who)(?:['’]s| is| are)|czym (?:jest|są)|co to (?:jest|są)|tell me about|describe) (?:an? |the )?((?:\S+ ?){1,4})$|^((?:\S+ ){1,5})là gì$`)

// Topic is what a question for a definition asks about ("What is Docker
// Compose?": Docker Compose); empty for every other question.
func Topic(question string) string {
	m := topicAsked.FindStringSubmatch(strings.TrimRight(strings.TrimSpace(question), " ?.!"))
	if m == nil {
		return ""
	}
	return strings.TrimSpace(m[1] + m[2])
}
