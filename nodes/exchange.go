package nodes

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/cite"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// Bounds of what an exchange keeps of a list, since every turn is stored with
// its thread.
const (
	maxItems  = 20  // of a list
	itemRunes = 160 // of an item
)

// exchange is what later turns need to know of this one. The closest passage
// of an answer that abstained is no answer: it must not lead them astray. What
// it lists can still be pointed at.
func exchange(question string, a state.Answer) *state.Exchange {
	e := &state.Exchange{Question: question, Items: items(a.Text), Offer: offer(a.Text)}
	if !a.Abstained {
		e.Terms, e.Chunks = a.Terms, citedChunks(a.Citations)
	}
	return e
}

// citedChunks lists the chunks behind citations, each once, in order.
func citedChunks(citations []state.Citation) []string {
	var ids []string
	for _, c := range citations {
		if !slices.Contains(ids, c.Chunk) {
			ids = append(ids, c.Chunk)
		}
	}
	return ids
}

// listItem is a line that begins an item of a list, not one inside another.
var listItem = regexp.MustCompile(`^ {0,3}(?:[-*+•]|\d{1,3}[.)])\s+(\S.*)$`)

// items are those of the first list in an answer that has two at least.
func items(answer string) []string {
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
			list = append(list, firstRunes(text.Clean(cite.Strip(m[1])), itemRunes))
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

// offer is the question that an answer ends with, "" where it ends otherwise.
// A quoted question is none: a mark of its source stands behind it.
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
	return firstRunes(text.Clean(cite.Strip(answer[last.Start:last.End])), itemRunes)
}
