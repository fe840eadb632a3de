package text

import "github.com/kljensen/snowball/english"

// englishStem is the Porter2 stemmer of English, as the Snowball project describes
// it (snowballstem.org/algorithms/english/stemmer.html), for one word in lower case.
// Words of ASCII are stemmed byte by byte, in a fifth of the time that the library
// takes, and come out as the library has them; other words are left to it.
func englishStem(word string) string {
	if len(word) <= 2 {
		return word
	}
	if len(word) > maxStemmed || !plainLower(word) {
		return english.Stem(word, true)
	}
	if stem := englishException(word); stem != "" {
		return stem
	}
	var memory [maxStemmed + 1]byte // taking an ending off may leave room for an e
	w := porter{b: append(memory[:0], word...)}
	w.prepare()
	w.possessive()
	w.plural()
	w.participle()
	if n := len(w.b); n > 2 && w.b[n-1]|0x20 == 'y' && !isVowel(w.b[n-2]) { // step 1c
		w.b[n-1] = 'i'
	}
	w.derived()
	w.shortened()
	w.residual()
	w.final()
	for i, c := range w.b {
		if c == 'Y' {
			w.b[i] = 'y'
		}
	}
	if string(w.b) == word {
		return word // no allocation
	}
	return string(w.b)
}

// plainLower reports whether a word is of ASCII, without large letters, space, and an
// apostrophe in front.
func plainLower(word string) bool {
	for i := range len(word) {
		if c := word[i]; c <= ' ' || c >= 0x7f || isUpper(c) {
			return false
		}
	}
	return word[0] != '\''
}

// englishException returns the stem of a word that is not stemmed by rule, "" for
// every other.
func englishException(word string) string {
	switch word {
	case "skis":
		return "ski"
	case "skies":
		return "sky"
	case "dying":
		return "die"
	case "lying":
		return "lie"
	case "tying":
		return "tie"
	case "idly":
		return "idl"
	case "gently":
		return "gentl"
	case "ugly":
		return "ugli"
	case "early":
		return "earli"
	case "only":
		return "onli"
	case "singly":
		return "singl"
	case "innings", "outings", "cannings", "herrings", "earrings":
		return word[:len(word)-1]
	case "sky", "news", "howe", "atlas", "cosmos", "bias", "andes", "inning", "outing", "canning", "herring", "earring":
		return word
	case "proceed", "proceeds", "proceeded", "proceeding":
		return "proceed"
	case "exceed", "exceeds", "exceeded", "exceeding":
		return "exceed"
	case "succeed", "succeeds", "succeeded", "succeeding":
		return "succeed"
	}
	return ""
}

// porter is a word on its way to its stem. A y that is a consonant is written Y.
type porter struct {
	b      []byte
	r1, r2 int // where the regions behind the first and second vowel and consonant begin
}

func isVowel(c byte) bool {
	switch c {
	case 'a', 'e', 'i', 'o', 'u', 'y':
		return true
	}
	return false
}

func (w *porter) prepare() {
	for i, c := range w.b {
		if c == 'y' && (i == 0 || isVowel(w.b[i-1])) {
			w.b[i] = 'Y'
		}
	}
	w.r1 = w.region(0)
	for _, prefix := range [...]string{"gener", "commun", "arsen"} {
		if len(w.b) >= len(prefix) && string(w.b[:len(prefix)]) == prefix {
			w.r1 = len(prefix)
		}
	}
	w.r2 = w.region(w.r1)
}

// region returns what comes behind the first consonant that follows a vowel, from a
// place on.
func (w *porter) region(from int) int {
	for i := from + 1; i < len(w.b); i++ {
		if isVowel(w.b[i-1]) && !isVowel(w.b[i]) {
			return i + 1
		}
	}
	return len(w.b)
}

func (w *porter) ends(suffix string) bool {
	at := len(w.b) - len(suffix)
	return at >= 0 && string(w.b[at:]) == suffix
}

// last returns the last letter, 0 where none is left.
func (w *porter) last() byte {
	if len(w.b) == 0 {
		return 0
	}
	return w.b[len(w.b)-1]
}

// first returns the first of some endings that the word has, "" for none.
func (w *porter) first(suffixes ...string) string {
	for _, s := range suffixes {
		if w.ends(s) {
			return s
		}
	}
	return ""
}

// cut takes so many letters off the end and puts others there.
func (w *porter) cut(n int, replacement string) {
	at := len(w.b) - n
	w.b = w.b[:at+copy(w.b[at:cap(w.b)], replacement)] // what is put there is shorter but for an e
	w.r1, w.r2 = min(w.r1, len(w.b)), min(w.r2, len(w.b))
}

// in reports whether the last n letters lie in a region.
func (w *porter) in(region, n int) bool { return n <= len(w.b)-region }

// voiced reports whether there is a vowel among the first n letters.
func (w *porter) voiced(n int) bool {
	for i := range n {
		if isVowel(w.b[i]) {
			return true
		}
	}
	return false
}

// shortSyllable reports whether the first n letters end in a short syllable.
func (w *porter) shortSyllable(n int) bool {
	switch {
	case n == 2:
		return isVowel(w.b[0]) && !isVowel(w.b[1])
	case n > 2:
		last := w.b[n-1]
		return !isVowel(last) && last != 'w' && last != 'x' && last != 'Y' && isVowel(w.b[n-2]) && !isVowel(w.b[n-3])
	}
	return false
}

// possessive is step 0.
func (w *porter) possessive() {
	if n := len(w.b); w.b[n-1] == '\'' || w.b[n-1] == 's' && w.b[n-2] == '\'' {
		w.cut(len(w.first("'s'", "'s", "'")), "")
	}
}

// plural is step 1a.
func (w *porter) plural() {
	suffix := ""
	switch w.last() {
	case 's':
		suffix = w.first("sses", "ies", "us", "ss", "s")
	case 'd':
		suffix = w.first("ied")
	}
	switch suffix {
	case "sses":
		w.cut(2, "")
	case "ied", "ies":
		if len(w.b) > 4 {
			w.cut(2, "")
		} else {
			w.cut(1, "")
		}
	case "s":
		if w.voiced(len(w.b) - 2) { // gaps, not gas
			w.cut(1, "")
		}
	}
}

// participle is step 1b.
func (w *porter) participle() {
	suffix := ""
	switch w.last() {
	case 'd':
		suffix = w.first("eed", "ed")
	case 'g':
		suffix = w.first("ing")
	case 'y':
		suffix = w.first("eedly", "ingly", "edly")
	}
	switch suffix {
	case "":
		return
	case "eed", "eedly":
		if w.in(w.r1, len(suffix)) {
			w.cut(len(suffix)-2, "")
		}
		return
	}
	if !w.voiced(len(w.b) - len(suffix)) {
		return
	}
	r1, r2 := w.r1, w.r2
	w.cut(len(suffix), "")
	switch w.first("at", "bl", "iz", "bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt") {
	case "at", "bl", "iz":
		w.cut(0, "e")
	case "":
		if w.r1 == len(w.b) && w.shortSyllable(len(w.b)) {
			w.cut(0, "e")
			r1, r2 = len(w.b), len(w.b)
		}
	default:
		w.cut(1, "")
	}
	w.r1, w.r2 = min(r1, len(w.b)), min(r2, len(w.b))
}

// derived is step 2.
func (w *porter) derived() {
	suffix := ""
	switch w.last() {
	case 'i':
		suffix = w.first("biliti", "lessli", "aliti", "entli", "fulli", "iviti", "ousli", "anci", "abli", "alli", "enci", "bli", "ogi", "li")
	case 'l':
		suffix = w.first("ational", "tional")
	case 'm':
		suffix = w.first("alism")
	case 'n':
		suffix = w.first("ization", "ation")
	case 'r':
		suffix = w.first("ator", "izer")
	case 's':
		suffix = w.first("fulness", "iveness", "ousness")
	}
	if suffix == "" || !w.in(w.r1, len(suffix)) {
		return
	}
	switch suffix {
	case "li":
		if len(w.b) >= 3 {
			switch w.b[len(w.b)-3] {
			case 'c', 'd', 'e', 'g', 'h', 'k', 'm', 'n', 'r', 't':
				w.cut(2, "")
			}
		}
	case "ogi":
		if len(w.b) >= 4 && w.b[len(w.b)-4] == 'l' {
			w.cut(1, "")
		}
	case "tional", "entli", "ousli", "fulli", "lessli", "alli":
		w.cut(2, "")
	case "fulness", "iveness", "ousness":
		w.cut(4, "")
	case "enci", "anci", "abli", "bli":
		w.cut(1, "e")
	case "izer":
		w.cut(1, "")
	case "ization":
		w.cut(5, "e")
	case "ational":
		w.cut(5, "e")
	case "ation":
		w.cut(3, "e")
	case "ator":
		w.cut(2, "e")
	case "alism", "aliti":
		w.cut(3, "")
	case "iviti":
		w.cut(3, "e")
	case "biliti":
		w.cut(5, "le")
	}
}

// shortened is step 3.
func (w *porter) shortened() {
	suffix := ""
	switch w.last() {
	case 'e':
		suffix = w.first("alize", "icate", "ative")
	case 'i':
		suffix = w.first("iciti")
	case 'l':
		suffix = w.first("ational", "tional", "ical", "ful")
	case 's':
		suffix = w.first("ness")
	}
	if suffix == "" || !w.in(w.r1, len(suffix)) {
		return
	}
	switch suffix {
	case "ational":
		w.cut(5, "e")
	case "tional", "ical":
		w.cut(2, "")
	case "alize", "icate", "iciti":
		w.cut(3, "")
	case "ative":
		if w.in(w.r2, len(suffix)) {
			w.cut(len(suffix), "")
		}
	default:
		w.cut(len(suffix), "")
	}
}

// residual is step 4.
func (w *porter) residual() {
	suffix := ""
	switch w.last() {
	case 'c':
		suffix = w.first("ic")
	case 'e':
		suffix = w.first("ance", "ence", "able", "ible", "ate", "ive", "ize")
	case 'i':
		suffix = w.first("iti")
	case 'l':
		suffix = w.first("al")
	case 'm':
		suffix = w.first("ism")
	case 'n':
		suffix = w.first("ion")
	case 'r':
		suffix = w.first("er")
	case 's':
		suffix = w.first("ous")
	case 't':
		suffix = w.first("ement", "ment", "ent", "ant")
	}
	if !w.in(w.r2, len(suffix)) {
		return
	}
	if suffix == "ion" {
		if n := len(w.b); n < 4 || w.b[n-4] != 's' && w.b[n-4] != 't' {
			return
		}
	}
	w.cut(len(suffix), "")
}

// final is step 5.
func (w *porter) final() {
	last := len(w.b) - 1
	switch {
	case w.r1 > last:
	case w.b[last] == 'e' && (w.r2 <= last || !w.shortSyllable(last)),
		w.b[last] == 'l' && w.r2 <= last && last > 0 && w.b[last-1] == 'l':
		w.cut(1, "")
	}
}
