package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// passage is a chunk parsed into blocks and sentences, with their terms.
type passage struct {
	text     string
	language string // of source code
	blocks   []block
	units    []unit
	tokens   [][]text.Token // of each unit
	terms    []set          // of each unit
	all      set            // of all units
	names    set            // of title, file name and headings
	title    set            // with the name of the file
	sections []set          // terms of the heading of each section; the first is that of the chunk
	written  []wordList     // of each unit
	plain    []string       // see plainWords
	words    int            // tokens in all units
}

// unit is the part of a passage that has a score: a sentence, a table row or a block of code.
type unit struct{ start, end, block int }

// passageKey holds all inputs of parse.
type passageKey struct{ text, title, source, headings, language, inside string }

// passage parses a chunk. The result is shared and must not be changed.
func (l lexicon) passage(c state.Chunk) *passage {
	key := passageKey{c.Text, c.Title, c.Source, strings.Join(c.Headings, "\x00"), c.Cut.Language, c.Cut.Inside}
	return l.parsed.Make(key, maxParsed, func() *passage { return l.parse(c) })
}

func (l lexicon) parse(c state.Chunk) *passage {
	titled := text.Titled(c.Title, c.Source)
	p := &passage{
		text: c.Text, language: c.Cut.Language, blocks: parseBlocks(c), all: set{},
		title: l.set(titled), names: l.set(append(slices.Clip(c.Headings), text.FolderWords(c.Source))...),
	}
	maps.Copy(p.names, p.title)
	var starts []int
	p.plain, starts = plainWordsAt(c.Text)
	add := func(start, end, block int) {
		first, _ := slices.BinarySearch(starts, start)
		last, _ := slices.BinarySearch(starts, end)
		p.addUnit(l, unit{start, end, block}, p.plain[first:last])
	}
	innermost := c.Title
	if n := len(c.Headings); n > 0 {
		innermost = c.Headings[n-1]
	}
	p.sections = []set{l.set(innermost)}
	for i, b := range p.blocks {
		raw := c.Text[b.start:b.end]
		switch b.kind {
		case heading:
			name := l.set(strings.Trim(raw, "# "))
			p.sections = append(p.sections, name)
			for t := range name {
				p.all[t] = struct{}{}
			}
		case code, row:
			add(b.start, b.end, i)
		case paragraph, item:
			for _, s := range text.Sentences(raw) {
				add(b.start+s.Start, b.start+s.End, i)
			}
		}
	}
	return p
}

func (p *passage) addUnit(l lexicon, u unit, written wordList) {
	tokens := l.tokens(p.text[u.start:u.end])
	terms := make(set, len(tokens))
	for _, t := range tokens {
		terms[t.Term] = struct{}{}
		p.all[t.Term] = struct{}{}
	}
	p.units, p.tokens, p.terms = append(p.units, u), append(p.tokens, tokens), append(p.terms, terms)
	p.words += len(tokens)
	p.written = append(p.written, written)
}

// wordList are words in lower case, in the order of the text.
type wordList []string

// in returns 1 if a word, or a pair of words with a space between them, stands there, else 0.
func (w wordList) in(term string) float64 {
	first, second, pair := strings.Cut(term, " ")
	for i, word := range w {
		if word == first && (!pair || i+1 < len(w) && w[i+1] == second) {
			return 1
		}
	}
	return 0
}

// recordLine matches a row of data as loaders write it, "column: value; column: value".
var recordLine = regexp.MustCompile(`^[^:;]{1,80}: [^;]*(?:; [^:;]{1,80}: [^;]*)+$`)

// isRecord reports whether unit j is a row of a table whose columns have names.
func (p *passage) isRecord(j int) bool {
	u := p.units[j]
	b := p.blocks[u.block]
	return b.kind == row && b.head >= 0 && b.head != u.block || b.kind == paragraph && recordLine.MatchString(p.text[b.start:b.end])
}

// alone reports whether unit j is a row of a table that answers by itself: no other row of the passage holds all
// words of the question that it holds.
func (p *passage) alone(j int, terms []weighed) bool {
	if !p.isRecord(j) {
		return false
	}
	var held []weighed
	for _, t := range terms {
		if p.terms[j].has(t.term) {
			held = append(held, t)
		}
	}
	for k := range p.units {
		if k != j && p.isRecord(k) && coverage(held, p.terms[k].in) == 1 {
			return false
		}
	}
	return len(held) > 0
}

// intro returns the block that introduces block i: the header of a row, or the paragraph or outer item before a list, a
// table or code; -1 without one.
func (p *passage) intro(i int) int {
	b := p.blocks[i]
	if b.head >= 0 {
		return b.head
	}
	for k := i - 1; k >= 0 && p.blocks[k].section == b.section && b.kind != paragraph; k-- {
		if o := p.blocks[k]; o.kind == paragraph || o.kind == item && (o.indent < b.indent || b.kind == code) {
			return k
		}
	}
	return -1
}
