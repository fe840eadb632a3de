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

// Bounds of what an exchange keeps of a list, since every turn is stored with
// its thread.
const (
	maxItems  = 20  // of a list
	itemRunes = 160 // of an item
)

// exchange is what later turns need to know of this one. The closest passage
// of an answer that abstained is no answer: its words lead nobody astray. But it
// was shown, so a follow-up may be about it, as about a list in it.
func exchange(question string, a state.Answer) *state.Exchange {
	e := &state.Exchange{
		Question: question, Chunks: citedChunks(a.Citations), Told: told(a.Citations),
		Items: items(a.Text), Offer: offer(a.Text),
	}
	if !a.Abstained {
		e.Terms = a.Terms
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

// told is how far citations quote their chunks, in order of the first.
func told(citations []state.Citation) []state.Told {
	var out []state.Told
	for _, c := range citations {
		i := slices.IndexFunc(out, func(t state.Told) bool { return t.Chunk == c.Chunk })
		if i < 0 {
			i = len(out)
			out = append(out, state.Told{Chunk: c.Chunk})
		}
		out[i].End = max(out[i].End, c.End)
	}
	return out
}

// goOn is what is left of a chunk behind the part that was told; ok is false
// where nothing is. The id stays, and the hash, which both are the chunk's.
func goOn(c state.Chunk, queries []state.Query) (rest state.Chunk, ok bool) {
	end := c.Start
	for _, q := range queries {
		for _, t := range q.Told {
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
	return text.First(text.Clean(cite.Strip(answer[last.Start:last.End])), itemRunes)
}
