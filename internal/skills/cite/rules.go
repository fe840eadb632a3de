package cite

import (
	"slices"
	"strings"
)

// rule is one reason why a sentence of a source does not support a claim.
type rule struct {
	name  string
	close float64 // share of the claim's words that the source must have in the same order
	// objects returns the contradiction, in the words of both; "" if there is none.
	objects func(a *alignment) string
}

// rules returns the rules that compare a claim with the closest sentence of a source. The first that objects
// decides.
func rules() []rule {
	return []rule{
		{"opposite", 0, opposite},
		{"negation", 0.4, negation},
		{"unit", 0, unit},
		{"substitution", 0.6, substitution},
		{"exchange", 0, exchange},
		{"reversal", 0.3, reversal},
		{"binding", 0, binding},
		{"limit", 0, limit},
	}
}

// alignment is a claim beside the closest sentence of a source.
type alignment struct {
	words       *lexicon
	claim, said *reading
	source      *evidence
	pairs       []int // for each token of the claim the equal token of said; -1 without one
}

func (l *lexicon) align(claim, said *reading, source *evidence) *alignment {
	a := &alignment{words: l, claim: claim, said: said, source: source, pairs: make([]int, len(claim.tokens))}
	n, m := len(claim.tokens), len(said.tokens)
	best := make([]int, (n+1)*(m+1)) // score of the tokens from i and j on
	at := func(i, j int) *int { return &best[i*(m+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			*at(i, j) = max(*at(i+1, j), *at(i, j+1), *at(i+1, j+1)+a.match(i, j))
		}
	}
	for i, j := 0, 0; i < n; i++ {
		a.pairs[i] = -1
		for j < m && *at(i, j) == *at(i, j+1) {
			j++
		}
		if j < m && a.match(i, j) > 0 && *at(i, j) == *at(i+1, j+1)+a.match(i, j) {
			a.pairs[i] = j
			j++
		}
	}
	return a
}

// close returns the share of the claim's words that the source has in the same order.
func (a *alignment) close() float64 {
	n := 0
	for _, j := range a.pairs {
		n += count(j >= 0)
	}
	return float64(n) / float64(max(1, len(a.pairs)))
}

// match scores how well a word of the claim matches one of the source; 0 if they differ.
func (a *alignment) match(i, j int) int {
	ours, theirs := a.claim.tokens[i], a.said.tokens[j]
	if ours.stem != theirs.stem {
		return 0
	}
	score := 2
	if ours.content {
		score = 6
	}
	if i > 0 && j > 0 && a.claim.tokens[i-1].stem == a.said.tokens[j-1].stem {
		score++
	}
	return score
}

// opposite finds a word of the claim whose opposite the source has in its place.
func opposite(a *alignment) string {
	for i, ours := range a.claim.tokens {
		for j, theirs := range a.said.tokens {
			if ours.denied == theirs.denied && a.words.areOpposite(ours.stem, theirs.stem) && a.inPlace(i, j) {
				return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
			}
		}
	}
	return ""
}

// inPlace reports whether the word at j of the source is in the place of its opposite at i of the claim.
func (a *alignment) inPlace(i, j int) bool {
	ours, theirs := a.claim.tokens[i], a.said.tokens[j]
	if ours.content && theirs.content {
		if !a.said.has(ours.stem) && !a.claim.has(theirs.stem) {
			return shareNeighbour(a.claim, i, a.said, j)
		}
		beside := commonRun(a.claim, i, a.said, j, -1) + commonRun(a.claim, i, a.said, j, 1)
		return beside >= minContext && beside > a.maxContext([2]int{i, i + 1})
	}
	if a.claim.has(theirs.stem) && a.said.has(ours.stem) {
		return false
	}
	for n := 1; n <= nearWords; n++ {
		for m := 1; m <= nearWords; m++ {
			if next := a.claim.neighbour(i, n).stem; next != "" && next == a.said.neighbour(j, m).stem {
				return true
			}
		}
	}
	return false
}

// limit finds "only" or "all" in the claim if no sentence of the source has it.
func limit(a *alignment) string {
	lacks := func(says func(*reading) bool) bool {
		return says(a.claim) && !slices.ContainsFunc(a.source.spans, func(s span) bool { return says(s.reading) })
	}
	switch {
	case len(a.said.denials) == 0 && lacks(func(r *reading) bool { return r.limited }):
		return "“only” is not in the source"
	case lacks(func(r *reading) bool { return r.universal }), a.claim.universal && a.said.limited && !a.said.universal:
		return "“all” is not in the source"
	}
	return ""
}

// unit finds a figure that has another unit in the source.
func unit(a *alignment) string {
	for i, figure := range a.claim.tokens {
		ours := a.claim.unit(i)
		if ours.stem == "" || slices.ContainsFunc(a.source.spans, func(s span) bool { return s.measures(figure.stem, ours.stem) }) {
			continue
		}
		for j, t := range a.said.tokens {
			theirs := a.said.unit(j)
			if t.stem == figure.stem && theirs.stem != "" && a.claim.shared(a.said) > 1 && !a.claim.has(theirs.stem) && !a.words.meanSame(ours.stem, theirs.stem) {
				return "“" + figure.raw + " " + ours.raw + "” where the source has “" + t.raw + " " + theirs.raw + "”"
			}
		}
	}
	return ""
}

// measures reports whether a sentence has a unit near a figure, in any form.
func (r *reading) measures(figure, unit string) bool {
	for j, t := range r.tokens {
		near := r.tokens[max(0, j-2):min(j+4, len(r.tokens))]
		if t.stem == figure+unit || t.stem == figure && slices.ContainsFunc(near, func(t token) bool {
			return t.content && (strings.HasPrefix(t.stem, unit) || strings.HasPrefix(unit, t.stem))
		}) {
			return true
		}
	}
	return false
}

// substitution finds words of the claim that the source replaces by others between the same neighbours.
func substitution(a *alignment) string {
	i, j := 0, 0 // start of the gap
	for k := 0; k <= len(a.pairs); k++ {
		pair := len(a.said.tokens)
		if k < len(a.pairs) {
			pair = a.pairs[k]
		}
		if pair < 0 {
			continue
		}
		for _, ours := range rows(i, k) {
			for _, theirs := range rows(j, pair) {
				if a.replaced(ours, theirs) {
					return "“" + join(a.claim.tokens[ours[0]:ours[1]]) + "” where the source has “" + join(a.said.tokens[theirs[0]:theirs[1]]) + "”"
				}
			}
		}
		i, j = k+1, pair+1
	}
	return ""
}

// rows returns all runs of up to maxRow words within a gap, as [begin, end).
func rows(from, to int) (out [][2]int) {
	for i := from; i < to; i++ {
		for end := i + 1; end <= min(to, i+maxRow); end++ {
			out = append(out, [2]int{i, end})
		}
	}
	return out
}

// maxRow is the length of a replaced run of words. A Vietnamese word may have several.
const maxRow = 4

// replaced reports whether the claim has other words than the source between the same neighbours, and the
// source does not have the claim's words in such a place elsewhere.
func (a *alignment) replaced(ours, theirs [2]int) bool {
	x, y := a.claim.tokens[ours[0]:ours[1]], a.said.tokens[theirs[0]:theirs[1]]
	if !a.differ(x, y) {
		return false
	}
	before, behind := commonRun(a.claim, ours[0], a.said, theirs[0], -1), commonRun(a.claim, ours[1]-1, a.said, theirs[1]-1, 1)
	if len(x) == 1 && len(y) == 1 && x[0].name && y[0].name && !a.said.has(x[0].stem) && max(before, behind) >= minContext {
		return true
	}
	if before == 0 || behind == 0 || before+behind <= minContext {
		return false
	}
	maxContext := a.maxContext(ours)
	return maxContext < 0 || before+behind > max(minContext+1, maxContext)
}

// differ reports whether two runs of words are of the same kind and have no words in common with the other
// sentence.
func (a *alignment) differ(ours, theirs []token) bool {
	if len(ours) == 1 && len(theirs) == 1 && (ours[0].figure != theirs[0].figure || a.words.meanSame(ours[0].stem, theirs[0].stem)) {
		return false
	}
	return a.claim.lacksAll(theirs) && (len(ours) == 1 && ours[0].content || a.said.lacksAll(ours))
}

// lacksAll reports whether a run consists of content words of one clause, none in the sentence.
func (r *reading) lacksAll(row []token) bool {
	return !slices.ContainsFunc(row, func(t token) bool { return !t.content || t.clause != row[0].clause || r.has(t.stem) })
}

func join(tokens []token) string {
	var raw []string
	for _, t := range tokens {
		raw = append(raw, t.raw)
	}
	return strings.Join(raw, " ")
}

// maxContext returns the largest number of equal neighbours of a run of the claim in the source; -1 if the
// source does not have the run.
func (a *alignment) maxContext(row [2]int) int {
	most, n := -1, row[1]-row[0]
	for _, s := range a.source.spans {
		for j := 0; j+n <= len(s.tokens); j++ {
			if slices.EqualFunc(s.tokens[j:j+n], a.claim.tokens[row[0]:row[1]], func(x, y token) bool { return x.stem == y.stem }) {
				most = max(most, commonRun(a.claim, row[0], s.reading, j, -1)+commonRun(a.claim, row[1]-1, s.reading, j+n-1, 1))
			}
		}
	}
	return most
}

// exchange finds words of two clauses that are in each other's clause in the source, while other words stay.
func exchange(a *alignment) string {
	ours, theirs := a.claim.clauseOf(), a.said.clauseOf()
	words := map[[2]int]string{} // by clause in the claim and in the source
	var places [][2]int
	for _, i := range a.claim.content {
		t := a.claim.tokens[i]
		there, ok := theirs[t.stem]
		place := [2]int{t.clause, there}
		if ok && there >= 0 && ours[t.stem] >= 0 && words[place] == "" {
			words[place] = t.raw
			places = append(places, place)
		}
	}
	for _, x := range places {
		for _, y := range places {
			if x[0] < y[0] && x[1] != y[1] && words[[2]int{x[0], y[1]}] != "" && words[[2]int{y[0], x[1]}] != "" {
				return "“" + words[x] + "” and “" + words[y] + "” have changed places"
			}
		}
	}
	return ""
}

// reversal finds a word whose neighbours have changed sides in the source: who does what to whom. Words such
// as "by" and "of" reverse the sides, too.
func reversal(a *alignment) string {
	for _, i := range a.claim.content {
		for _, j := range a.said.content {
			if a.claim.tokens[i].raw != a.said.tokens[j].raw {
				continue
			}
			x, last := a.swapped(i, j, -1)
			y, first := a.swapped(i, j, 1)
			if x >= 0 && y >= 0 && a.words.turns(a.claim.tokens[x:y]) == a.words.turns(a.said.tokens[first:last]) {
				return "“" + a.claim.tokens[x].raw + "” and “" + a.claim.tokens[y].raw + "” have changed places"
			}
		}
	}
	return ""
}

// swapped returns the position of a word near i, in the direction of step, that the source has only on the
// other side of j, and its position there; -1 if there is none.
func (a *alignment) swapped(i, j, step int) (here, there int) {
	for n := 1; n <= nearWords; n++ {
		x := a.claim.place(i, n*step)
		if x < 0 || a.claim.counts[a.claim.tokens[x].stem] > 1 || a.said.counts[a.claim.tokens[x].stem] > 1 {
			continue
		}
		for m := 1; m <= nearWords; m++ {
			y := a.said.place(j, -m*step)
			if y >= 0 && a.said.tokens[y].stem == a.claim.tokens[x].stem && (a.words.language != "pl" || a.said.tokens[y].raw != a.claim.tokens[x].raw) {
				return x, y
			}
		}
	}
	return -1, -1
}

// turns counts the words that reverse the sides of their neighbours.
func (l *lexicon) turns(tokens []token) (n int) {
	for _, t := range tokens {
		n += count(l.turners[t.raw])
	}
	return n
}

// binding finds a figure beside a word that has another figure in the source.
func binding(a *alignment) string {
	for _, i := range a.claim.content {
		figure := a.claim.tokens[i]
		if !figure.figure {
			continue
		}
		for _, n := range []int{1, -1} {
			word := a.claim.neighbour(i, n)
			if word.stem == "" || word.figure || a.said.counts[word.stem] != 1 || slices.ContainsFunc(a.source.spans, func(s span) bool { return s.beside(figure.stem, word.stem, 3) }) {
				continue
			}
			for _, j := range a.said.content {
				other := a.said.tokens[j]
				if other.figure && !a.claim.has(other.stem) && (a.said.neighbour(j, n).stem == word.stem) {
					return "“" + figure.raw + "” where the source has “" + other.raw + "” with “" + word.raw + "”"
				}
			}
		}
	}
	return ""
}

// beside reports whether two words are within n content words of each other.
func (r *reading) beside(a, b string, n int) bool {
	for _, i := range r.content {
		if r.tokens[i].stem != a {
			continue
		}
		for k := -n; k <= n; k++ {
			if k != 0 && r.neighbour(i, k).stem == b {
				return true
			}
		}
	}
	return false
}
