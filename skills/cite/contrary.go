package cite

import (
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
// figure, unit or code in its place, the parts of two things changed round, or
// a negation. It returns "" where nothing does. whole is the source.
func contrary(claim, said wording, whole []wording) string {
	found, agreed := opposed(claim, said)
	switch {
	case found != "":
		return found
	case agreed: // the opposite of a word denied says the same
	default:
		if word := deniesOther(claim, said); word != "" {
			return "only one of the two denies “" + word + "”"
		}
	}
	if found := misplaced(claim, said, whole); found != "" {
		return found
	}
	if found := replaced(claim, said, whole); found != "" {
		return found
	}
	return exchanged(claim, said)
}

// replaced finds a word of the claim in whose place the source has another: a word between
// the same words, which the source lacks or has between other words only, or a name beside
// the same words.
func replaced(claim, said wording, whole []wording) string {
	for i, ours := range claim.tokens {
		if !ours.content {
			continue
		}
		attested := 0
		for _, w := range whole {
			attested = max(attested, w.attests(claim, i))
		}
		lacks := !slices.ContainsFunc(whole, func(w wording) bool { return w.has(ours.stem) })
		for j, theirs := range said.tokens {
			before, behind := same(claim, i, said, j, -1), same(claim, i, said, j, 1)
			between := before > 0 && behind > 0 && (lacks && before+behind > likeness || before+behind > max(2*likeness, attested))
			named := ours.name && theirs.name && max(before, behind) >= likeness && !said.has(ours.stem)
			if (between || named) && theirs.content && ours.figure == theirs.figure && !claim.has(theirs.stem) && !meanSame(ours.stem, theirs.stem) {
				return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
			}
		}
	}
	return ""
}

// likeness is how many words beside a word show its place, 2*likeness the most that count.
const likeness = 3

// attests counts the words that a sentence has, as the claim does, around the word at i of
// the claim.
func (w wording) attests(claim wording, i int) int {
	most := 0
	for j, t := range w.tokens {
		if t.stem == claim.tokens[i].stem {
			most = max(most, same(claim, i, w, j, -1)+same(claim, i, w, j, 1))
		}
	}
	return most
}

// same counts the words that follow in two sentences on the words at i and j, or stand
// before them where step is -1. The end of both clauses counts as one.
func same(a wording, i int, b wording, j, step int) int {
	for n := range 2 * likeness {
		i, j = i+step, j+step
		endA := i < 0 || i == len(a.tokens) || a.tokens[i].clause != a.tokens[i-step].clause
		endB := j < 0 || j == len(b.tokens) || b.tokens[j].clause != b.tokens[j-step].clause
		switch {
		case endA && endB:
			return n + 1
		case endA || endB || a.tokens[i].stem != b.tokens[j].stem:
			return n
		}
	}
	return 2 * likeness
}

// opposed finds a word of the claim where the source has its opposite. agreed
// says that one was found, but one of the two is denied.
func opposed(claim, said wording) (found string, agreed bool) {
	for i, ours := range claim.tokens {
		for j, theirs := range said.tokens {
			if !areOpposite(ours.stem, theirs.stem) || !inPlace(claim, i, said, j) {
				continue
			}
			if ours.denied != theirs.denied {
				agreed = true
				continue
			}
			return "“" + ours.raw + "” where the source has “" + theirs.raw + "”", false
		}
	}
	return "", agreed
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
	return !said.has(ours.stem) && !claim.has(theirs.stem) && company(claim, i, said, j)
}

// deniesOther returns a word that only one of two sentences denies.
func deniesOther(claim, said wording) string {
	ours, theirs := claim.denies(said, true), said.denies(claim, false)
	if len(ours)%2 == len(theirs)%2 {
		return ""
	}
	for _, word := range slices.Concat(ours, theirs) {
		if !slices.Contains(ours, word) || !slices.Contains(theirs, word) {
			return word
		}
	}
	return ""
}

// denies returns the words that a sentence denies and another says in the same company.
// skip passes over words that the other lacks: "does not become part", "is not part".
func (w wording) denies(other wording, skip bool) []string {
	var out []string
	for _, d := range w.denials {
		for _, t := range d.words {
			if strings.HasSuffix(t.raw, "ly") || (skip || !d.verb) && !other.has(t.stem) || w.affirms(t) { // not automatically removed
				continue
			}
			if !other.denied(t.stem) && !slices.Contains(out, t.stem) && meets(w, t, other) {
				out = append(out, t.stem)
				break
			}
			if !d.wide || other.denied(t.stem) {
				break
			}
		}
	}
	return out
}

// affirms reports whether a sentence says a word that it denies, too, in another place.
func (w wording) affirms(denied token) bool {
	return slices.ContainsFunc(w.tokens, func(t token) bool { return t.raw == denied.raw && !t.denied })
}

// denied reports whether a sentence denies a word.
func (w wording) denied(stem string) bool {
	return slices.ContainsFunc(w.tokens, func(t token) bool { return t.stem == stem && t.denied })
}

// meets reports whether another sentence has a word that this one denies, in the
// same company. A sentence of one word needs none.
func meets(w wording, denied token, other wording) bool {
	for i, ours := range w.tokens {
		for j, theirs := range other.tokens {
			if ours.denied && ours.stem == denied.stem && theirs.stem == ours.stem &&
				(min(len(w.content), len(other.content)) < minTerms || company(w, i, other, j)) {
				return true
			}
		}
	}
	return false
}

// misplaced finds a figure or code of the claim in whose place the source has another.
func misplaced(claim, said wording, whole []wording) string {
	for i, ours := range claim.tokens {
		if !ours.literal || !slices.ContainsFunc(whole, func(w wording) bool { return w.has(ours.stem) || w.has(ours.stem+"%") }) {
			continue
		}
		for _, step := range []int{1, -1} {
			if !claim.alike(i, claim, i, step) {
				continue
			}
			if slices.ContainsFunc(whole, func(w wording) bool { return w.beside(ours.stem, claim, i, step) }) {
				if isFigure(ours.raw) {
					break // with its unit
				}
				continue
			}
			for j, theirs := range said.tokens {
				if theirs.literal && theirs.stem != ours.stem && isFigure(theirs.raw) == isFigure(ours.raw) && claim.alike(i, said, j, step) {
					return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
				}
			}
		}
	}
	return ""
}

// alike reports whether token i and token j of another sentence have the same content word behind
// them, or before them where step is -1, in the same clause as the token.
func (w wording) alike(i int, other wording, j, step int) bool {
	ours, theirs := w.neighbour(i, step), other.neighbour(j, step)
	return ours.stem != "" && ours.stem == theirs.stem && ours.clause == w.tokens[i].clause && theirs.clause == other.tokens[j].clause
}

// beside reports whether a sentence has a literal beside the content word that stands at
// token i of the claim. Other literals may stand between: each of a list has the word of
// the list.
func (w wording) beside(literal string, claim wording, i, step int) bool {
	word := claim.neighbour(i, step).stem
	for j, t := range w.tokens {
		if t.stem != literal {
			continue
		}
		n := step
		for w.neighbour(j, n).literal && w.neighbour(j, n).stem != word {
			n += step
		}
		if w.neighbour(j, n).stem == word {
			return true
		}
	}
	return false
}

func isFigure(s string) bool { return s != "" && isDigitByte(rune(s[0])) }

// exchanged finds two words that stand on one side each of a third, and the
// other way round in the source, where neither sentence may be in the passive.
func exchanged(claim, said wording) string {
	if claim.passive != said.passive || !claim.english {
		return ""
	}
	at := map[string]int{} // places of the words that the sentence has once
	for i, k := range said.content {
		stem := said.tokens[k].stem
		if _, twice := at[stem]; twice {
			at[stem] = -1
		} else {
			at[stem] = i
		}
	}
	var shared []int // content words of the claim that stand there
	var place []int
	for i, k := range claim.content {
		if p, ok := at[claim.tokens[k].stem]; ok && p >= 0 {
			shared, place = append(shared, i), append(place, p)
		}
	}
	for i := range shared {
		for j := i + 2; j < len(shared) && shared[j]-shared[i] <= 2*nearWords; j++ {
			for k := i + 1; k < j; k++ {
				near := place[i]-place[j] <= 2*nearWords && claim.token(shared[i]).clause == claim.token(shared[j]).clause && said.token(place[i]).clause == said.token(place[j]).clause
				same := claim.token(shared[k]).raw == said.token(place[k]).raw && !claim.token(shared[k]).literal // not "communicate" for "communication"
				if near && same && place[j] < place[k] && place[k] < place[i] {
					return "“" + claim.token(shared[i]).raw + "” and “" + claim.token(shared[j]).raw + "” have changed places"
				}
			}
		}
	}
	return ""
}
