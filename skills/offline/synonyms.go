package offline

import (
	"strings"

	"example.com/ragflow/search/text"
)

// synonymGroups are everyday words that questions and manuals use for the same
// thing, one group a line. Words of a trade are not in it: those a document
// uses as they are. A word stands in one group only.
const synonymGroups = `
add adding
keep retain persist preserve survive
remove delete erase
show display view list
change modify edit
get obtain retrieve fetch
fix solve resolve
error failure problem issue
big large size
limit restrict maximum
allow permit
forbid prohibit disallow
folder directory
computer machine
verify validate
choose select pick
find locate
replace rotate
reboot restart
begin launch
fast quick
recommended suggested preferred
secret credential password token
`

// thesaurus gives the terms that may stand for a term, without itself.
type thesaurus map[string][]synonym

type synonym struct{ word, term string }

func newThesaurus(a text.Analyzer) thesaurus {
	t := thesaurus{}
	for line := range strings.Lines(synonymGroups) {
		var group []synonym
		for word := range strings.FieldsSeq(line) {
			for _, token := range a.Analyze(word) {
				group = append(group, synonym{word, token.Term})
			}
		}
		for i, s := range group {
			for j, other := range group {
				if i != j && other.term != s.term {
					t[s.term] = append(t[s.term], other)
				}
			}
		}
	}
	return t
}

// everyday are everyday words for those of s, word by word, none twice and none
// that s has itself, and the forms of irregular ones where it asks what somebody did.
func (l lexicon) everyday(s string) []Expansion {
	own, past := l.set(s), asksOfPast.MatchString(s)
	var out []Expansion
	for _, t := range l.analyze(s) {
		x := Expansion{Word: s[t.Start:t.End], Kind: Synonyms}
		for _, other := range l.others[t.Term] {
			if !own.has(other.term) {
				own[other.term] = struct{}{}
				x.Others = append(x.Others, other.word)
			}
		}
		if past {
			x.Others = append(x.Others, toldOf(t, s)...)
		}
		if len(x.Others) > 0 {
			out = append(out, x)
		}
	}
	return out
}

// synonyms are everyday words for those of s, as text to search for.
func (l lexicon) synonyms(s string) string {
	var out []string
	for _, x := range l.everyday(s) {
		out = append(out, x.Others...)
	}
	return strings.Join(out, " ")
}
