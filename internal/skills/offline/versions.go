package offline

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// version is one of several passages that differ in the numbers of a sentence.
type version struct {
	piece
	date date
}

// label returns the words in front of a version: its file and its date.
func (v version) label(source, language string) string {
	out := readable.Line(source)
	switch {
	case v.date.valid:
		out += " (" + fmt.Sprintf(prompts.Say(prompts.ValidFrom, language), v.date) + ")"
	case v.date.known():
		out += " (" + v.date.String() + ")"
	}
	return out + ":"
}

// maxVersions is the number of versions that an answer shows.
const maxVersions = 3

// versions returns the first piece and those of its versions in other files, the newest first, those of the year that the
// question names before them; nil if there is none. Their sentence is that of the piece with other numbers.
func (a *Answerer) versions(t state.Task, first piece) []version {
	chunk := t.Sources[first.source].Chunk
	out, key := []version{{first, dateOf(chunk)}}, first.sentence(first.unit)
	for n, s := range t.Sources {
		if s.Root == chunk.Root && s.Source == chunk.Source || !a.lex.holdSame(t, first.p, a.lex.passage(s.Chunk)) || !text.Versions(chunk.Text, s.Text) {
			continue
		}
		if _, same := text.SameBesidesNumbers(chunk.Title, s.Title); !same {
			continue
		}
		x := piece{source: n, p: a.lex.passage(s.Chunk), single: true}
		for x.unit = range x.p.units {
			if differing, same := text.SameBesidesNumbers(key, x.sentence(x.unit)); same && differing > 0 {
				x.first, x.last = x.unit, x.unit
				out = append(out, version{x, dateOf(s.Chunk)})
				break
			}
		}
	}
	if len(out) == 1 {
		return nil
	}
	years := yearsIn(t.Question)
	slices.SortStableFunc(out, func(a, b version) int {
		return cmp.Or(cmp.Compare(years[b.date.year], years[a.date.year]), b.date.compare(a.date))
	})
	return out[:min(len(out), maxVersions)]
}

// sentence returns unit j of the passage of a piece.
func (x *piece) sentence(j int) string { return x.p.text[x.p.units[j].start:x.p.units[j].end] }

// holdSame reports whether two passages have the same words of the question, but for numbers: the price of another
// good is no version.
func (l lexicon) holdSame(t state.Task, a, b *passage) bool {
	return !slices.ContainsFunc(l.content(t.Question), func(w text.Token) bool {
		if strings.ContainsAny(w.Term, "0123456789") {
			return false
		}
		return (a.all.has(w.Term) || a.names.has(w.Term)) != (b.all.has(w.Term) || b.names.has(w.Term))
	})
}

// withVersions puts the versions of the best piece before the others, unless the question names its file. The first of them is shown with what stands around
// it, the others as one sentence.
func (a *Answerer) withVersions(t state.Task, pieces []piece) (out []piece, found []version) {
	if named := namedSources(t); !named[pieces[0].source] {
		found = a.versions(t, pieces[0])
	}
	if len(found) == 0 {
		return pieces, nil
	}
	of := map[int]bool{}
	for i, v := range found {
		x := v.piece
		if i == 0 {
			x = x.p.around(x.source, x.unit, bestWords)
		} else {
			x.first, x.last, x.single = x.unit, x.unit, true
		}
		out = append(out, x)
		of[x.source] = true
	}
	for _, x := range pieces[1:] {
		if !of[x.source] && len(out) < maxPieces {
			out = append(out, x)
		}
	}
	return out, found
}

// differ returns the sentence in front of versions.
func differ(found []version, language string) string {
	if found[0].date.compare(found[len(found)-1].date) <= 0 || !found[len(found)-1].date.known() { // or of the year that was asked for
		return prompts.Say(prompts.DifferUndated, language)
	}
	return prompts.Say(prompts.Differ, language)
}

// asksNewest finds questions for what holds now, in English, German, Polish and Vietnamese.
var asksNewest = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:current(?:ly)?|latest|newest|most recent|now|next|last (?:meeting|minutes|report|version)|` +
	`aktuell\p{L}*|derzeit\p{L}*|neueste\p{L}*|jetzt|nächste\p{L}*|obecn\p{L}*|aktualn\p{L}*|najnowsz\p{L}*|teraz|następn\p{L}*|` +
	`hiện (?:nay|tại|giờ)|mới nhất|sắp tới|tiếp theo)(?:[^\p{L}]|$)`)

// asksNext finds questions for what comes after today.
var asksNext = regexp.MustCompile(wholeWords(`next`, `nächste\pL*`, `następn\pL*|nastepn\pL*|najbliższ\pL*`, `sắp tới|tiếp theo`))

// yearsIn returns 1 for each year that a question names.
func yearsIn(question string) map[int]int {
	out := map[int]int{}
	for _, d := range strings.FieldsFunc(question, func(r rune) bool { return r < '0' || r > '9' }) {
		if year := firstDate(d).year; year > 0 {
			out[year] = 1
		}
	}
	return out
}

// timelyShare is the score that a source needs to come first by its date, as a share of the best one's, which is a
// probability; a version of the best source needs none.
const timelyShare = 0.3

// timely returns for each source that is near the question how soon it comes first: those of documents from a year that the question names, or
// the newest if it asks for what holds now. For what comes next, the first one from today on precedes. 0 is the usual
// order.
func timely(t state.Task, near []bool, today date) []int {
	out, years, newest := make([]int, len(t.Sources)), yearsIn(t.Question), asksNewest.MatchString(t.Question)
	if len(years) == 0 && !newest {
		return out
	}
	for i, s := range t.Sources {
		d := dateOf(s.Chunk)
		switch {
		case !near[i], s.Score < timelyShare*t.Sources[0].Score && !text.Versions(s.Text, t.Sources[0].Text):
		case len(years) > 0:
			out[i] = years[d.year]
		case asksNext.MatchString(t.Question) && d.day > 0 && d.compare(today) >= 0:
			out[i] = 2*daysBound - d.number()
		default:
			out[i] = d.number()
		}
	}
	return out
}
