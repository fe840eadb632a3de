package offline

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// How much of the conversation a turn borrows: weights of words inside one
// query, where those of the turn itself weigh 1. The values are those of the
// decay rule measured on MTRAG.
const (
	turnDecay    = 0.5  // of a word of the k-th question before: turnDecay^k
	aloneDecay   = 0.35 // the same, for a turn that stands by itself
	answerWeight = 0.15 // of a word of the last answer; older ones decay by turnDecay
	answerTerms  = 8    // words of an answer that are kept and lent
)

// Weights of the lists of a plan's queries.
const (
	rawWeight   = 0.2 // of the raw turn where it needs the conversation
	sideWeight  = 0.5 // of the turn with history where the turn stands by itself
	otherWeight = 0.5 // of the turn with the words of a dictionary
)

// otherWords is why there is a query with the words of a dictionary.
const otherWords = "turn with other words for the same"

// enoughContent is how many words of content a turn has that may stand by itself.
const enoughContent = 3

// Rewriter plans the searches of a turn. The first query is the raw turn. The
// second adds the words of earlier questions and answers, the more recent the
// heavier.
type Rewriter struct {
	maker
	lex   lexicon
	words dictionary.Dictionary
}

// WithDictionary returns a rewriter that searches for what d says besides; its
// entries come before those that are built in.
func (r *Rewriter) WithDictionary(d dictionary.Dictionary) *Rewriter {
	out := *r
	out.words = r.words.With(d)
	return &out
}

// Rewrite plans a turn. It never fails.
func (r *Rewriter) Rewrite(_ context.Context, question string, m state.Memory) (state.Plan, error) {
	recent := m.Recent[max(0, len(m.Recent)-state.MaxRecent):]
	plan := state.Plan{Language: language(question, recent), Standalone: len(recent) == 0 || r.standsAlone(question)}
	plan.Route, _ = talk(question)
	raw := state.Query{Text: question, Weight: 1, Why: "raw turn", Attempt: 1}
	if plan.Route != state.RouteSearch {
		raw.Why = "raw turn, not searched for"
		plan.Queries = []state.Query{raw}
		return plan, nil
	}
	if len(recent) > 0 {
		q := r.withHistory(question, recent)
		if plan.Standalone {
			q.Weight = sideWeight
		} else {
			raw.Weight, q.Cited = rawWeight, recent[len(recent)-1].Chunks
		}
		if len(r.lex.content(question)) == 0 || goesOn.MatchString(strings.Join(plainWords(question), " ")) {
			raw.Weight, q = 0, r.onwards(recent)
		}
		plan.Queries = []state.Query{raw, q}
	} else {
		plan.Queries = []state.Query{raw}
	}
	if boosts := r.Boosts(question, r.Expansions(question)); len(boosts) > 0 {
		last := &plan.Queries[len(plan.Queries)-1]
		if len(recent) == 0 {
			plan.Queries = append(plan.Queries, state.Query{
				Text: question, Boosts: boosts, Weight: otherWeight, Why: otherWords, Attempt: 1,
			})
		} else {
			last.Boosts = append(last.Boosts, boosts...)
		}
	}
	return plan, nil
}

// onwards is the last question that asked for something, without the passages
// that were told since.
func (r *Rewriter) onwards(recent []state.Exchange) state.Query {
	from := len(recent) - 1
	for from > 0 && goesOn.MatchString(strings.Join(plainWords(recent[from].Question), " ")) {
		from--
	}
	q := r.withHistory(recent[from].Question, recent[:from])
	q.Why = fmt.Sprintf("on with %q, without what was told", recent[from].Question)
	for _, e := range recent[from:] {
		q.QuoteEnds = append(q.QuoteEnds, e.QuoteEnds...)
	}
	return q
}

// pointsBack finds turns that begin as the continuation of another, or with a
// word that stands for what was said before: in English, Polish and Vietnamese.
var pointsBack = regexp.MustCompile(`^(?:and|or|but|so|then|what about|how about|what if|a|i|ale|więc|và|còn|thế|vậy) |` +
	`(?:^| )(?:it|its|they|them|their|this|that|these|those|one|ones|he|she|him|her|there|instead|both|same|other|others|such|jego|jej|ich|nim|nich|niej|ten|tego|tym|tam|nó|chúng|đó|này|kia)(?: |$)`)

// standsAlone reports whether a turn is understood without the ones before: it
// has enough words of content, or asks what a thing is, and none that points back.
func (r *Rewriter) standsAlone(question string) bool {
	enough := len(r.lex.content(question)) >= enoughContent || asksDefinition(question)
	return enough && !pointsBack.MatchString(strings.Join(plainWords(question), " "))
}

// withHistory is the turn with words of earlier turns.
func (r *Rewriter) withHistory(question string, recent []state.Exchange) state.Query {
	q := state.Query{Text: question, Weight: 1, Attempt: 1, Why: "turn with words of earlier questions and answers"}
	lend := func(words string, weight float64) {
		if words != "" {
			q.Boosts = append(q.Boosts, state.Boost{Text: words, Weight: math.Round(weight*1000) / 1000})
		}
	}
	decay := turnDecay
	if r.standsAlone(question) {
		decay = aloneDecay
	}
	for i, e := range slices.Backward(recent) {
		k := float64(len(recent) - i)
		lend(r.keywords(e.Question), math.Pow(decay, k))
		lend(strings.Join(e.Terms[:min(len(e.Terms), answerTerms)], " "), answerWeight*math.Pow(turnDecay, k-1))
	}
	return q
}

// keywords are the words of content of a question, as they are written.
func (r *Rewriter) keywords(question string) string {
	var out []string
	end := 0
	for _, t := range r.lex.content(question) {
		if t.Start >= end { // no part of a name that is there as a whole
			out, end = append(out, question[t.Start:t.End]), t.End
		}
	}
	return strings.Join(out, " ")
}

// language is that of the question; a short one that gives no sign is taken for
// the language of the conversation.
func language(question string, recent []state.Exchange) string {
	lang := text.Language(question)
	if lang != "en" || len(recent) == 0 || len(strings.Fields(question)) > 3 {
		return lang
	}
	return text.Language(recent[len(recent)-1].Question)
}

// The growth of a query by a dictionary (Q13, W2): a query with other words
// weighs at most so many times what was asked, and each of them at most a share
// of a word that was asked.
const (
	synonymGrowth = 1.5
	conceptGrowth = 2.0
	synonymWeight = 0.3
	conceptWeight = 0.15
)

// Expansions are the other words that are searched for besides a question, in
// order; those of the person come before those built in.
func (r *Rewriter) Expansions(question string) []dictionary.Expansion {
	return r.words.Expand(question)
}

// Boosts are what expansions add to a query for question. A word weighs less
// where there are so many that the query would outgrow what was asked.
func (r *Rewriter) Boosts(question string, expansions []dictionary.Expansion) []state.Boost {
	var same, near []string
	for _, x := range expansions {
		if x.Kind == dictionary.Concepts {
			near = append(near, x.Others...)
		} else {
			same = append(same, x.Others...)
		}
	}
	asked := float64(max(1, len(r.lex.set(question))))
	var out []state.Boost
	for _, b := range []struct {
		words        []string
		most, budget float64
	}{{same, synonymWeight, synonymGrowth - 1}, {near, conceptWeight, conceptGrowth - synonymGrowth}} {
		if len(b.words) == 0 {
			continue
		}
		words := strings.Join(b.words, "; ")
		weight := min(b.most, b.budget*asked/float64(max(1, len(r.lex.set(words)))))
		out = append(out, state.Boost{Text: words, Weight: math.Round(weight*1000) / 1000})
	}
	return out
}
