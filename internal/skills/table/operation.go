package table

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/internal/text"
)

// Operation is what a question asks to be calculated from a table.
type Operation int

const (
	// Counting asks how many rows there are.
	Counting Operation = iota
	summing
	totalling // as summing, but only of a column that is named: "total orders" may be a count
	averaging
	highest
	lowest
	comparing // which is not computed
)

// operationSigns are the words for operations in English, German, Polish and Vietnamese, in one of their forms.
var operationSigns = [...]string{
	Counting:  "how many, number of, count of, wie viele, wieviele, anzahl, ile, ilu, liczba, bao nhiêu, số lượng",
	summing:   "sum, summe, suma",
	totalling: "total, in total, altogether, together, gesamt, gesamtsumme, gesamtbetrag, insgesamt, zusammen, łączna, łącznie, razem, tổng, tổng cộng",
	averaging: "average, durchschnitt, durchschnittlich, mittelwert, średnia, trung bình",
	highest:   "highest, largest, biggest, greatest, most, höchst, größt, meist, najwyższa, największa, najwięcej, cao nhất, lớn nhất, nhiều nhất",
	lowest:    "lowest, smallest, fewest, least, niedrigst, kleinst, geringst, wenigst, najniższa, najmniejsza, najmniej, thấp nhất, nhỏ nhất, ít nhất",
	comparing: "more, fewer, less, compare, oldest, newest, cheapest, mehr, weniger, ältest, neuest, günstigst, teuerst, więcej, mniej, najstarszy, najnowszy, najtańszy, najdroższy, cũ nhất, mới nhất, rẻ nhất, đắt nhất, nhiều hơn, ít hơn",
}

// signAt returns the operation of the longest sign that words begin with, and its length in words; 0 without one.
func signAt(words []string) (of Operation, length int) {
	for o, list := range signs() {
		for _, sign := range list {
			if len(sign) > length && startsWith(words, sign) {
				of, length = Operation(o), len(sign)
			}
		}
	}
	return of, length
}

// signs are the words of each of operationSigns.
var signs = sync.OnceValue(func() (out [len(operationSigns)][][]string) {
	for o, list := range operationSigns {
		for phrase := range strings.SplitSeq(list, ", ") {
			out[o] = append(out[o], wordsOf(phrase))
		}
	}
	return out
})

// Adds reports whether an operation is a sum.
func (o Operation) Adds() bool { return o == summing || o == totalling }

// Asked returns the last operation, in their order, that a text asks for; false if it asks for none.
func Asked(s string) (of Operation, ok bool) {
	for words := wordsOf(s); len(words) > 0; words = words[1:] {
		if o, n := signAt(words); n > 0 {
			of, ok = max(o, of), true
		}
	}
	return of, ok
}

// Words that limit nothing, words for rows, and labels of rows with totals. Words such as "or", "not", "over" or
// "last" are missing, since they change the result.
//
//nolint:gochecknoglobals // tables
var (
	emptyWords = wordSet(`a an the of in on at for from by with to is are was were be there do does did we i you our my all has have had what which who whose show me give tell please
		der die das den dem des ein eine einen einer eines im am an auf für von vom zu zum zur mit bei ist sind war waren gibt es wir ich haben hat welche welcher welches was wer wie hoch groß aller alle allen
		jest są było był w we z ze na do dla jaki jaka jakie który która które kto co wszystkie wszystkich mamy ma
		có là của ở tại trong cho các những nào ai gì được tất cả số`)
	rowWords   = wordSet(`row rows entry entries record records zeile zeilen eintrag einträge wiersz wiersze wierszy wpis wpisów pozycji dòng mục`)
	codeWords  = wordSet("nr no number id nummer numer code kod plz zip")     // in names of columns whose numbers are codes
	unitWords  = wordSet("currency unit währung einheit waluta jednostka tệ") // in names of columns with units
	spellings  = strings.NewReplacer("ł", "l", "ß", "ss", "ae", "a", "oe", "o", "ue", "u")
	endings    = strings.Fields(`s es e en er em n ns y ies a ow i ie iem u iu om ami ach ia iach ego ej ych ich ym ymi o owi cy kow kami`)
	totalWords = wordSet(`total totals subtotal sum grand summe zwischensumme gesamt gesamtsumme endsumme insgesamt razem suma ogółem łącznie tổng cộng average durchschnitt mittelwert średnia średnio`)
)

func wordSet(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range wordsOf(s) {
		out[w] = true
	}
	return out
}

var comparedWord = regexp.MustCompile(`\d+(?:[.,'’]\d+)+|[\pL\pN\pM]+|\p{Sc}|%`)

// wordsOf returns the words, numbers and signs of units of a text as they are compared: in lower case, without
// diacritics, and with one spelling for ä and ae.
func wordsOf(s string) []string {
	return comparedWord.FindAllString(text.Fold(spellings.Replace(strings.ToLower(s))), -1)
}

// sameForm reports whether two words are equal, or differ only in endings of forms.
func sameForm(a, b string) bool {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	const least = 3 // letters that two forms share, and half of the longer one
	ends := func(s string) bool { return s == "" || slices.Contains(endings, s) }
	return a == b || n >= least && 2*n >= max(len(a), len(b)) && ends(a[n:]) && ends(b[n:])
}

// hasForm reports whether a list has a form of a word.
func hasForm(list []string, word string) bool {
	return slices.ContainsFunc(list, func(w string) bool { return sameForm(w, word) })
}

// startsWith reports whether words begin with forms of the words of a phrase.
func startsWith(words, phrase []string) bool {
	return 0 < len(phrase) && len(phrase) <= len(words) && slices.EqualFunc(words[:len(phrase)], phrase, sameForm)
}
