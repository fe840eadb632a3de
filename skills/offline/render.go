package offline

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// render writes the chosen units: sources in the order in which they were
// chosen, the units of a source in document order, each with its mark; what was
// taken together stays so. The picks are what is quoted.
func (s *selection) render() (string, []cite.Pick) {
	var parts []string
	var picks []cite.Pick
	for _, n := range s.sources() {
		var p *passage
		var units []int
		for _, c := range s.chosen {
			if s.source(c) == n {
				p, units = &s.passages[c.passage], append(units, c.unit)
			}
		}
		slices.Sort(units)
		units = s.recordsLast(p, slices.Compact(units))
		for at := 0; at < len(units); {
			n := p.together(units[at:])
			if part := p.show(units[at : at+n]); part != "" {
				if end := at + n; end == len(units) || p.units[units[end]].block != p.units[units[end-1]].block {
					if more := p.left(units[:end]); more > 0 {
						part += "\n\n" + prompts.More(more, s.language) + " " + p.mark(units[end-1])
					}
				}
				if more := p.units[units[at]].more; more != 0 && (at+n == len(units) || units[at+n] != units[at]+1) {
					part += "\n\n" + prompts.MoreCode(more, s.language) + " " + p.mark(units[at])
				}
				parts = append(parts, part)
				for _, u := range units[at : at+n] {
					picks = append(picks, p.pick(u))
				}
			}
			at += n
		}
	}
	return strings.Join(parts, "\n\n"), picks
}

// recordsLast puts the rows of a box that stands above the statement an answer is built
// on behind it: the sentence says more.
func (s *selection) recordsLast(p *passage, units []int) []int {
	first := s.chosen[0]
	if &s.passages[first.passage] != p || p.units[first.unit].kind != sentence {
		return units
	}
	var out, rows []int
	for _, u := range units {
		if p.record(u) {
			rows = append(rows, u)
		} else {
			out = append(out, u)
		}
	}
	return append(out, rows...)
}

// sources are the numbers of those that were chosen from, in that order.
func (s *selection) sources() []int {
	var out []int
	for _, c := range s.chosen {
		if n := s.source(c); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// source is the number of the one that a chosen unit is shown with.
func (s *selection) source(c place) int {
	if n, ok := s.with[c]; ok {
		return n
	}
	return s.passages[c.passage].source(c.unit)
}

// together is how many of the first units make one paragraph, list or table.
func (p *passage) together(units []int) int {
	first := p.units[units[0]]
	n := 1
	for n < len(units) {
		u := p.units[units[n]]
		if u.kind != first.kind || u.kind == code || u.kind != sentence && u.block != first.block || u.kind == row && p.source(units[n]) != p.source(units[0]) {
			break
		}
		n++
	}
	return n
}

// skipsSteps reports whether steps stand between two units of one list.
func (p *passage) skipsSteps(a, b int) bool {
	for _, u := range p.units[a+1 : b] {
		if u.kind == item && u.ordered && u.level <= p.units[b].level {
			return true
		}
	}
	return false
}

// fewSteps is how many steps of a list must be shown for it to be one that was cut, and
// not a few of its steps.
const fewSteps = 3

// left is how many items a list goes on with behind the last unit, where those before it
// are its beginning.
func (p *passage) left(units []int) int {
	last, from, n := p.units[units[len(units)-1]], len(p.units), 0
	for j, u := range p.units {
		if u.kind == item && u.block == last.block {
			from = min(from, j)
		}
	}
	at := slices.Index(units, from)
	if last.block == 0 || at < 0 {
		return 0
	}
	top, shown := p.units[from], 0
	for _, j := range units[at:] {
		if u := p.units[j]; u.kind == item && u.level <= top.level {
			shown++
		}
	}
	for _, u := range p.units[units[len(units)-1]+1:] {
		if u.kind == item && u.block == last.block && u.level <= top.level {
			n++
		}
	}
	if shown < fewSteps || !top.ordered && shown < maxItems {
		return 0
	}
	return n
}

// show writes units of one kind.
func (p *passage) show(units []int) string {
	var lines []string
	switch p.units[units[0]].kind {
	case code:
		return p.block(units[0]) + "\n" + p.mark(units[0])
	case row:
		if head := p.units[units[0]].head; head == units[0] && len(units) > 1 {
			return p.table(units) + "\n\n" + p.mark(units[0])
		}
		for _, u := range units {
			lines = append(lines, "- "+strings.Join(p.cells(u), " — ")+" "+p.mark(u))
		}
		return strings.Join(lines, "\n")
	case item:
		number := 0
		for i, u := range units {
			if t := p.tidied(u); t != "" {
				if i > 0 && p.skipsSteps(units[i-1], u) {
					lines = append(lines, "…")
				}
				bullet := "- "
				if p.units[u].ordered {
					number = max(number+1, p.units[u].number) // Markdown may write 1. before every item
					bullet = strconv.Itoa(number) + ". "
				}
				lines = append(lines, bullet+t+" "+p.mark(u))
			}
		}
		return strings.Join(lines, "\n")
	default:
		for _, u := range units {
			if t := p.tidied(u); t != "" {
				lines = append(lines, t+" "+p.mark(u))
			}
		}
		return strings.Join(lines, " ")
	}
}

// block is unit j, which is code, as an answer shows it.
func (p *passage) block(j int) string {
	if p.units[j].bare {
		return bareBlock(p.text(j), p.units[j].language)
	}
	return codeBlock(p.text(j))
}

// table writes a header, its rule and rows.
func (p *passage) table(units []int) string {
	var lines []string
	for i, u := range units {
		cells := p.cells(u)
		lines = append(lines, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			lines = append(lines, "|"+strings.Repeat(" --- |", len(cells)))
		}
	}
	return strings.Join(lines, "\n")
}

// cells are the cells of a row, tidied. A bar in code or behind a backslash
// divides nothing.
func (p *passage) cells(u int) []string {
	line := strings.TrimSpace(p.text(u))
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	var out []string
	from, inCode := 0, false
	for i := range len(line) {
		switch {
		case line[i] == '`':
			inCode = !inCode
		case line[i] == '|' && !inCode && (i == 0 || line[i-1] != '\\'):
			out = append(out, tidy(line[from:i]))
			from = i + 1
		}
	}
	return append(out, tidy(line[from:]))
}

// telling are the words of the quotes that carry most information, best first:
// rare in the index, often in the answer. They help to understand a follow-up.
func (l lexicon) telling(citations []state.Citation) []string {
	type candidate struct {
		word string
		n    int
	}
	byTerm := map[string]*candidate{}
	var order []string
	for _, c := range citations {
		quote, end := asRead(c.Quote), 0
		for _, t := range l.words(quote) {
			word := quote[t.Start:t.End]
			if t.Start < end || functionWord("en", word) || !hasLetter(word) {
				continue // the parts of a name say no more than the name
			}
			end = t.End
			if byTerm[t.Term] == nil {
				byTerm[t.Term] = &candidate{word: strings.ToLower(word)}
				order = append(order, t.Term)
			}
			byTerm[t.Term].n++
		}
	}
	score := func(term string) float64 { return l.idf(term) * math.Min(float64(byTerm[term].n), 3) }
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(score(b), score(a)) })
	var out []string
	for _, term := range order[:min(len(order), answerTerms)] {
		out = append(out, byTerm[term].word)
	}
	return out
}

// asRead is what a reader sees of a quote, without where its links lead; of a
// block of code that shows commands behind prompts, the commands: what they print
// are the names of one machine.
func asRead(quote string) string {
	first, _, _ := strings.Cut(strings.TrimLeft(quote, "> \t"), "\n")
	if _, isCode := text.OpenFence(first); !isCode {
		return tidy(quote)
	}
	var commands []string
	for line := range strings.Lines(quote) {
		if command, ok := strings.CutPrefix(strings.TrimLeft(line, "> \t"), "$ "); ok {
			commands = append(commands, command)
		}
	}
	if len(commands) == 0 {
		return quote
	}
	return strings.Join(commands, "")
}

func hasLetter(s string) bool { return strings.IndexFunc(s, unicode.IsLetter) >= 0 }
