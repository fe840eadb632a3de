package cite

import (
	"slices"
	"strings"
	"sync"
)

// spelled returns the digits of a number that a language writes out as word, ""
// for another word. One, and words that mean other things too, are no figures.
func spelled(language, word string) string {
	switch language {
	case "en":
		return digitsOf(englishNumbers, word)
	case "pl":
		return digitsOf(polishNumbers, word)
	}
	return ""
}

// Numbers as words: "digits word word…" from two upwards.
const (
	englishNumbers = "2 two|3 three|4 four|5 five|6 six|7 seven|8 eight|9 nine|10 ten|11 eleven|12 twelve"
	polishNumbers  = "2 dwa dwie dwóch dwoma dwu|3 trzy trzech trzema|4 cztery czterech czterema|5 pięć pięciu|6 sześć sześciu|" +
		"7 siedem siedmiu|8 osiem ośmiu|9 dziewięć dziewięciu|10 dziesięć dziesięciu|11 jedenaście jedenastu|12 dwanaście dwunastu"
	vietnameseNumbers = "2 hai|3 ba|4 bốn|5 năm|6 sáu|7 bảy|8 tám|9 chín|10 mười"
)

func digitsOf(numbers, word string) string {
	if !strings.Contains(numbers, word) { // nearly all words
		return ""
	}
	for row := range strings.SplitSeq(numbers, "|") {
		if forms := strings.Fields(row); slices.Contains(forms[1:], word) {
			return forms[0]
		}
	}
	return ""
}

// writings are the other ways in which languages write a small number.
func writings(literal string) []string {
	if len(literal) > 2 && literal[0] >= '0' && literal[0] <= '9' {
		return nil
	}
	return writingsOf()[literal]
}

// writingsOf are the forms of all rows of the tables that hold a form.
var writingsOf = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for _, numbers := range []string{englishNumbers, polishNumbers, vietnameseNumbers} {
		for row := range strings.SplitSeq(numbers, "|") {
			forms := strings.Fields(row)
			for _, form := range forms {
				out[form] = append(out[form], forms...)
			}
		}
	}
	return out
})

// Negates reports whether a word denies what follows, in English, Polish or
// Vietnamese.
func Negates(w string) bool {
	switch w {
	case "not", "never", "no", "without", "cannot", "nor", "neither", "none", "nothing", "hardly", "lack", "lacks",
		"nie", "nigdy", "bez", "ani", "żaden", "żadna", "żadne", "brak",
		"không", "chưa", "chẳng", "đừng", "chớ":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

// only reports whether a word takes a negation back: not only, nie tylko.
func only(w string) bool { return w == "only" || w == "tylko" || w == "chỉ" }

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
