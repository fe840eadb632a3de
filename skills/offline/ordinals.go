package offline

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// word is a word of a text in lower case, with its place.
type word struct {
	text       string
	start, end int
}

// wordsAt are the words of s, numbers after "#" included.
func wordsAt(s string) []word {
	var out []word
	start := -1
	for i, r := range s + " " {
		switch in := isWordRune(r); {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			out = append(out, word{strings.ToLower(s[start:i]), start, i})
			start = -1
		}
	}
	return out
}

// last is the place of "the last one".
const last = -1

// ordinals are words for a place in a list, by language, with the places they
// stand for. Polish ones are stems: their endings vary.
const (
	englishOrdinals    = "first 1st second 2nd third 3rd fourth 4th fifth 5th sixth 6th seventh 7th eighth 8th ninth 9th tenth 10th"
	englishNumbers     = "one two three four five six seven eight nine ten"
	polishOrdinals     = "pierwsz drug trzeci czwart piąt szóst siódm ósm dziewiąt dziesiąt"
	vietnameseOrdinals = "nhất hai ba tư năm sáu bảy tám chín mười"
	vietnameseNumbers  = "một hai ba bốn năm sáu bảy tám chín mười"
)

// listNouns are what an item of a list is called; Polish ones are stems.
const (
	englishNouns    = "one ones option step item point way method choice bullet command example possibility alternative solution suggestion approach entry number no"
	polishNouns     = "opcj krok punkt sposób sposob metod możliwoś polece przykład pozycj wariant rozwiąza numer"
	vietnameseNouns = "bước cách mục điểm cái ý lệnh ví_dụ lựa_chọn phương_án tùy_chọn giải_pháp số"
	vietnameseKinds = "loại kiểu dạng chiếc" // of which a number alone makes a name: loại 2
)

// The words that stand before an ordinal which points at something named before, and
// not at a thing named behind it: "ta druga".
const (
	englishPointer = "the"
	polishPointers = "ten ta to tę tą tej tego temu tym"
)

// pointing finds a place in a list that a turn names: "the second one", "step
// 3", "the last option", "trzeci krok", "cách thứ hai". It returns the place,
// from 1 or [last], and the bytes of s that name it.
func pointing(s string) (place, start, end int, ok bool) {
	ws := wordsAt(s)
	for i := range ws {
		if p, n := placeAt(s, ws, i); n > 0 {
			start, end = ws[i].start, ws[i+n-1].end
			if i > 0 && (slices.Contains([]string{"the", "that", "your"}, ws[i-1].text) || slices.Contains(strings.Fields(polishPointers), ws[i-1].text)) {
				start = ws[i-1].start
			}
			return p, start, end, true
		}
	}
	return 0, 0, 0, false
}

// placeAt reads the words of s from i on; n is how many name the place.
func placeAt(s string, ws []word, i int) (place, n int) {
	at := func(j int) string {
		if j < len(ws) {
			return ws[j].text
		}
		return ""
	}
	noun, width := listNoun(ws, i)
	switch p, ordinal := ordinalOf(at(i)); {
	case ordinal && isListNoun(at(i+1)):
		return p, 2
	case ordinal && i+1 == len(ws) && (i == 0 || len(ws) <= 3):
		return p, 1 // "and the second?"
	case ordinal && i > 0 && pointsAlone(s, ws, i):
		return p, 1
	case slices.Contains(strings.Fields(vietnameseKinds), at(i)):
		if p, n := vietnamesePlace(ws, i+1); n > 0 {
			return p, 1 + n
		}
	case noun:
		if p, n := vietnamesePlace(ws, i+width); n > 0 {
			return p, width + n
		}
		if p := number(at(i + width)); p > 0 {
			return p, width + 1
		}
	}
	return 0, 0
}

// pointsAlone reports whether the ordinal at word i, which is not the first one, has a
// pointer before it and no thing behind it: "is the first of them …", "a ta druga, …".
func pointsAlone(s string, ws []word, i int) bool {
	lang := "en"
	if before := ws[i-1].text; before != englishPointer {
		if lang = "pl"; !slices.Contains(strings.Fields(polishPointers), before) {
			return false
		}
	}
	return i+1 == len(ws) || strings.IndexByte(",;:", s[ws[i].end]) >= 0 || functionWord(lang, ws[i+1].text)
}

// ordinalOf is the place that a word of English or Polish names.
func ordinalOf(w string) (place int, ok bool) {
	switch w {
	case "last", "final", "latter":
		return last, true
	case "former":
		return 1, true
	}
	if i := slices.Index(strings.Fields(englishOrdinals), w); i >= 0 {
		return i/2 + 1, true
	}
	if strings.HasPrefix(w, "ostatni") {
		return last, true
	}
	for i, stem := range strings.Fields(polishOrdinals) {
		if rest, ok := strings.CutPrefix(w, stem); ok && (polishEnding(rest) || stem == "trzeci" && rest == "") {
			return i + 1, true
		}
	}
	return 0, false
}

func polishEnding(rest string) bool {
	return slices.Contains([]string{"y", "i", "a", "e", "ą", "ej", "iej", "ego", "iego", "emu", "iemu", "ym", "im", "m", "ie"}, rest)
}

// isListNoun reports whether a word of English or Polish names an item.
func isListNoun(w string) bool {
	return slices.ContainsFunc(strings.Fields(englishNouns), func(n string) bool { return w == n || w == n+"s" }) ||
		slices.ContainsFunc(strings.Fields(polishNouns), func(n string) bool {
			return strings.HasPrefix(w, n) && len(w) <= len(n)+len("ami")
		})
}

// listNoun reports whether a noun for an item begins at word i, and how many
// words it has.
func listNoun(ws []word, i int) (ok bool, width int) {
	if ws[i].text != "one" && isListNoun(ws[i].text) {
		return true, 1
	}
	for n := range strings.FieldsSeq(vietnameseNouns) {
		parts := strings.Split(n, "_")
		if i+len(parts) <= len(ws) && slices.EqualFunc(parts, ws[i:i+len(parts)], func(p string, w word) bool { return p == w.text }) {
			return true, len(parts)
		}
	}
	return false, 0
}

// vietnamesePlace reads what follows a noun: "thứ hai", "đầu tiên", "cuối cùng".
func vietnamesePlace(ws []word, i int) (place, n int) {
	if i >= len(ws) {
		return 0, 0
	}
	next := ""
	if i+1 < len(ws) {
		next = ws[i+1].text
	}
	switch {
	case ws[i].text == "đầu" && next == "tiên":
		return 1, 2
	case ws[i].text == "cuối" && next == "cùng":
		return last, 2
	case ws[i].text == "cuối":
		return last, 1
	case ws[i].text == "thứ":
		if p := slices.Index(strings.Fields(vietnameseOrdinals), next); p >= 0 {
			return p + 1, 2
		}
		if p := number(next); p > 0 {
			return p, 2
		}
	}
	return 0, 0
}

// number is the count that a word or its digits stand for, 0 for none.
func number(w string) int {
	if w == "" {
		return 0
	}
	for _, table := range []string{englishNumbers, vietnameseNumbers} {
		if i := slices.Index(strings.Fields(table), w); i >= 0 {
			return i + 1
		}
	}
	if strings.IndexFunc(w, func(r rune) bool { return !unicode.IsDigit(r) }) >= 0 || len(w) > 2 {
		return 0
	}
	n, err := strconv.Atoi(w)
	if err != nil {
		return 0
	}
	return n
}

// listed is the item of the newest list at a place; "" where no list of the last
// two answers has one.
func listed(lists [][]string, place int) string {
	for _, list := range slices.Backward(lists[max(0, len(lists)-2):]) {
		switch {
		case len(list) == 0:
		case place == last:
			return list[len(list)-1]
		case place <= len(list):
			return list[place-1]
		default:
			return ""
		}
	}
	return ""
}
