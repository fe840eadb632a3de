package offline

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// maxVersions is the number of versions that an answer shows.
const maxVersions = 3

// versions returns the best piece and the sentences of other files that differ from it in numbers alone, if their passages
// do, too. The newest comes first, after those of the year that the question names. It returns nil if there are none.
func (a *Answerer) versions(t state.Task, best piece) []piece {
	chunk, out := t.Sources[best.source].Chunk, []piece{best}
	for n, s := range t.Sources {
		_, titled := text.SameBesidesNumbers(chunk.Title, s.Title)
		if s.Root == chunk.Root && s.Source == chunk.Source || !titled || !text.Versions(chunk.Text, s.Text) {
			continue
		}
		p := a.lex.passage(s.Chunk)
		for j := range p.units {
			if differing, same := text.SameBesidesNumbers(best.p.sentence(best.unit), p.sentence(j)); same && differing > 0 {
				out = append(out, piece{source: n, p: p, unit: j, first: j, last: j, single: true})
				break
			}
		}
	}
	if len(out) == 1 {
		return nil
	}
	slices.SortStableFunc(out, func(a, b piece) int {
		x, y := dateOf(t.Sources[a.source].Chunk), dateOf(t.Sources[b.source].Chunk)
		return cmp.Or(ofYear(t.Question, y)-ofYear(t.Question, x), cmp.Compare(y, x))
	})
	return out[:min(len(out), maxVersions)]
}

// withVersions puts the versions of the best piece before the others, unless the question names its file. The first of
// them is shown with what stands around it, unless it is a row that answers alone, the others as one sentence. Without
// versions, a later document of its series follows the best piece. labels are the lines in front of these pieces: file and
// date, behind a sentence that says why they are shown together.
func (a *Answerer) withVersions(t state.Task, pieces []piece) (out []piece, labels []string) {
	if !namedSources(t)[pieces[0].source] {
		out = a.versions(t, pieces[0])
	}
	for i, x := range out {
		out[i].first, out[i].last, out[i].single = x.unit, x.unit, true
		if i == 0 && !pieces[0].single {
			out[i] = x.p.around(x.source, x.unit, bestWords)
		}
		labels = append(labels, label(t.Sources[x.source].Chunk))
	}
	if labels != nil {
		labels[0] = prompts.Say(prompts.Differ, t.Language) + "\n\n" + labels[0]
	} else if later := a.later(t, pieces[0]); later != nil {
		out = []piece{pieces[0], *later}
		labels = []string{label(t.Sources[pieces[0].source].Chunk), prompts.Say(prompts.Later, t.Language) + "\n\n" + label(t.Sources[later.source].Chunk)}
	}
	for _, x := range pieces {
		shown := slices.ContainsFunc(out, func(v piece) bool { return v.source == x.source })
		if !shown && (labels == nil || len(out) < maxPieces) {
			out = append(out, x)
		}
	}
	return out, labels
}

// label returns the file and the date of a passage.
func label(c state.Chunk) string {
	out := readable.Line(c.Source)
	if date := dateOf(c); date != "" {
		out += " (" + date + ")"
	}
	return out + ":"
}

// laterShare is the share of the question's words in the best piece that a sentence of a later document needs.
const laterShare = 0.5

// later returns a piece of the newest document of the series of the best piece that is later than it and speaks of the same,
// such as the minutes of a meeting that moves a date; nil without one, or if the question names what is only in the title
// of the best one, or its year.
func (a *Answerer) later(t state.Task, best piece) *piece {
	chunk, asked := t.Sources[best.source].Chunk, plainWords(t.Question)
	newest, terms := dateOf(chunk), a.lex.question(mainQuery(t.Queries), historyWeight)
	if newest == "" || ofYear(t.Question, newest) > 0 || namedSources(t)[best.source] {
		return nil
	}
	var out *piece
	least := laterShare * coverage(terms, best.p.terms[best.unit].in)
	for n, s := range t.Sources {
		date, other := dateOf(s.Chunk), plainWords(s.Title)
		named := slices.ContainsFunc(plainWords(chunk.Title), func(w string) bool { return !slices.Contains(other, w) && slices.Contains(asked, w) })
		if date <= newest || named || !text.Series(chunk.Title, s.Title) {
			continue
		}
		p := a.lex.passage(s.Chunk)
		if j := p.speaks(terms, least); j >= 0 {
			x := p.around(n, j, moreWords)
			for x.last > j && p.blocks[p.units[x.last].block].quoted > 0 {
				x.last--
			}
			out, newest = &x, date
		}
	}
	return out
}

// speaks returns the unit that holds most of some terms, if that is a share of least or more; -1 without one. A reply says
// by its first unit that is no greeting what it changes in the mail that it quotes.
func (p *passage) speaks(terms []weighed, least float64) int {
	found, most, said, quotes := -1, least, -1, false
	for j, u := range p.units {
		b := p.blocks[u.block]
		if b.field || p.asks(j) {
			continue
		}
		if quotes = quotes || b.quoted > 0; said < 0 && b.quoted == 0 {
			said = j
		}
		if held := coverage(terms, p.terms[j].in); held > 0 && (held > most || found < 0 && held == most) {
			found, most = j, held
		}
	}
	if found >= 0 && quotes {
		return said
	}
	return found
}

// sentence returns the text of unit j.
func (p *passage) sentence(j int) string { return p.text[p.units[j].start:p.units[j].end] }

// ofYear returns 1 if a question names the year of a date, else 0.
func ofYear(question, date string) int {
	if date != "" && slices.Contains(plainWords(question), date[:4]) {
		return 1
	}
	return 0
}

// asksNewest finds questions for what holds now or comes next, in English, German, Polish and Vietnamese.
var asksNewest = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:current(?:ly)?|latest|newest|most recent|now|next|last (?:meeting|minutes|report|version)|` +
	`aktuell\p{L}*|derzeit\p{L}*|neueste\p{L}*|jetzt|nächste\p{L}*|obecn\p{L}*|aktualn\p{L}*|najnowsz\p{L}*|teraz|następn\p{L}*|` +
	`hiện (?:nay|tại|giờ)|mới nhất|sắp tới|tiếp theo)(?:[^\p{L}]|$)`)

// timelyShare is the score that a source needs to come first by its date, as a share of the best one's, which is a
// probability; a version of the best source needs none.
const timelyShare = 0.3

// timely returns for each source that is near the question what it comes first by, the greatest first: that it is of the
// year that the question names, or its date if the question asks for what holds now; "" leaves the usual order.
func timely(t state.Task, near []bool) []string {
	out, newest := make([]string, len(t.Sources)), asksNewest.MatchString(t.Question)
	for i, s := range t.Sources {
		if !near[i] || s.Score < timelyShare*t.Sources[0].Score && !text.Versions(s.Text, t.Sources[0].Text) {
			continue
		}
		if d := dateOf(s.Chunk); ofYear(t.Question, d) > 0 {
			out[i] = d[:4]
		} else if newest {
			out[i] = d
		}
	}
	return out
}

// validPattern finds the words before the date from which on a document is valid.
var validPattern = regexp.MustCompile(`(?:valid|effective) (?:from|since|as of)|as of|gültig (?:ab|seit)|\bstand\b|obowiązuje od|ważn\p{L}+ od|stan na|có hiệu lực (?:kể )?từ`)

// The date of a document may stand in its first headLines lines, if they are of at most headWords words: a sentence
// mentions other times.
const (
	headLines = 5
	headWords = 8
)

// dateOf returns the date of the document of a passage, the first that there is: from when on it is valid, as the passage
// says; in the first lines of the document; in its metadata; in its title; in its path. It is "" if none is known.
func dateOf(c state.Chunk) string {
	lower := strings.ToLower(c.Text)
	valid, head := "", ""
	if at := validPattern.FindStringIndex(lower); at != nil {
		valid, _, _ = strings.Cut(lower[at[1]:], "\n")
	}
	if c.Ordinal == 0 {
		lines := strings.SplitN(lower, "\n", headLines+1)
		lines = slices.DeleteFunc(lines[:min(len(lines), headLines)], func(line string) bool { return len(strings.Fields(line)) > headWords })
		head = strings.Join(lines, "\n")
	}
	meta := c.Metadata.Strings()
	for _, s := range []string{valid[:min(len(valid), 40)], head, meta["date"], meta["Date"], strings.ToLower(c.Title), strings.ToLower(text.BaseName(c.Source)), path.Dir(c.Source)} {
		if d := text.FirstDate(s); d != "" {
			return d
		}
	}
	return ""
}
