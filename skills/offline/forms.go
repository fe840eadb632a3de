package offline

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/search/text"
)

// strangers are forms of words, those of one word a line, that the English stemmer
// takes for forms of another one: founded for found, a university for a universe. That
// a passage says the one is no support for the other.
const strangers = `
founded founding
university universities
organize organizes organized organizing organization organizations organizer organizers organise organises organised organising organisation organisations
news
paste pastes pasted pasting
important importantly importance
authority authorities authorize authorizes authorized authorizing authorization authorise authorised authorisation
generic generically
several
customer customers
positive positively positives
designate designates designated designating
international internationally
terminate terminates terminated terminating termination
objective objectives objection objections
executive executives
animal animals
department departments
production productions
publication publications
conversion conversions
regulate regulates regulated regulation regulations regulator regulators
popular popularity
engineer engineers engineered engineering
apartment apartments
locale locales
suite suites
evening evenings
capitalize capitalizes capitalized
integrity
busy busier busiest
informal informally
experiment experiments experimental experimentally experimentation
`

// irregular are forms of a word that the English stemmer takes for other words, behind
// the word itself, one a line.
const irregular = `
add adding added
become became
begin began begun
bite bit bitten
blow blew blown
break broke broken
bring brought
buy bought
catch caught
choose chose chosen
come came
deal dealt
draw drew drawn
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
fly flew flown
forget forgot forgotten
freeze froze frozen
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
know knew known
lead led
leave left
lend lent
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shoot shot
show shown
sing sang sung
sink sank sunk
sit sat
sleep slept
speak spoke spoken
spend spent
stand stood
steal stole stolen
strike struck
swear swore sworn
swim swam swum
take took taken
teach taught
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
win won
write wrote written
child children
man men
woman women
foot feet
tooth teeth
mouse mice
knife knives
life lives
wife wives
half halves
person people
`

// strangerMark begins the terms that strangers have of their own, which no analyzer makes.
const strangerMark = "="

// forms are the words that the index takes for others.
type forms struct {
	own   map[string]map[string]string // terms of the index: by the form of a word, the term that it has here
	terms map[string][]string          // of the index, by the term that they have here
	words map[string][]string          // of irregular, by the term that they have here
}

//nolint:gochecknoglobals // made once; immutable
var knownForms = sync.OnceValue(func() forms {
	f := forms{own: map[string]map[string]string{}, terms: map[string][]string{}, words: map[string][]string{}}
	for line := range strings.Lines(strings.TrimSpace(strangers)) {
		words := strings.Fields(line)
		f.add(strangerMark+words[0], words)
	}
	for line := range strings.Lines(strings.TrimSpace(irregular)) {
		words := strings.Fields(line)
		term := englishTerm(words[0])
		f.add(term, words)
		f.words[term] = words
	}
	return f
})

func englishTerm(word string) string { return text.For("en").Analyze(word)[0].Term }

// add makes one term of words.
func (f forms) add(term string, words []string) {
	for _, word := range words {
		of := englishTerm(word)
		if f.own[of] == nil {
			f.own[of] = map[string]string{}
		}
		f.own[of][word] = term
		if !slices.Contains(f.terms[term], of) {
			f.terms[term] = append(f.terms[term], of)
		}
	}
}

// analyze are the terms of s as the index writes them, but for words that it takes for
// others; see docFreq.
func (l lexicon) analyze(s string) []text.Token {
	tokens, known := l.analyzer.Analyze(s), knownForms()
	for i, t := range tokens {
		if own, ok := known.own[t.Term]; ok {
			if term, ok := own[strings.ToLower(s[t.Start:t.End])]; ok {
				tokens[i].Term = term
			}
		}
	}
	return tokens
}

// docFreq is how many chunks hold a term, or one that the index takes for it; of a word
// with several terms, more where chunks hold several.
func (l lexicon) docFreq(term string) int {
	of, ok := knownForms().terms[term]
	if !ok {
		return l.stats.DocFreq(term)
	}
	n := 0
	for _, t := range of {
		n += l.stats.DocFreq(t)
	}
	return n
}

// toldOf are the other forms of an irregular word that was asked with: what "did he buy"
// asks, documents tell with "bought".
func toldOf(t text.Token, question string) []string {
	word := strings.ToLower(question[t.Start:t.End])
	return slices.DeleteFunc(slices.Clone(knownForms().words[t.Term]), func(form string) bool { return form == word })
}

var asksOfPast = regexp.MustCompile(`(?i)\bdid\b`)
