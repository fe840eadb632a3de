package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
)

// token is a word, figure or code of a sentence.
type token struct {
	raw     string // in lower case
	stem    string // what all forms of a word have in common
	content bool   // no stop word
	literal bool   // a figure, or a name of code
	figure  bool   // a number, in digits or not
	name    bool   // with a capital letter though it begins no sentence
	denied  bool   // a negation before it acts on it
	clause  int    // number of its part between commas, stops and brackets
}

// wording is a sentence taken apart for the comparison with another.
type wording struct {
	tokens  []token
	content []int // indexes of the tokens that are no stop words
	denials []denial
	english bool
	passive bool // may name who acts after what is done
}

// denial is a negation and the content words that it acts on.
type denial struct {
	words []token
	wide  bool // any of the words may be meant: no volume is lost
	verb  bool // the first word is meant: does not handle
}

// deniedWords is how many content words a negation acts on.
const deniedWords = 3

var tokenPattern = regexp.MustCompile(`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_'’]|[.:/=+-]+[\p{L}\p{N}_])*%?|[,;:.!?()|]`)

func wordingOf(language, sentence string) wording {
	w := wording{english: language == "en"}
	scope, clause := 0, 0 // content words that a negation still acts on; number of the clause
	found := tokenPattern.FindAllString(sentence, -1)
	for i, raw := range found {
		lower := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
		if strings.ContainsAny(lower[:1], ",;:.!?()|") {
			scope, clause = 0, clause+1
			continue
		}
		if splits(lower) {
			clause++
		}
		t := token{raw: lower, stem: lower, name: i > 0 && unicode.IsUpper([]rune(raw)[0]), content: !text.StopWord(language, lower) && !Negates(lower), denied: scope > 0, clause: clause}
		t.figure = isFigure(lower) || spelled(language, lower) != ""
		t.literal = strings.ContainsFunc(lower, unicode.IsDigit) || strings.ContainsAny(lower, "_=/") || strings.ContainsFunc(raw[1:], unicode.IsUpper)
		if digits := spelled(language, lower); digits != "" {
			t.stem = digits
		} else if !t.literal {
			t.stem = stemOf(language, lower)
		}
		if n := len(w.tokens); lower == "by" || n > 0 && isBeing(w.tokens[n-1].raw) && (strings.HasSuffix(lower, "ed") || strings.HasSuffix(lower, "en")) {
			w.passive = true
		}
		if t.content && t.denied {
			last := &w.denials[len(w.denials)-1]
			last.words = append(last.words, t)
		}
		if t.content {
			w.content = append(w.content, len(w.tokens))
			scope--
		}
		if Negates(lower) && (i+1 == len(found) || !only(strings.ToLower(found[i+1]))) {
			scope = deniedWords
			verb := strings.HasPrefix(lower, "do") || strings.HasPrefix(lower, "did") || i > 0 && slices.Contains([]string{"do", "does", "did"}, found[i-1])
			w.denials = append(w.denials, denial{wide: strings.HasPrefix(lower, "n") && lower != "not" && lower != "never", verb: verb})
		}
		w.tokens = append(w.tokens, t)
	}
	return w
}

func (w wording) has(stem string) bool {
	return slices.ContainsFunc(w.tokens, func(t token) bool { return t.stem == stem })
}

func isBeing(w string) bool {
	return slices.Contains([]string{"is", "are", "was", "were", "be", "been", "being"}, w)
}

// splits reports whether a word begins another clause.
func splits(w string) bool {
	switch w {
	case "if", "when", "whether", "unless", "because", "but", "which", "that", "while", "where":
		return true
	}
	return false
}

// shared counts the words of a sentence that another has, too.
func (w wording) shared(other wording) int {
	n := 0
	for _, t := range w.tokens {
		if other.has(t.stem) {
			n++
		}
	}
	return n
}

// token returns content word n.
func (w wording) token(n int) token { return w.tokens[w.content[n]] }

// neighbour returns the content word that stands n content words behind token
// i, or before it where n is negative; the zero token where there is none.
func (w wording) neighbour(i, n int) token {
	at, is := slices.BinarySearch(w.content, i)
	switch {
	case n > 0 && !is:
		at += n - 1
	default:
		at += n
	}
	if at < 0 || at >= len(w.content) {
		return token{}
	}
	return w.tokens[w.content[at]]
}

// adjacent reports whether two content words stand side by side in this order.
func (w wording) adjacent(a, b string) bool {
	for i, at := range w.content[min(1, len(w.content)):] {
		if w.tokens[w.content[i]].stem == a && w.tokens[at].stem == b {
			return true
		}
	}
	return false
}

// nearWords is how far, in content words, the company of a word reaches.
const nearWords = 2

// company reports whether the words at i of one sentence and j of the other
// have a content word near them in common.
func company(a wording, i int, b wording, j int) bool {
	for n := -nearWords; n <= nearWords; n++ {
		ours := a.neighbour(i, n)
		if n == 0 || ours.stem == "" {
			continue
		}
		for m := -nearWords; m <= nearWords; m++ {
			if theirs := b.neighbour(j, m); m != 0 && theirs.stem == ours.stem {
				return true
			}
		}
	}
	return false
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

// replaced finds a word of the claim in whose place the source has another: a word that
// the source lacks, between the same words; a name that follows on the same words, or
// stands before them; or a unit that no such figure has.
func replaced(claim, said wording, whole []wording) string {
	for i, ours := range claim.tokens {
		if !ours.content || said.has(ours.stem) {
			continue
		}
		lacks := !slices.ContainsFunc(whole, func(w wording) bool { return w.has(ours.stem) })
		unit := i > 0 && claim.tokens[i-1].figure && !slices.ContainsFunc(whole, func(w wording) bool { return w.follows(claim.tokens[i-1].stem, ours.stem) })
		for j, theirs := range said.tokens {
			if !theirs.content || claim.has(theirs.stem) || ours.figure != theirs.figure || meanSame(ours.stem, theirs.stem) {
				continue
			}
			before, behind := same(claim, i, said, j, -1), same(claim, i, said, j, 1)
			switch {
			case lacks && before > 0 && behind > 0 && before+behind > nearWords+1,
				ours.name && theirs.name && max(before, behind) > nearWords,
				unit && before >= nearWords && behind > 0 && !theirs.literal:
				return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
			}
		}
	}
	return ""
}

// follows reports whether one word stands right behind another.
func (w wording) follows(first, second string) bool {
	for i, t := range w.tokens[min(1, len(w.tokens)):] {
		if t.stem == second && w.tokens[i].stem == first {
			return true
		}
	}
	return false
}

// same counts the words, up to three, that follow on a place of two sentences, or stand
// before it where step is -1. The end of both clauses counts as one.
func same(a wording, i int, b wording, j, step int) int {
	for n := range 3 {
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
	return 3
}

// opposed finds a word of the claim whose opposite stands in its place. agreed
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
		next := claim.neighbour(i, 1).stem
		return next != "" && next == said.neighbour(j, 1).stem
	}
	if said.has(ours.stem) || claim.has(theirs.stem) { // both are there: which stands where?
		for n := -1; n <= 1; n += 2 {
			beside := claim.neighbour(i, n).stem
			first, second := ours.stem, beside
			if n < 0 {
				first, second = beside, ours.stem
			}
			if beside != "" && beside == said.neighbour(j, n).stem && !said.adjacent(first, second) {
				return true
			}
		}
		return false
	}
	return company(claim, i, said, j)
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

// denies returns the words that a sentence denies and another has in the same
// company.
func (w wording) denies(other wording, ours bool) []string {
	var out []string
	for _, d := range w.denials {
		for _, t := range d.words {
			if strings.HasSuffix(t.raw, "ly") || (ours || !d.verb) && !other.has(t.stem) { // not automatically removed; does not become part
				continue
			}
			elsewhere := slices.ContainsFunc(w.tokens, func(o token) bool { return o.raw == t.raw && !o.denied })
			if !elsewhere && meets(w, t, other) {
				out = append(out, t.stem)
				break
			}
			if !d.wide {
				break
			}
		}
	}
	return out
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
		if !ours.literal {
			continue
		}
		attested := func(n int) bool {
			return slices.ContainsFunc(whole, func(w wording) bool { return w.beside(ours.stem, claim, i, n) })
		}
		if !slices.ContainsFunc(whole, func(w wording) bool { return w.has(ours.stem) || w.has(ours.stem+"%") }) {
			continue // the source lacks it
		}
		unit := isFigure(ours.raw) && claim.alike(i, claim, i, 1) && attested(1)
		for _, n := range []int{1, 2, -1, -2} {
			if unit && n < 0 || n*n > 1 && !isFigure(ours.raw) || !claim.alike(i, claim, i, n) || attested(n) || n < 0 && attested(-1) {
				continue
			}
			for j, theirs := range said.tokens {
				if theirs.literal && theirs.stem != ours.stem && isFigure(theirs.raw) == isFigure(ours.raw) && claim.alike(i, said, j, n) {
					return "“" + ours.raw + "” where the source has “" + theirs.raw + "”"
				}
			}
		}
	}
	return ""
}

// alike reports whether the n content words behind token i, or before it where n
// is negative, stand in its clause, and likewise at token j of another sentence.
func (w wording) alike(i int, other wording, j, n int) bool {
	step := max(-1, min(n, 1))
	for k := step; k != n+step; k += step {
		ours, theirs := w.neighbour(i, k), other.neighbour(j, k)
		if ours.stem == "" || ours.stem != theirs.stem || ours.clause != w.tokens[i].clause || theirs.clause != other.tokens[j].clause {
			return false
		}
	}
	return true
}

// beside reports whether a sentence has a literal beside the n content words that
// stand at token i of the claim. Other literals may stand between: each of a list
// has the word of the list.
func (w wording) beside(literal string, claim wording, i, n int) bool {
	for j, t := range w.tokens {
		if t.stem != literal {
			continue
		}
		if step := max(-1, min(n, 1)); n == step {
			m := n
			for w.neighbour(j, m).literal && w.neighbour(j, m).stem != claim.neighbour(i, n).stem {
				m += step
			}
			if w.neighbour(j, m).stem == claim.neighbour(i, n).stem {
				return true
			}
		} else if w.neighbour(j, step).stem == claim.neighbour(i, step).stem && w.neighbour(j, n).stem == claim.neighbour(i, n).stem {
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
		for j := i + 2; j < len(shared); j++ {
			for k := i + 1; k < j; k++ {
				near := shared[j]-shared[i] <= 2*nearWords && place[i]-place[j] <= 2*nearWords
				near = near && claim.token(shared[i]).clause == claim.token(shared[j]).clause && said.token(place[i]).clause == said.token(place[j]).clause
				same := claim.token(shared[k]).raw == said.token(place[k]).raw && !claim.token(shared[k]).literal // not "communicate" for "communication"
				if near && same && place[j] < place[k] && place[k] < place[i] {
					return "“" + claim.token(shared[i]).raw + "” and “" + claim.token(shared[j]).raw + "” have changed places"
				}
			}
		}
	}
	return ""
}
