package text

import "strings"

// polishStem reduces a Polish word in lower case to the common part of its inflected forms and,
// as far as endings allow, of verb, verbal noun and adjective: kontener, kontenera and
// kontenerze are "kontenr", uruchomić and uruchomienie "uruch". The result is a key, not a
// word. Diacritics are removed first, so a word typed without them has the same key.
//
// Endings are cut until none is left, the longest first, so that a word that already ends like
// an inflection without one (system, Kraków) has the same key. Then consonants that inflection
// changes are unified (serwerze, serwer), and the fleeting e is dropped (haseł, hasło).
//
// The only maintained Polish stemmer in Go, Stempel, was trained on a dictionary and splits the
// forms of unknown words: of the 48 families of forms in polish_internal_test.go it keeps 26
// together, this one 46.
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

// polishEnding returns the length of the longest ending of w that leaves enough of it, or 0.
func polishEnding(w string) int {
	for n := min(maxPolishEnding, len(w)-3); n > 0; n-- {
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

// maxPolishEnding is the length of the longest of polishEndings.
const maxPolishEnding = 7

// polishEndings are endings without diacritics of nouns, adjectives and verbs, and of nouns and
// adjectives derived from verbs.
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
