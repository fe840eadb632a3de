package cite

import (
	"cmp"
	"slices"
	"strings"
)

// contrary returns what contradicts a claim in the places of a source that come
// closest to it: see [contrary]. Those count that have most words of the claim; one of
// them that agrees is enough.
func (c *checker) contrary(of claim, e *evidence, places []int) string {
	if e.wordings == nil {
		for _, s := range e.spans {
			e.wordings = append(e.wordings, wordingOf(c.options.Language, e.text[s.Start:s.End]))
		}
	}
	first, most := "", 0
	for _, i := range places {
		shared := of.wording.shared(e.wordings[i])
		if shared < most {
			continue
		}
		found := contrary(of.wording, e.wordings[i], e.wordings)
		if shared > most || found == "" {
			first, most = found, shared
		}
	}
	return first
}

// contrary compares a claim with a sentence of a source about the same and
// returns what contradicts: a word whose opposite stands there, another
// word or unit in its place, the parts of two clauses changed round, a negation,
// or a restriction that the source lacks. It returns "" where nothing does. whole is the source.
func contrary(claim, said wording, whole []wording) string {
	found := opposed(claim, said)
	if word := cmp.Or(deniesOther(claim, said), negated(claim, said), negated(said, claim)); found == "" && word != "" {
		found = "only one of the two denies “" + word + "”"
	}
	if found == "" && claim.only && len(said.denials) == 0 && !slices.ContainsFunc(whole, func(w wording) bool { return w.only }) {
		found = "“only” is not in the source"
	}
	return cmp.Or(found, measured(claim, said, whole), replaced(claim, said, whole), crossed(claim, said))
}

// crossed finds words of two clauses that the source has in the other clause each, with
// words that stayed.
func crossed(claim, said wording) string {
	ours, theirs := claim.places(), said.places()
	words := map[[2]int]string{} // by the clause here and there
	var places [][2]int
	for _, k := range claim.content {
		t := claim.tokens[k]
		there, ok := theirs[t.stem]
		place := [2]int{t.clause, there}
		if ok && there >= 0 && ours[t.stem] >= 0 && words[place] == "" {
			words[place] = t.raw
			places = append(places, place)
		}
	}
	for _, a := range places {
		for _, b := range places {
			if a[0] < b[0] && a[1] != b[1] && words[[2]int{a[0], b[1]}] != "" && words[[2]int{b[0], a[1]}] != "" {
				return "“" + words[a] + "” and “" + words[b] + "” have changed places"
			}
		}
	}
	return ""
}

// places are the clauses of the content words of a sentence, -1 of those that it has twice.
func (w wording) places() map[string]int {
	out := map[string]int{}
	for _, k := range w.content {
		t := w.tokens[k]
		if _, twice := out[t.stem]; twice {
			t.clause = -1
		}
		out[t.stem] = t.clause
	}
	return out
}

// replaced finds words of the claim in whose place the source has others: words
// between the same words, which the source lacks or has between other words only, or a name
// beside the same words.
func replaced(claim, said wording, whole []wording) string {
	for i := range claim.tokens {
		for j := range said.tokens {
			before := same(claim, i, said, j, -1)
			names := claim.tokens[i].name && said.tokens[j].name && !said.stems[claim.tokens[i].stem]
			if before == 0 && !names {
				continue
			}
			for n := 1; n <= longestRow && i+n <= len(claim.tokens); n++ {
				for m := 1; m <= longestRow && j+m <= len(said.tokens); m++ {
					ours, theirs := claim.tokens[i:i+n], said.tokens[j:j+m]
					if !differ(ours, theirs, claim, said) {
						continue
					}
					behind := same(claim, i+n-1, said, j+m-1, 1)
					attested, lacks := 0, true
					for _, w := range whole {
						has, beside := w.attests(claim, i, n)
						attested, lacks = max(attested, beside), lacks && !has
					}
					between := before > 0 && behind > 0 && (lacks && before+behind > likeness || before+behind > max(likeness+1, attested))
					if between || names && n == 1 && m == 1 && max(before, behind) >= likeness {
						return "“" + join(ours) + "” where the source has “" + join(theirs) + "”"
					}
				}
			}
		}
	}
	return ""
}

// longestRow is the most words that replace others. A Vietnamese word is of several.
const longestRow = 4

// likeness is how many words beside others show their place, 2*likeness the most that count.
const likeness = 3

// differ reports whether two rows of words are of the same kind and say something else:
// neither has a word in common with the other sentence.
func differ(ours, theirs []token, claim, said wording) bool {
	if len(ours) == 1 && len(theirs) == 1 && (ours[0].figure != theirs[0].figure || meanSame(ours[0].stem, theirs[0].stem)) {
		return false
	}
	return claim.holdsNoneOf(theirs) && (len(ours) == 1 && ours[0].content || said.holdsNoneOf(ours))
}

// holdsNoneOf reports whether a row of words is one of content words of a clause, none of
// which the sentence has.
func (w wording) holdsNoneOf(row []token) bool {
	return !slices.ContainsFunc(row, func(t token) bool { return !t.content || t.clause != row[0].clause || w.stems[t.stem] })
}

func join(tokens []token) string {
	var raw []string
	for _, t := range tokens {
		raw = append(raw, t.raw)
	}
	return strings.Join(raw, " ")
}

// attests reports whether a sentence has n words of the claim from i on, and how many
// words it has around them as the claim does.
func (w wording) attests(claim wording, i, n int) (has bool, beside int) {
	for j := 0; j+n <= len(w.tokens); j++ {
		if slices.EqualFunc(w.tokens[j:j+n], claim.tokens[i:i+n], func(a, b token) bool { return a.stem == b.stem }) {
			has = true
			beside = max(beside, same(claim, i, w, j, -1)+same(claim, i+n-1, w, j+n-1, 1))
		}
	}
	return has, beside
}

// same counts the words that follow in two sentences on the words at i and j, or stand
// before them where step is -1. The end of both clauses counts as one.
func same(a wording, i int, b wording, j, step int) int {
	for n := range 2 * likeness {
		i, j = i+step, j+step
		endA, endB := a.ends(i, step), b.ends(j, step)
		switch {
		case endA && endB:
			return n + 1
		case endA || endB || a.tokens[i].stem != b.tokens[j].stem:
			return n
		}
	}
	return 2 * likeness
}

// ends reports whether a clause ended before the word at i, to which a step led.
func (w wording) ends(i, step int) bool {
	return i < 0 || i == len(w.tokens) || i-step >= 0 && w.tokens[i].clause != w.tokens[i-step].clause
}

// opposed finds a word of the claim where the source has its opposite and neither is denied.
func opposed(claim, said wording) string {
	for i, ours := range claim.tokens {
		for j, theirs := range said.tokens {
			if ours.denied == theirs.denied && areOpposite(ours.stem, theirs.stem) && inPlace(claim, i, said, j) {
				return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
			}
		}
	}
	return ""
}

// inPlace reports whether the word at j of a sentence stands where the claim
// has the opposite at i.
func inPlace(claim wording, i int, said wording, j int) bool {
	ours, theirs := claim.tokens[i], said.tokens[j]
	if !ours.content || !theirs.content {
		for n := 1; n <= nearWords; n++ {
			for m := 1; m <= nearWords; m++ {
				if next := claim.neighbour(i, n).stem; next != "" && next == said.neighbour(j, m).stem {
					return true
				}
			}
		}
		return false
	}
	return !said.stems[ours.stem] && !claim.stems[theirs.stem] && company(claim, i, said, j)
}

// deniesOther returns a word that only one of two sentences denies.
func deniesOther(claim, said wording) string {
	words := slices.Concat(claim.denies(said), said.denies(claim))
	if len(words)%2 == 0 {
		return ""
	}
	return words[0]
}

// denies returns the words that a sentence denies and another says in the same company, one
// for each negation of which the other denies nothing. Words that the other lacks are passed
// over: "does not become part", "is not part".
func (w wording) denies(other wording) []string {
	var out []string
	for _, d := range w.denials {
		if slices.ContainsFunc(d, func(i int) bool { return other.says(w.tokens[i].stem, true) }) {
			continue
		}
		first := slices.IndexFunc(d, func(i int) bool { // not automatically removed
			t := w.tokens[i]
			return !strings.HasSuffix(t.raw, "ly") && other.stems[t.stem] && !w.says(t.stem, false)
		})
		if first < 0 {
			continue
		}
		if stem := w.tokens[d[first]].stem; !slices.Contains(out, stem) && w.meets(d[first], other) {
			out = append(out, stem)
		}
	}
	return out
}

// meets reports whether another sentence has the word at i in the same company. A sentence of
// one word needs none.
func (w wording) meets(i int, other wording) bool {
	for j, t := range other.tokens {
		if t.stem == w.tokens[i].stem && (min(len(w.content), len(other.content)) < minTerms || company(w, i, other, j)) {
			return true
		}
	}
	return false
}

// negated returns the first of the words behind a negation that another sentence says
// in the same order without denying them.
func negated(a, b wording) string {
	for i, t := range a.tokens {
		if !negates(t.raw) || i+1 == len(a.tokens) {
			continue
		}
		longest, at := 0, -1
		for j := range b.tokens {
			if n := same(a, i, b, j-1, 1); n > longest {
				longest, at = n, j
			}
		}
		if longest >= likeness && !b.tokens[at].denied {
			return a.tokens[i+1].raw
		}
	}
	return ""
}

// says reports whether a sentence has a word in a place where it is denied, or is not.
func (w wording) says(stem string, denied bool) bool {
	return slices.ContainsFunc(w.tokens, func(t token) bool { return t.stem == stem && t.denied == denied })
}

// measured finds a figure of the claim that the source gives with another unit.
func measured(claim, said wording, whole []wording) string {
	for i, figure := range claim.tokens {
		unit := claim.unit(i)
		if unit.stem == "" || slices.ContainsFunc(whole, func(w wording) bool { return w.counts(figure.stem, unit.stem) }) {
			continue
		}
		for j, t := range said.tokens {
			if other := said.unit(j); t.stem == figure.stem && other.stem != "" && claim.shared(said) > 1 && !claim.stems[other.stem] && !meanSame(unit.stem, other.stem) {
				return "“" + figure.raw + " " + unit.raw + "” where the source has “" + t.raw + " " + other.raw + "”"
			}
		}
	}
	return ""
}

// unit is the word behind a figure.
func (w wording) unit(i int) token {
	if !w.tokens[i].figure || w.ends(i+1, 1) || !w.tokens[i+1].content || w.tokens[i+1].figure {
		return token{}
	}
	return w.tokens[i+1]
}

// counts reports whether a sentence has a unit near a figure, in any form.
func (w wording) counts(figure, unit string) bool {
	for j, t := range w.tokens {
		near := w.tokens[max(0, j-2):min(j+4, len(w.tokens))]
		if t.stem == figure+unit || t.stem == figure && slices.ContainsFunc(near, func(t token) bool {
			return t.content && (strings.HasPrefix(t.stem, unit) || strings.HasPrefix(unit, t.stem))
		}) {
			return true
		}
	}
	return false
}

func isFigure(s string) bool { return s != "" && isDigitByte(rune(s[0])) }
