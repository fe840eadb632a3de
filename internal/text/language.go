package text

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// latinLanguage is a language in Latin letters that has stop words.
type latinLanguage struct {
	code    string
	letters string // rare in other languages
}

// latinLanguages are the languages in Latin letters. Among languages with equal votes the first counts.
var latinLanguages = [...]latinLanguage{
	{"pl", "ąęłńśźżć"},
	{"cs", "ěřůčšžťďň"},
	{"da", "åøæ"},
	{"de", "äöüß"},
	{"es", "ñíóú¿¡"},
	{"fi", "äö"},
	{"fr", "œçêèàûî"},
	{"hu", "őűöü"},
	{"it", "èìò"},
	{"nl", ""},
	{"no", "åøæ"},
	{"pt", "ãõçêíóú"},
	{"ro", "ășțşţâî"},
	{"sv", "åäö"},
	{"tr", "ğışçöü"},
	{"en", ""},
	{"vi", ""}, // its letters have their own rule
}

// Positions of English and Vietnamese in latinLanguages.
const (
	ofEnglish    = len(latinLanguages) - 2
	ofVietnamese = len(latinLanguages) - 1
)

// maxLanguage is the number of bytes used to detect the language of a text.
const maxLanguage = 2048

// Language returns the ISO 639-1 code of the language of a text, as far as a search engine
// needs it: of a text in Latin letters one that has stop words, in other scripts the main
// language of the script. A text without evidence, such as a product name, is "en".
func Language(s string) string {
	s = s[:min(len(s), maxLanguage)]
	if lang := byScript(s); lang != "" {
		return lang
	}
	lang, t := clearly(s)
	if lang == "" {
		lang = t.likely(s)
	}
	return lang
}

// clearly returns the language of a text in Latin letters, or "" if it is unclear, and the
// votes for each. Vietnamese names do not make a text Vietnamese.
func clearly(s string) (lang string, t tally) {
	t.add(s)
	lang = t.language(queryVotes)
	if lang == "" && isVietnamese(s) {
		lang = "vi"
	}
	return lang, t
}

// LanguageUnknown reports whether a text in Latin letters has no sign of its language, such as one of names and nouns.
func LanguageUnknown(s string) bool {
	_, t := clearly(s)
	return byScript(s) == "" && slices.Max(t.votes[:]) < likelyVotes
}

// tally counts votes for each language in a text. Each function word has one vote, however
// often it occurs, shared among the languages that have the word. A letter that few languages
// use, and a syllable with Vietnamese marks, have half a vote.
type tally struct {
	votes     [len(latinLanguages)]float32
	words     int
	syllables int     // words with Vietnamese marks
	signs     []*sign // that voted, in order
	seen      map[*sign]bool
}

// A language is clear with a minimum number of votes, a minimum share of the words, and a
// multiple of the votes of every other language. Running text has a vote for every third to
// tenth word; code, tables and lists of names have few.
const (
	clearVotes  = 3   // for a part of a document
	fewVotes    = 1.5 // for a whole document
	queryVotes  = 1.1
	clearShare  = 0.03
	clearFactor = 1.5
)

// neighbours have most function words in common, so the second does not make the first unclear.
const neighbours = "da no"

// language returns the language that has at least minVotes votes and clearly more than the
// others, or "".
func (t *tally) language(minVotes float32) string {
	best, second := 0, float32(0)
	for i, n := range t.votes {
		if n > t.votes[best] {
			best = i
		}
	}
	for i, n := range t.votes {
		near := strings.Contains(neighbours, latinLanguages[i].code) && strings.Contains(neighbours, latinLanguages[best].code)
		if i != best && !near {
			second = max(second, n)
		}
	}
	if top := t.votes[best]; top < minVotes || top < clearShare*float32(t.words) || top < clearFactor*second {
		return ""
	}
	return latinLanguages[best].code
}

// A language other than English needs these votes and share of the words in a text that is
// unclear, such as a question of three words.
const (
	likelyVotes = 0.5
	likelyShare = 0.1
)

// likely returns the language of a text that is unclear: English, unless another language has
// more votes.
func (t *tally) likely(s string) string {
	top := slices.Max(t.votes[:])
	if top < likelyVotes || top < likelyShare*float32(t.words) || t.votes[ofEnglish]*clearFactor >= top || t.words < 2 && isASCII(s) {
		return "en"
	}
	return latinLanguages[slices.Index(t.votes[:], top)].code
}

// sign is a word or letter that votes for the languages whose bits are set in mask.
type sign struct {
	mask uint32
	vote float32
}

var signs = sync.OnceValue(func() map[string]*sign {
	out := map[string]*sign{}
	add := func(language int, vote float32, what ...string) {
		for _, w := range what {
			if vote == 1 && utf8.RuneCountInString(w) == 1 {
				continue // variables, options, sections
			}
			s := out[w]
			if s == nil {
				s = &sign{vote: vote}
				out[w] = s
			}
			s.mask |= 1 << language
		}
	}
	for i, l := range latinLanguages {
		for w := range stopWords()[l.code] {
			add(i, 1, w, strings.ReplaceAll(Fold(w), "ł", "l")) // many people type without diacritics
		}
		add(i, 0.5, strings.Split(l.letters, "")...)
	}
	for list, code := range signLists {
		at := slices.IndexFunc(latinLanguages[:], func(l latinLanguage) bool { return l.code == code })
		for w := range stopWords()[list] {
			add(at, 1, w)
		}
	}
	return out
})

// add counts the votes of a text.
func (t *tally) add(s string) {
	s = strings.ToLower(s[:min(len(s), maxLanguage)])
	table := signs()
	for _, r := range s {
		if r >= utf8.RuneSelf {
			t.see(table[string(r)])
		}
	}
	foreign := func(r rune) bool { // not Vietnamese
		return r >= utf8.RuneSelf && !vietnameseOnly(r) && !strings.ContainsRune("ăâêôàáãèéìíòóõùúý", r)
	}
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		t.words++
		t.see(table[word])
		if !isASCII(word) && strings.IndexFunc(word, foreign) < 0 && isSyllable(word) {
			t.syllables++
			t.votes[ofVietnamese] += 0.5
		}
	}
}

// merge counts the votes of another text.
func (t *tally) merge(o *tally) {
	for _, s := range o.signs {
		t.see(s)
	}
	t.words += o.words
	t.syllables += o.syllables
	t.votes[ofVietnamese] += 0.5 * float32(o.syllables)
}

// see counts a sign, which may be nil, once.
func (t *tally) see(s *sign) {
	if s == nil || t.seen[s] {
		return
	}
	if t.seen == nil {
		t.seen = map[*sign]bool{}
	}
	t.seen[s] = true
	t.signs = append(t.signs, s)
	vote := s.vote / float32(bits.OnesCount32(s.mask))
	for mask := s.mask; mask != 0; mask &= mask - 1 {
		t.votes[bits.TrailingZeros32(mask)] += vote
	}
}

// scripts are the scripts other than Latin, each with its main language.
var scripts = []struct {
	table *unicode.RangeTable
	lang  string
}{
	{unicode.Cyrillic, "ru"},
	{unicode.Han, "zh"},
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Thai, "th"},
	{unicode.Arabic, "ar"},
	{unicode.Hebrew, "he"},
	{unicode.Greek, "el"},
	{unicode.Devanagari, "hi"},
	{unicode.Bengali, "bn"},
	{unicode.Tamil, "ta"},
	{unicode.Telugu, "te"},
	{unicode.Georgian, "ka"},
	{unicode.Armenian, "hy"},
	{unicode.Khmer, "km"},
	{unicode.Lao, "lo"},
	{unicode.Myanmar, "my"},
}

// byScript returns the language of a text that is not in Latin letters, apart from names; ""
// for others.
func byScript(s string) string {
	latin, other, counts := 0, 0, make([]int, len(scripts))
	for _, r := range s {
		if !unicode.IsLetter(r) {
			continue
		}
		if r < 0x250 || unicode.Is(unicode.Latin, r) {
			latin++
			continue
		}
		other++
		for i, s := range scripts {
			if unicode.Is(s.table, r) {
				counts[i]++
				break
			}
		}
	}
	most := slices.Max(counts)
	if most == 0 || other*3 < latin { // names of products stay in Latin letters
		return ""
	}
	const hiragana, katakana = 2, 3
	if kana := counts[hiragana] + counts[katakana]; kana > 0 && kana*10 >= other {
		return "ja" // Japanese writes ideographs too
	}
	lang := scripts[slices.Index(counts, most)].lang
	if lang == "ru" && strings.ContainsAny(s, "іїєґІЇЄҐ") {
		return "uk"
	}
	return lang
}
