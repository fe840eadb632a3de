package offline

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// valueKind is a kind of value that a question asks for.
type valueKind struct {
	name  string         // for the trace
	asked *regexp.Regexp // matches the question, in English, German, Polish and Vietnamese
	value *regexp.Regexp // matches a text that holds such a value
	rare  bool           // few sentences hold one
}

// valueKinds are the kinds that have signs. The first one that a question asks for counts. Persons
// and places are missing: nearly every passage has a capital letter.
var valueKinds = []valueKind{
	{
		"mobile number",
		anyOf(`(?:mobile|cell)(?:phone)?(?: phone)?(?: number)?`, `handy(?:nummer|nr)?|mobil(?:funk|telefon)?nummer`, `(?:telefon\pL*|numer\pL*|nr) kom\pL*|komórk[aęi]`, `(?:số )?di động`),
		regexp.MustCompile(`(?i)(?:mobil|cell|handy|\bkom\b|komórk|di động)[^;\n\d]{0,20}\d[\d ()/.–-]{4,}\d`),
		true,
	},
	{
		"telephone number",
		anyOf(`(?:tele)?phone number`, `telefon(?:nummer)?`, `(?:numer|nr) tel(?:efonu)?`, `số điện thoại`),
		regexp.MustCompile(`\+?\d[\d ()/.–-]{4,}\d|(?i)\b(?:ext(?:ension)?|durchwahl|wewn)\b\.?:? ?\d`),
		true,
	},
	{
		"e-mail address",
		anyOf(`e-?mail[ -]?(?:address|adresse)`, `adre\pL e-?mail`, `địa chỉ e-?mail`),
		regexp.MustCompile(`[^\s@]@[^\s@]+\.\w`),
		true,
	},
	{
		"time",
		anyOf(`what time`, `um wie ?viel uhr`, `o której`, `mấy giờ`),
		regexp.MustCompile(`(?i)\d[:.h]\d\d|\d ?(?:[ap]\.?m\b|uhr|o'clock|giờ)|\b(?:noon|midnight|mittag|mitternacht|południe|północ|nửa đêm)`),
		true,
	},
	{
		"price",
		anyOf(`(?:does|do|did|will|would) .+ costs?`, `(?:price|cost|fee|fare|rent|salary) (?:of|for)`, `kostet|kosten`, `preis`, `ile kosztuj\pL+`, `cena`, `giá (?:của|bao nhiêu)`),
		regexp.MustCompile(`(?i)[$€£¥₫]|\d.{0,3}\b(?:eur|euros?|usd|dollars?|gbp|pounds?|cents?|pence|pln|zł|złot\pL+|vnd|đồng|chf|franken)|(?:price|cost|fee|fare|rate|salary|preis|betrag|miete|cena|opłata|giá|phí)[^.]*\d|\b(?:free|kostenlos|gratis|bezpłatn\pL+|miễn phí)\b`),
		true,
	},
	{
		"date",
		anyOf(`when (?:is|are|was|were|did|does|do|will|can|must|should|has|have)`, `(?:what|which) (?:date|day|month|year)`, `(?:since|until) when`, `wann`, `(?:welche[msnr]?) (?:datum|tag|monat|jahr)`,
			`kiedy`, `którego (?:dnia|roku)|w którym roku`, `khi nào|bao giờ|(?:năm|ngày|tháng) (?:nào|mấy)`),
		regexp.MustCompile(`(?i)\b(?:19|20)\d\d\b|\b\d{1,2}(?:/\d{1,2}\b|\. ?\d{1,2}\.|(?:st|nd|rd|th)\b)|\d:\d\d|\d ?(?:[ap]\.?m\b|uhr|o'clock|giờ)|` +
			`\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mär|mai|juni|juli|okt|dez|stycz|lut|kwie|maj|czerw|lip|sierp|wrze|paźdz|listop|grud)\pL*|` +
			`\b\pL*(?:day|tag|woche|mittwoch)(?:s|en?)?\b|\b(?:weeks?|months?|years?|hours?|minutes?|seconds?|monat\pL*|jahr\pL*|stunden?|dni\pL{0,2}|tydzień|tygodni\pL*|miesiąc\pL*|miesięc\pL*|rok\pL*|godzin\pL*|poniedział\pL+|wtor\pL+|czwart\pL+|piąt\pL+|sobot\pL+|niedziel\pL+|ngày|tuần|tháng|năm|thứ)|środ\pL+`),
		false,
	},
	{
		"number",
		anyOf(`how (?:many|much|long|far|often|old|big|large|high|deep|heavy|fast|quickly|wide|tall)`, `what (?:percentage|number)`, `wie ?viele?`, `wie (?:lange|oft|hoch|gro(?:ß|ss)|weit|alt|schwer|tief|schnell)`,
			`ile`, `jak (?:długo|często|wysok\pL+|duż\pL+|daleko|szybko)`, `bao (?:nhiêu|lâu|xa)`, `mấy`),
		regexp.MustCompile(`(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|half|third|quarter|dozen|hundred|thousand|million|` +
			`eine?[rnms]?|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|einmal|zweimal|halb\pL*|hundert|tausend|` +
			`jed\pL+|dw\pL+|trz\pL+|czter\pL+|pię\pL+|sześ\pL+|siedem\pL*|osi\pL+|dziewię\pL+|dziesię\pL+|pół\pL*|sto|tysiąc\pL*|` +
			`một|hai|ba|bốn|năm|sáu|bảy|tám|chín|mười|nửa|trăm|nghìn|ngàn|triệu|no|none|never|nie|kein\pL*|unlimited|unbegrenzt|daily|hourly|weekly|monthly|yearly|täglich|wöchentlich|monatlich|codziennie)\b`),
		false,
	},
}

// wholeWords returns a pattern that matches any of some patterns as whole words.
func wholeWords(patterns ...string) string {
	return `(?i)(?:^|[^\pL])(?:` + strings.Join(patterns, "|") + `)(?:$|[^\pL])`
}

func anyOf(patterns ...string) *regexp.Regexp { return regexp.MustCompile(wholeWords(patterns...)) }

// kindAsked returns the kind of value that a question asks for, or nil.
func kindAsked(question string) *valueKind {
	for i := range valueKinds {
		if valueKinds[i].asked.MatchString(question) {
			return &valueKinds[i]
		}
	}
	return nil
}

// kindNames matches the words of a question that name a kind of value: a sentence with a price need not say "cost".
var kindNames = regexp.MustCompile(`(?i)^(?:mobil\pL*|cell\pL*|handy\pL*|(?:tele)?(?:phone|fon)\pL*|numm?er|numery|nr|kom\pL*|số|di|động|điện|thoại|e-?mail|address|adre\pL+|địa|chỉ|time|uhr\pL*|godzin\pL*|której|giờ|` +
	`costs?|prices?|fee|fare|rent|salary|kost\pL+|preis\pL*|cen\pL|kosztuj\pL+|giá|dates?|days?|months?|years?|datum|tage?s?|monat\pL*|jahr\pL*|dni\pL|dzień|rok\pL*|ngày|tháng|năm|` +
	`number|percentage|anzahl|long|far|often|old|big|large|high|deep|heavy|fast|quickly|wide|tall|lange|oft|hoch|gro(?:ß|ss)|weit|schwer|schnell)$`)

// unnamedWords returns the words of a question that name no kind of value, with equal weights.
func (l lexicon) unnamedWords(question string) (out []weighed) {
	for _, token := range l.content(question) {
		if !kindNames.MatchString(question[token.Start:token.End]) {
			out = append(out, weighed{token.Term, 1})
		}
	}
	return out
}

// Least number of other words of a question that a sentence or a row holds beside a value of the kind asked for.
const (
	besideInSentence = 3 // 2 if the kind is rare
	besideInRow      = 1
)

// besideValue reports whether a sentence or a row of the passages holds a value of the kind that a question asks for
// and all other words of the question.
func (l lexicon) besideValue(question string, passages []state.Source) bool {
	kind, words := kindAsked(question), l.unnamedWords(question)
	if kind == nil {
		return false
	}
	return slices.ContainsFunc(passages, func(s state.Source) bool {
		p := l.passage(s.Chunk)
		for j := range p.units {
			least := besideInSentence
			if p.isRecord(j) {
				least = besideInRow
			} else if kind.rare {
				least--
			}
			if len(words) >= least && coverage(words, p.terms[j].in) == 1 && kind.value.MatchString(p.sentence(j)) {
				return true
			}
		}
		return false
	})
}
