package load

import "example.com/ragflow/search/text"

// plainBlocks returns the paragraphs of s[from:], blank lines with the
// paragraph before them. The last of maxBlocks holds all that follows.
func plainBlocks(s string, from int) []block {
	var out []block
	gap := true // the line before was blank
	for at := from; at < len(s); {
		end := lineEnd(s, at)
		empty := isBlank(s[at:end])
		if !empty && gap || len(out) == 0 {
			if len(out) == maxBlocks {
				out[len(out)-1].end = len(s)
				return out
			}
			out = append(out, block{start: at, kind: kindText})
		}
		out[len(out)-1].end = end
		gap = empty
		at = end
	}
	return out
}

// titledBlocks returns the paragraphs of a text file, and the titles of its parts.
func titledBlocks(s string, from int) []block {
	paragraphs := plainBlocks(s, from)
	out := make([]block, 0, len(paragraphs)+len(paragraphs)/4)
	for _, b := range paragraphs {
		first := lineEnd(s, b.start)
		level, title := text.Title(s[b.start:first], s[first:lineEnd(s, first)])
		if level == 0 {
			out = append(out, b)
			continue
		}
		head := block{start: b.start, end: b.end, kind: kindText, level: min(level, maxTitle), heading: title}
		if !isBlank(s[first:b.end]) {
			head.end = first
			b.start = first
			out = append(out, head, b)
			continue
		}
		out = append(out, head)
	}
	return out
}

// maxTitle is the deepest level of a heading.
const maxTitle = 6
