package promoted

import (
	"cmp"
	"math"
	"slices"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/offline"
)

// Threshold is how similar a question must be to count as asked before.
const Threshold = 0.7

// What a similarity is multiplied with where two questions say something else in
// the same words. One unlike takes the most similar of pairs below Threshold; words
// that are turned round do not, as many a question can be put so: such a pair is
// similar, but never the same.
const (
	unlike = 0.5
	turned = 0.75
)

// Match is an answer to a similar question.
type Match struct {
	Answer     Answer
	Similarity float64 // from 0 to 1, the same words in the same order
}

// Similar returns the answers whose questions are at least so similar, the most
// similar first, and of equally similar ones the newest. stats tells how rare
// words are; nil takes all for equally rare.
func Similar(question string, answers []Answer, stats cite.Stats, threshold float64) []Match {
	out := []Match{}
	for _, a := range answers {
		if s := Similarity(question, a.Standalone, stats); s >= threshold {
			out = append(out, Match{a, s})
		}
	}
	slices.SortStableFunc(out, func(x, y Match) int {
		return cmp.Or(cmp.Compare(y.Similarity, x.Similarity), y.Answer.Promoted.Compare(x.Answer.Promoted))
	})
	return out
}

// Similarity tells how similar two questions are, from 0 to 1: the weighted
// Jaccard coefficient of their terms,
//
//	Σ idf(t), t in both ÷ Σ idf(t), t in either      idf(t) = ln(1 + (N − df + ½) ÷ (df + ½))
//
// halved where another number of words denies, where one asks who, when, where or
// why and the other does not, and where terms that both hold stand the other way
// round and both name a direction, as "from a to b" and "from b to a" do; without
// a direction that takes a quarter. Terms are what the analyzer makes of words:
// questions' frames and stop words are none. Words of opposite meaning, such as
// enable and disable, are different words and nothing more.
func Similarity(a, b string, stats cite.Stats) float64 {
	wa, wb := words(a), words(b)
	if slices.Equal(wa, wb) {
		return 1
	}
	analyzer, docs := text.For(text.Language(b)), 0
	if stats != nil {
		analyzer, docs = stats.Analyzer(), stats.Docs()
	}
	ta, tb := places(analyzer.Analyze(a)), places(analyzer.Analyze(b))
	both, either := 0.0, 0.0
	for _, t := range slices.Concat(ta.order, tb.order) {
		df := 0
		if stats != nil {
			df = min(stats.DocFreq(t), docs)
		}
		idf := math.Log1p((float64(docs-df) + 0.5) / (float64(df) + 0.5))
		_, inA := ta.at[t]
		_, inB := tb.at[t]
		if inA && inB { // and so comes twice
			both, either = both+idf/2, either+idf/2
			continue
		}
		either += idf
	}
	if both == 0 {
		return 0
	}
	similarity := both / either
	if denials(wa) != denials(wb) {
		similarity *= unlike
	}
	if asks(a) != asks(b) {
		similarity *= unlike
	}
	switch {
	case !ta.inverted(tb):
	case slices.ContainsFunc(wa, directs) && slices.ContainsFunc(wb, directs):
		similarity *= unlike
	default:
		similarity *= turned
	}
	return similarity
}

// terms are those of a question with the places of each first one.
type terms struct {
	order []string
	at    map[string]int
}

func places(tokens []text.Token) terms {
	t := terms{at: map[string]int{}}
	for _, k := range tokens {
		if _, seen := t.at[k.Term]; !seen {
			t.at[k.Term] = k.Pos
			t.order = append(t.order, k.Term)
		}
	}
	return t
}

// inverted reports whether two terms that both hold, neighbours here, stand the
// other way round there.
func (t terms) inverted(other terms) bool {
	last, at := -1, -1
	for _, term := range t.order {
		there, held := other.at[term]
		if !held {
			continue
		}
		if here := t.at[term]; here > last && last >= 0 && there < at {
			return true
		}
		last, at = t.at[term], there
	}
	return false
}

// directs reports whether a word tells where something comes from or goes to, in
// English, Polish or Vietnamese.
func directs(w string) bool {
	switch w {
	case "from", "to", "into", "onto", "than", "before", "after", "over", "instead", "by", "z", "ze", "do", "na", "od", "niż", "przed", "po", "zamiast",
		"từ", "đến", "sang", "vào", "hơn", "trước", "sau", "thay":
		return true
	}
	return false
}

// denials counts the words that deny.
func denials(words []string) (n int) {
	for _, w := range words {
		if cite.Negates(w) {
			n++
		}
	}
	return n
}

// asks returns what a question asks for where that alone makes it another one: who,
// when, where or why; empty for all else.
func asks(question string) offline.QuestionType {
	switch kind := offline.TypeOf(question); kind {
	case offline.Person, offline.Time, offline.Place, offline.Reason:
		return kind
	default:
		return ""
	}
}
