package offline

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// around sets what the other sentences of its paragraph say for unit j, which
// holds own of the question's weight, withBefore with what stands before.
func (v *view) around(e *signals, j int, own, withBefore float64) {
	p := v.p
	block := p.units[j].block
	if p.units[j].kind == sentence {
		most := v.most(v.rows[j], v.rows[j])
		for k := j - 1; k >= 0 && p.units[k].block == block; k-- {
			most = v.most(most, v.rows[k])
		}
		e[heldEarlier] = max(0, v.q.share(most)-withBefore)
		if refersBack(v.glances[j].words) {
			e[heldReferred] = e[heldBefore] + e[heldEarlier]
		}
	}
	if j+1 < len(p.units) && p.units[j+1].block == block {
		e[heldAfter] = v.q.share(v.most(v.rows[j], v.rows[j+1])) - own
	}
}

// referringWords is among how many words, at the beginning of a sentence, one
// that refers to the sentences before is looked for.
const referringWords = 4

// refersBack reports whether a sentence of such words begins with what sentences
// before it named: "he", "its", "the company". It looks further than
// [pointsBack], by which what is quoted is completed.
func refersBack(words []string) bool {
	for i, w := range words[:min(len(words), referringWords)] {
		switch w {
		case "he", "she", "it", "they", "his", "her", "its", "their", "this", "these", "that", "those", "such", "him", "them",
			"on", "ona", "ono", "oni", "jego", "jej", "ich", "ten", "ta", "te",
			"ông", "bà", "họ", "nó", "này", "đó", "ấy":
			return true
		case "the":
			if i == 0 {
				return true
			}
		}
	}
	return false
}

// nearHalf is how many positions away from what might be the answer a word of
// the question counts half.
const nearHalf = 6

// near is how much of the question's weight stands near something new in unit j
// that is of the kind asked for: a number, a date, a name. kind tells whether the
// question asks for such a kind; otherwise every new word will do.
func (v *view) near(j int) (held float64, kind bool) {
	q, p := v.q, v.p
	fits, kind := q.fitting(p.text(j), v.clues[j])
	if fits == nil {
		return 0, kind
	}
	tokens := p.tokens[j]
	at := map[string][]int{} // positions of the question's terms
	for _, t := range tokens {
		if _, ok := q.said[t.Term]; ok {
			at[t.Term] = append(at[t.Term], t.Pos)
		}
	}
	all := 0.0
	var terms []weighed
	for _, t := range q.terms {
		all += t.weight
		if len(at[t.term]) > 0 {
			terms = append(terms, t)
		}
	}
	if len(terms) == 0 {
		return 0, kind
	}
	raw, best := p.text(j), 0.0
	for i, x := range tokens {
		if text.IsFolded(x.Term) || len(at[x.Term]) > 0 || q.asked.has(strings.ToLower(raw[x.Start:x.End])) || !fits(tokens, i) {
			continue
		}
		sum := 0.0
		for _, t := range terms {
			nearest := int(farApart)
			for _, pos := range at[t.term] {
				nearest = min(nearest, max(pos-x.Pos, x.Pos-pos))
			}
			sum += t.weight / (1 + float64(nearest)/nearHalf)
		}
		best = max(best, sum)
	}
	return best / all, kind
}

// fitting tells which tokens of a unit may answer the question by what they
// look like; nil where none can. kind is false where all may.
func (q *inquiry) fitting(raw string, c clues) (fits func(tokens []text.Token, i int) bool, kind bool) {
	switch {
	case q.kind == Number:
		return figureOr(raw, c.first, numerals), true
	case q.kind == Time:
		return figureOr(raw, c.second, dates), true
	case q.kind == Person || q.kind == Place || q.want.name:
		capital := func(t text.Token) bool {
			r, _ := utf8.DecodeRuneInString(raw[t.Start:t.End])
			return unicode.IsUpper(r)
		}
		return func(tokens []text.Token, i int) bool {
			// the first word of a sentence is a name if another follows
			return capital(tokens[i]) && (tokens[i].Start > 0 || i+1 < len(tokens) && capital(tokens[i+1]))
		}, true
	default:
		return func([]text.Token, int) bool { return true }, false
	}
}

// figureOr fits tokens with a digit, and the words of a cue where the unit holds one.
func figureOr(raw string, inWords bool, words func() cue) func(tokens []text.Token, i int) bool {
	if !inWords && !strings.ContainsFunc(raw, unicode.IsDigit) {
		return nil
	}
	return func(tokens []text.Token, i int) bool {
		word := raw[tokens[i].Start:tokens[i].End]
		return strings.ContainsFunc(word, unicode.IsDigit) || inWords && words().in(" "+strings.ToLower(word)+" ")
	}
}

// inflects reports whether a term may have others of its stem.
func inflects(term string) bool {
	return utf8.RuneCountInString(term) >= prefixRunes && !digitsOnly(term)
}

// alike reports whether two terms share most of their beginning.
func alike(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	if i < prefixRunes {
		return false
	}
	for i > 0 && i < len(a) && !utf8.RuneStart(a[i]) {
		i--
	}
	shared := utf8.RuneCountInString(a[:i])
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return shared >= prefixRunes && float64(shared) >= prefixShare*float64(longer)
}
