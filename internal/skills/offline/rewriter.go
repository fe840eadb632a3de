package offline

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Weights of words from earlier turns in a query; words of the turn itself weigh 1. The values are those of
// the decay rule measured on MTRAG.
const (
	topicWeight  = 0.5  // of a word of the question that the turn continues
	turnDecay    = 0.5  // of a word of the k-th previous question: turnDecay^k
	aloneDecay   = 0.35 // the same for a standalone turn
	answerWeight = 0.15 // of a word of the last answer; earlier ones decay by turnDecay
	answerTerms  = 8    // words that are kept of an answer
)

// Weights of the queries of a plan.
const (
	rawWeight   = 0.2 // of the raw turn, if it depends on earlier ones
	sideWeight  = 0.5 // of the turn with history, if it is standalone
	otherWeight = 0.5 // of the turn with synonyms
)

// otherWords is the reason of a query with synonyms from the dictionary.
const otherWords = "turn with other words for the same"

// minContentWords is the least number of content words of a standalone turn.
const minContentWords = 3

// Rewriter plans the searches of a turn. The first query is the raw turn; the second adds words of earlier
// questions and answers, the recent ones with more weight.
type Rewriter struct {
	maker
	lex   lexicon
	words dictionary.Dictionary
}

// WithDictionary returns a rewriter that also uses d. Entries of d come before the built-in ones.
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
		if len(r.lex.content(question)) == 0 || asksMore.MatchString(strings.Join(plainWords(question), " ")) {
			raw.Weight, q = 0, r.continueTopic(recent)
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

// continueTopic repeats the last real question, without the passages shown since.
func (r *Rewriter) continueTopic(recent []state.Exchange) state.Query {
	from := len(recent) - 1
	for from > 0 && asksMore.MatchString(strings.Join(plainWords(recent[from].Question), " ")) {
		from--
	}
	q := r.withHistory(recent[from].Question, recent[:from])
	q.Why = fmt.Sprintf("on with %q, without what was told", recent[from].Question)
	for _, e := range recent[from:] {
		q.QuoteEnds = append(q.QuoteEnds, e.QuoteEnds...)
	}
	return q
}

// refersBack finds turns that continue another or contain a word such as "it" or "that": English, Polish,
// Vietnamese, German.
var refersBack = regexp.MustCompile(`^(?:and|or|but|so|then|what about|how about|what if|a|i|ale|więc|và|còn|thế|vậy|und|oder|aber) |` +
	`(?:^| )(?:it|its|they|them|their|this|that|these|those|one|ones|he|she|him|her|there|instead|both|same|other|others|such|jego|jej|ich|nim|nich|niej|ten|tego|tym|tam|nó|chúng|đó|này|kia|họ|ấy|er|ihn|ihm|dessen|deren|davon|damit|dafür|dabei|dort|da)(?: |$)`)

// standsAlone reports whether a turn is understood without earlier ones: it has enough content words, or asks
// for a definition, and does not refer back.
func (r *Rewriter) standsAlone(question string) bool {
	enough := len(r.lex.content(question)) >= minContentWords || asksDefinition(question)
	return enough && !refersBack.MatchString(strings.Join(plainWords(question), " "))
}

// topic returns the index of the question that a turn continues, the last that stands alone, or -1.
func (r *Rewriter) topic(question string, recent []state.Exchange) int {
	if r.standsAlone(question) {
		return -1
	}
	at := len(recent) - 1
	for at > 0 && !r.standsAlone(recent[at].Question) {
		at--
	}
	return at
}

// withHistory returns the turn with words of earlier turns.
func (r *Rewriter) withHistory(question string, recent []state.Exchange) state.Query {
	topic := r.topic(question, recent)
	q := state.Query{Text: question, Weight: 1, Attempt: 1, Why: "turn with words of earlier questions and answers"}
	addBoost := func(words string, weight float64) {
		if words != "" {
			q.Boosts = append(q.Boosts, state.Boost{Text: words, Weight: math.Round(weight*1000) / 1000})
		}
	}
	decay := aloneDecay
	if topic >= 0 {
		decay, q.Topic = turnDecay, recent[topic].Question
	}
	for i, e := range slices.Backward(recent) {
		k := float64(len(recent) - i)
		weight := math.Pow(decay, k)
		if i == topic {
			weight = topicWeight
		}
		addBoost(r.keywords(e.Question), weight)
		addBoost(strings.Join(e.Terms[:min(len(e.Terms), answerTerms)], " "), answerWeight*math.Pow(turnDecay, k-1))
	}
	return q
}

// keywords returns the content words of a question, as written.
func (r *Rewriter) keywords(question string) string {
	var out []string
	end := 0
	for _, t := range r.lex.content(question) {
		if t.Start >= end { // skip parts of a name
			out, end = append(out, question[t.Start:t.End]), t.End
		}
	}
	return strings.Join(out, " ")
}

// language returns the language of the question. A short question that may be English takes that of the
// conversation.
func language(question string, recent []state.Exchange) string {
	lang := text.Language(question)
	if lang != "en" || len(recent) == 0 || len(strings.Fields(question)) > 3 {
		return lang
	}
	return text.Language(recent[len(recent)-1].Question)
}

// The growth of a query by a dictionary (Q13, W2): limits of its total weight, as a multiple of the
// question's, and of the weight of each added word.
const (
	synonymGrowth = 1.5
	conceptGrowth = 2.0
	synonymWeight = 0.3
	conceptWeight = 0.15
)

// Expansions returns synonyms and related words for a question; custom ones come before built-in ones.
func (r *Rewriter) Expansions(question string) []dictionary.Expansion {
	return r.words.Expand(question)
}

// Boosts converts expansions into boosts of a query. Their weight shrinks if they would exceed the growth
// limits.
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
		words             []string
		maxWeight, budget float64
	}{{same, synonymWeight, synonymGrowth - 1}, {near, conceptWeight, conceptGrowth - synonymGrowth}} {
		if len(b.words) == 0 {
			continue
		}
		words := strings.Join(b.words, "; ")
		weight := min(b.maxWeight, b.budget*asked/float64(max(1, len(r.lex.set(words)))))
		out = append(out, state.Boost{Text: words, Weight: math.Round(weight*1000) / 1000})
	}
	return out
}
