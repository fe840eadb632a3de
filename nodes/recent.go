package nodes

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// Limits of the list that an exchange keeps. Every exchange is stored with its
// thread.
const (
	maxItems  = 20  // items of a list
	itemRunes = 160 // runes of an item
)

// newExchange returns the record of a turn that later turns use to understand a
// follow-up. If the answer abstained, its terms are left out, because they would
// mislead later searches. Its passages and list stay: the person saw them, so a
// follow-up may refer to them.
func newExchange(question string, a state.Answer) *state.Exchange {
	e := &state.Exchange{
		Question: question, Chunks: citedChunks(a.Citations), QuoteEnds: quotedEnds(a.Citations),
		Items: listItems(a.Text), Offer: offer(a.Text),
	}
	if !a.Abstained {
		e.Terms = a.Terms
	}
	return e
}

// citedChunks returns the IDs of the cited chunks, each once, in order.
func citedChunks(citations []state.Citation) []string {
	var ids []string
	for _, c := range citations {
		if !slices.Contains(ids, c.Chunk) {
			ids = append(ids, c.Chunk)
		}
	}
	return ids
}

// quotedEnds returns for each cited chunk the end of its last quote, in order of
// the first citation.
func quotedEnds(citations []state.Citation) []state.QuoteEnd {
	var out []state.QuoteEnd
	for _, c := range citations {
		i := slices.IndexFunc(out, func(t state.QuoteEnd) bool { return t.Chunk == c.Chunk })
		if i < 0 {
			i = len(out)
			out = append(out, state.QuoteEnd{Chunk: c.Chunk})
		}
		out[i].End = max(out[i].End, c.End)
	}
	return out
}

// unquotedRest returns the part of a chunk after its quoted text, with the ID and
// the hash of the chunk. ok is false if no text is left.
func unquotedRest(c state.Chunk, queries []state.Query) (rest state.Chunk, ok bool) {
	end := c.Start
	for _, q := range queries {
		for _, t := range q.QuoteEnds {
			if t.Chunk == c.ID {
				end = max(end, t.End)
			}
		}
	}
	cut := min(end-c.Start, len(c.Text))
	if cut == 0 {
		return c, true
	}
	left := strings.TrimLeftFunc(c.Text[cut:], unicode.IsSpace)
	if strings.IndexFunc(left, unicode.IsLetter) < 0 {
		return c, false
	}
	cut = len(c.Text) - len(left)
	return c.Part(cut, len(c.Text)), true
}

// listItem matches the first line of an item of an outermost list.
var listItem = regexp.MustCompile(`^ {0,3}(?:[-*+•]|\d{1,3}[.)])\s+(\S.*)$`)

// listItems returns the items of the first list with at least two items in an
// answer.
func listItems(answer string) []string {
	var list []string
	fenced := false
	for line := range strings.Lines(answer) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		m := listItem.FindStringSubmatch(line)
		switch {
		case fenced:
		case m != nil && len(list) < maxItems:
			list = append(list, text.First(text.Clean(cite.Strip(m[1])), itemRunes))
		case m == nil && line != "" && line[0] != ' ' && line[0] != '\t':
			if len(list) > 1 {
				return list
			}
			list = nil // prose ends a list
		}
	}
	if len(list) < 2 {
		return nil
	}
	return list
}

// offer returns the question at the end of an answer, or "". A quoted question
// does not count: a source mark follows it.
func offer(answer string) string {
	answer = strings.TrimSpace(answer)
	if !strings.HasSuffix(answer, "?") {
		return ""
	}
	sentences := text.Sentences(answer)
	if len(sentences) == 0 {
		return ""
	}
	last := sentences[len(sentences)-1]
	return text.First(text.Clean(cite.Strip(answer[last.Start:last.End])), itemRunes)
}
