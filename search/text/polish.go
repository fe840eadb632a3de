package text

import "strings"

// polishStem cuts a Polish word in lower case to what its inflected forms and,
// as far as endings tell, verb, verbal noun and adjective have in common:
// kontener, kontenera and kontenerze are "kontenr", uruchomić and uruchomienie
// "uruch". What it gives is a key, not a word. Diacritics are taken off first,
// so a word typed without them has the same key.
//
// Endings are cut until none is left, the longest first, so that it does not
// matter whether a word ends like an inflection already without one (system,
// Kraków). Then the consonants that inflection changes are brought together
// (serwerze, serwer), and the e that comes and goes is dropped (haseł, hasło).
//
// It stands here, and not a library, because the only Polish stemmer that the Go
// world keeps, Stempel, was learnt from a dictionary and gives stems of their own
// to the forms of words outside of it: of the 48 families of forms in
// polish_internal_test.go it keeps 26 together, this 46.
func polishStem(w string) string {
	w = Fold(w)
	w = strings.ReplaceAll(w, "ł", "l") // which has no decomposition
	if len(w) < 4 || !isASCII(w) {
		return w
	}
	for _, ending := range [...]string{"iac", "ac", "ic", "yc"} { // of infinitives
		if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) >= 4 {
			w = rest
			break
		}
	}
	for before := ""; before != w; {
		before = w
		n := polishEnding(w)
		switch {
		case n == 0:
			w = strings.TrimRight(w, "ij")
		case w[len(w)-n:] == "ie" && w[len(w)-n-1] == 'c': // opłacie, opłata
			w = w[:len(w)-n-1] + "t"
		default:
			w = w[:len(w)-n]
		}
	}
	for _, change := range [...][2]string{{"sc", "st"}, {"rz", "r"}, {"dz", "d"}, {"c", "k"}} {
		if rest, ok := strings.CutSuffix(w, change[0]); ok {
			w = rest + change[1]
			break
		}
	}
	return dropFleeting(w)
}

// polishEnding returns the length of the longest ending of w that leaves enough
// of it, 0 where none does.
func polishEnding(w string) int {
	for n := min(polishLongest, len(w)-3); n > 0; n-- {
		rest := len(w) - n
		ending := w[rest:]
		switch {
		case n > 1 && rest < 4 && ending != "ie" && ending != "em" && ending != "ow" && ending != "om":
		case ending == "om" && w[rest-1] == 'i': // poziom
		case polishEndings["noun"][ending] || polishEndings["adjective"][ending] || polishEndings["verb"][ending]:
			return n
		}
	}
	return 0
}

// polishLongest is the length of the longest of polishEndings.
const polishLongest = 7

// polishEndings are endings without diacritics: of nouns, adjectives, verbs, and the
// nouns and adjectives made of verbs.
//
//nolint:gochecknoglobals // a constant table
var polishEndings = readLists(`
noun: a e i o u y em iem ie ia iu io om ow iow owi iowi owie ami iami ach iach
adjective: ego iego emu iemu ym im ymi imi ych ich ej iej osc
verb: uje uja ujac ujesz ujemy ujecie aja ajac asz amy iamy acie
verb: anie ania aniu aniem anych any ana ane anego anej anym anymi
verb: enie enia eniu eniem ienie ienia ieniu ieniem en ion iet iecie iecia ieciu ieciem acj`)

// dropFleeting drops the e before a last consonant.
func dropFleeting(w string) string {
	n := len(w)
	if n < 4 || w[n-2] != 'e' || !strings.ContainsRune("klmnrt", rune(w[n-1])) {
		return w
	}
	before := n - 2
	if w[before-1] == 'i' && before > 2 { // okien, okno
		before--
	}
	if strings.IndexByte("aeiouy", w[before-1]) >= 0 {
		return w
	}
	return w[:before] + w[n-1:]
}
