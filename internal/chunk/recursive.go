package chunk

import (
	"context"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
)

// separators are the strings after which text without other structure is cut, the strongest
// first. The full stop of Chinese and Japanese needs no space after it.
var separators = []string{"\n\n", "\n", "。", ". ", "! ", "? ", "; ", ", ", " "}

// bySeparators cuts a document of any kind at separators into pieces of nearly one size.
func bySeparators(_ context.Context, j *cutting) ([]piece, error) {
	return j.under(windows(j.doc.Text, span{j.doc.Body, len(j.doc.Text)}, j.o.Size, j.o.Overlap)), nil
}

// span is a part of a text.
type span struct{ start, end int }

// windows cuts a part of a text into pieces of at most size tokens. Each ends after the strongest
// separator in its second half, and each but the first begins with up to overlap tokens of the end
// of the one before.
func windows(s string, whole span, size, overlap int) (out []span) {
	for at := whole.start; at < whole.end; {
		end := at + head(s[at:whole.end], size)
		if end < whole.end {
			end = at + lastCut(s[at:end])
		}
		if out = append(out, span{at, end}); end == whole.end {
			break
		}
		first := end - len(strings.TrimLeft(s[at:end], document.Blank)) // the start of the chunk
		if next := end - tail(s[at:end], overlap); next > first {
			at = next
		} else {
			at = end
		}
	}
	return out
}

// head returns the length of the longest beginning of s of at most so many tokens, as
// text.Estimate counts them, and of one rune at least.
func head(s string, most int) int {
	ascii, other := 0, 0
	for i, r := range s {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
		if i > 0 && (ascii+3)/4+(other*2+2)/3 > most {
			return i
		}
	}
	return len(s)
}

// lastCut returns the end of the strongest separator in the second half of s, or that of s.
func lastCut(s string) int {
	for _, separator := range separators {
		if i := strings.LastIndex(s, separator); i >= 0 && i+len(separator) > len(s)/2 {
			return i + len(separator)
		}
	}
	return len(s)
}

// tail returns the length of the end of s that the next piece repeats: at most so many tokens,
// after the strongest separator that leaves half of them.
func tail(s string, most int) int {
	from, tokens := len(s), 0.0
	for from > 0 {
		r, n := utf8.DecodeLastRuneInString(s[:from])
		if tokens += 0.25; r >= utf8.RuneSelf {
			tokens += 2./3 - 0.25
		}
		if tokens > float64(most) {
			break
		}
		from -= n
	}
	for _, separator := range separators {
		before := max(0, from-len(separator))
		if i := strings.Index(s[before:], separator); i >= 0 {
			if at := before + i + len(separator); at >= from && at-from <= (len(s)-from)/2 {
				return len(s) - at
			}
		}
	}
	return len(s) - from
}

// under makes pieces of spans, each with the headings that all of its blocks share.
func (j *cutting) under(spans []span) []piece {
	blocks := outline(j.doc)
	sections(blocks, 6)
	out := make([]piece, 0, len(spans))
	first := 0 // the block in which the span begins
	for _, s := range spans {
		for first > 0 && blocks[first].Start > s.start {
			first--
		}
		for first+1 < len(blocks) && blocks[first+1].Start <= s.start {
			first++
		}
		q := piece{start: s.start, end: s.end, kind: document.KindText}
		for i := first; i < len(blocks) && blocks[i].Start < s.end; i++ {
			b := &blocks[i]
			if i == first {
				q.path, q.kind = b.Path, b.Kind
				continue
			}
			q.path = common(q.path, b.Path)
			if q.kind != b.Kind {
				q.kind = document.KindMixed
			}
		}
		out = append(out, q)
	}
	return out
}
