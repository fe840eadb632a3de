package text

import (
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
	"github.com/clipperhouse/uax29/v2/words"
)

// maxLanguage is how much of a text Language looks at, in bytes.
const maxLanguage = 4096

// questionWords is how many words a text has at most whose first one is looked at as
// that of a question.
const questionWords = 12

// minSigns is how many signs a language other than English must give.
const minSigns = 2

// Language returns the ISO 639-1 code of the language a text is written in, as
// far as a search engine needs to know it. Texts in Latin letters: en, pl, vi,
// de, fr, es, it, pt, cs; in other scripts the main language of the script. A text
// that gives no sign, such as a product name, is "en".
func Language(s string) string {
	if len(s) > maxLanguage {
		s = strings.ToValidUTF8(s[:maxLanguage], "")
	}
	if lang := byScript(s); lang != "" {
		return lang
	}
	v, n := vote(s)
	if 1 < n && n <= questionWords {
		for i, lang := range languages {
			v[i] += opening(lang, s)
		}
	}
	best, second := ranked(v)
	if v[best] < minSigns {
		best = 0 // one small word may be of any language
	}
	if v[best] > 0 && (v[best] >= second+2 || best == 0 && v[0] >= second && v[0] > 0) {
		return languages[best]
	}
	if n >= 8 {
		info := whatlanggo.DetectWithOptions(s, whatlanggo.Options{Whitelist: latin()})
		if info.Confidence >= 0.9 {
			return info.Lang.Iso6391()
		}
	}
	if v[best] > second {
		return languages[best]
	}
	return "en"
}

// languages in Latin letters, in order of preference where signs are equal.
//
//nolint:gochecknoglobals // a constant that Go has no syntax for
var languages = [...]string{"en", "pl", "vi", "de", "fr", "es", "it", "pt", "cs"}

func latin() map[whatlanggo.Lang]bool {
	return map[whatlanggo.Lang]bool{
		whatlanggo.Eng: true, whatlanggo.Pol: true, whatlanggo.Vie: true, whatlanggo.Deu: true, whatlanggo.Fra: true,
		whatlanggo.Spa: true, whatlanggo.Ita: true, whatlanggo.Por: true, whatlanggo.Ces: true,
	}
}

// byScript returns the language of a text whose letters are mostly not Latin,
// "" for others.
func byScript(s string) string {
	var latin, other, kana, cyrillic, ukrainian int
	counts := map[string]int{}
	for _, r := range s {
		switch {
		case r < 0x250 || !unicode.IsLetter(r) || unicode.Is(unicode.Latin, r):
			if unicode.IsLetter(r) {
				latin++
			}
			continue
		case unicode.In(r, unicode.Hiragana, unicode.Katakana):
			kana++
		case unicode.Is(unicode.Cyrillic, r):
			cyrillic++
			if strings.ContainsRune("іїєґІЇЄҐ", r) {
				ukrainian++
			}
		default:
			counts[scriptLanguage(r)]++
		}
		other++
	}
	if other == 0 || other*3 < latin { // names of products stay in Latin letters
		return ""
	}
	switch {
	case kana > 0 && kana*10 >= other:
		return "ja"
	case cyrillic*2 > other && ukrainian > 0:
		return "uk"
	case cyrillic*2 > other:
		return "ru"
	}
	best := ""
	for lang, n := range counts {
		if n > counts[best] || n == counts[best] && lang < best {
			best = lang
		}
	}
	return best
}

func scriptLanguage(r rune) string {
	for _, s := range []struct {
		table *unicode.RangeTable
		lang  string
	}{
		{unicode.Han, "zh"},
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
	} {
		if unicode.Is(s.table, r) {
			return s.lang
		}
	}
	return ""
}

// vote counts signs for each of languages: two for a letter that only this one
// uses (once a word), one for a function word. n is how many words there were.
func vote(s string) (v [len(languages)]int, n int) {
	it := words.FromString(s)
	for it.Next() {
		w := it.Value()
		if !isWord(w) {
			continue
		}
		n++
		w = lower(w)
		for i, lang := range languages {
			if votes(lang, w) {
				v[i]++
			}
			if strings.ContainsAny(w, letters(lang)) {
				v[i] += 2
			}
		}
	}
	return v, n
}

func ranked(v [len(languages)]int) (best, second int) {
	for i, n := range v {
		if n > v[best] {
			best = i
		}
	}
	for i, n := range v {
		if i != best && n > second {
			second = n
		}
	}
	return best, second
}

// letters returns those that, among languages, only this one uses.
func letters(lang string) string {
	switch lang {
	case "pl":
		return "ąęłńśźżć"
	case "vi":
		return "ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹĩũ"
	case "de":
		return "äß"
	case "fr":
		return "œëûî"
	case "es":
		return "ñ¿¡"
	case "pt":
		return "ãõ"
	case "cs":
		return "ěščřžťďňů"
	}
	return ""
}
