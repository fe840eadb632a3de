package main

import (
	"regexp"
	"strings"
)

// A rule refuses one habit of writing.
type rule struct {
	bad    *regexp.Regexp     // finds the words to report
	ok     func(m match) bool // takes a find back; nil: none
	advice string             // what to write instead
}

// A match is the find of a rule in a text of one line.
type match struct{ before, words, after string }

// previous returns the last word before m in small letters.
func (m match) previous() string {
	fields := strings.Fields(m.before)
	if len(fields) == 0 {
		return ""
	}
	return strings.ToLower(strings.TrimLeft(fields[len(fields)-1], "([*\"`"))
}

// sentence returns the rest of the sentence after m, with its full stop.
func (m match) sentence() string {
	for i, r := range m.after {
		if strings.ContainsRune(".?!:;", r) && (i+1 == len(m.after) || m.after[i+1] == ' ') {
			return m.after[:i+1]
		}
	}
	return m.after
}

// atStart reports whether m begins a sentence.
func (m match) atStart() bool {
	before := strings.TrimRight(m.before, " ")
	return before == "" || strings.HasSuffix(before, ".") || strings.HasSuffix(before, "?") || strings.HasSuffix(before, ":")
}

// placed matches words that a "where" of place follows.
var placed = regexp.MustCompile(`^(\||say|says|said|saying|is|are|was|were|ask|asks|know|knows|known|find|finds|found|show|shows|shown|tell|tells|list|lists|` +
	`return|returns|report|reports|reported|check|checks|see|sees|learn|learns|note|notes|remember|remembers|choose|chooses|decide|decides|look|looks|mark|marks|` +
	`read|reads|keep|keeps|hold|holds|name|names|give|gives|print|prints|verify|verifies|measure|measures|detect|detects|` +
	`from|to|of|about|by|near|on|in|at|for|with|than|matter|regardless|but|and|or|what|how|` +
	`places?|positions?|points?|lines?|columns?|folders?|directory|directories|files?|pages?|offsets?|nodes?|graphs?|parts?|` +
	`steps?|spots?|one|those|everywhere|anywhere|somewhere|elsewhere|machines?|systems?|platforms?|servers?|terminals?|threads?|runs?|sentences?|texts?|passages?|documents?|cases?|countr(y|ies)|languages?|` +
	`stands?|lies?|begins?|ends?|stays?|starts?|stops?|continues?|resumes?|resumed|continued|cuts?|splits?|goes|go|went|going|there|here|left|put|puts)$`)

// condition matches what follows a "where" that means "if" whatever stands before it.
var condition = regexp.MustCompile(`^ (there (is|are|was|were)|none|nothing|nobody|neither|no [a-z]+ (is|are|was|were|has|have|does|can)|asked|configured|needed|necessary|possible|unknown)\b`)

var lower = regexp.MustCompile(`^ [a-z]`)

var rules = []rule{
	{regexp.MustCompile(`\b[Ww]here\b`), place, `"if" or "when": "where" is for places`},
	{regexp.MustCompile(`\bWhat [a-z]+\b`), question, `a noun as the subject: "saved turns", not "what is saved"`},
	{regexp.MustCompile(`; what [a-z]+\b`), question, `a noun as the subject: "saved turns", not "what is saved"`},
	{regexp.MustCompile(`\b([Tt]ells?|[Tt]old|telling) of\b`), nil, `"report", "list", "mention"`},
	{regexp.MustCompile(`\b(is|are|was|were|be) told by\b`), nil, `"is detected from", "is recognized by"`},
	{regexp.MustCompile(`\bso that (the |a |an )?[a-z]+ (is|are) told\b`), nil, `who does what: "so that it reports …"`},
	{regexp.MustCompile(`^[A-Za-z]\w* tells (how|that|where|whether|which|what|if)\b`), nil, `"reports", "says" or a noun phrase`},
	{regexp.MustCompile(`\b([Gg]oes|went)\b`), moves, `"continues", "is passed to", "is written to", "is removed", "ends"`},
	{regexp.MustCompile(`\bwhat (is|was|has) gone\b`), nil, `"removed files"`},
	{regexp.MustCompile(`\b[Aa]t last\b`), nil, `"finally", "last"`},
	{regexp.MustCompile(`\bof which\b`), counted, `a second sentence, or "whose", "with"`},
	{regexp.MustCompile(`\b([Aa]new|[Aa]fresh)\b`), nil, `"again", or the verb with "re-"`},
	{regexp.MustCompile(`\b([Ww]hoever|[Ww]hosoever)\b`), nil, `"the caller", "a reader"`},
	{regexp.MustCompile(`\bone's own\b`), nil, `"custom"`},
	{regexp.MustCompile(`\b([Ll]ends?|lent|lending)\b`), nil, `"adds", "gives", "takes from"`},
	{regexp.MustCompile(`^(Test|Fuzz|Benchmark)\w+ holds that\b`), nil, `"checks that"`},
	{regexp.MustCompile(`\bas (it|they) go(es)?\b`), nil, `"continuously", "after each …"`},
}

// place reports whether "where" is about a place.
func place(m match) bool {
	switch {
	case strings.HasSuffix(m.sentence(), "?"):
		return true
	case condition.MatchString(m.after):
		return false
	case m.words == "Where":
		return !strings.Contains(m.sentence(), ", ")
	case m.before == "" || m.after == "" || strings.ContainsRune(".,;:)", rune(m.after[0])) || strings.HasPrefix(m.after, " to "):
		return true
	}
	if strings.HasSuffix(m.before, ", ") && !lower.MatchString(m.after) {
		return true // "[Source N], where N counts …" explains a name
	}
	return placed.MatchString(m.previous())
}

// question reports whether "what" asks or heads a list instead of being a subject.
func question(m match) bool {
	s := m.sentence()
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, ":") || m.words[0] == 'W' && !m.atStart()
}

// direction matches what follows a "goes" that says where something moves, or how it fails.
var direction = regexp.MustCompile(`^ (to|into|through|out|in|back|from|up|down|wrong)\b`)

// moves reports whether something does move, or an idiom means something else.
func moves(m match) bool { return direction.MatchString(m.after) }

var amount = regexp.MustCompile(`^(both|each|all|one|some|none|most|any|many|few|two|three|either|neither|half)$`)

// counted reports whether "of which" follows a count, as in "each of which".
func counted(m match) bool {
	return amount.MatchString(m.previous())
}

// limits matches names of limits that Go calls maxX and minX.
var limits = regexp.MustCompile(`^(most|least|longest|shortest|largest|smallest|fewest)[A-Z]`)
