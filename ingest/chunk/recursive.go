package chunk

import (
	"context"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/ingest/document"
)

// defaultSeparators begin with the strongest. The full stop of Chinese and Japanese needs no
// space behind it.
var defaultSeparators = []string{"\n\n", "\n", "。", ". ", "! ", "? ", "; ", ", ", " ", ""}

// bySeparators cuts a document of any kind at separators, and fills pieces up to the size. A
// separator stays with the text before it. Each piece but the first begins with the end of the
// one before.
func bySeparators(_ context.Context, j *cutting) ([]piece, error) {
	r := recursive{s: j.doc.Text, size: j.o.Size, overlap: j.o.Overlap, separators: j.o.Separators}
	atoms := r.split(nil, span{j.doc.Body, len(r.s)}, 0)
	return j.under(r.merge(atoms)), nil
}

// span is a part of a text.
type span struct{ start, end int }

// recursive splits a text.
type recursive struct {
	s             string
	size, overlap int
	separators    []string
}

// split appends the parts of a span that, with an overlap in front, are small
// enough. They leave no gaps. level is the separator to begin with.
func (r *recursive) split(dst []span, whole span, level int) []span {
	s := r.s[whole.start:whole.end]
	most := r.size - r.overlap
	if weigh(s).tokens() <= most {
		return append(dst, whole)
	}
	for level < len(r.separators) && (r.separators[level] == "" || !strings.Contains(s, r.separators[level])) {
		level++
	}
	if level == len(r.separators) {
		return r.runes(dst, whole, most)
	}
	for at := whole.start; at < whole.end; {
		end := whole.end
		if i := strings.Index(r.s[at:end], r.separators[level]); i >= 0 {
			end = at + i + len(r.separators[level])
		}
		dst = r.split(dst, span{at, end}, level+1)
		at = end
	}
	return dst
}

// runes cuts what has no separator between runes.
func (r *recursive) runes(dst []span, whole span, most int) []span {
	at := whole.start
	var w weight
	for i := at; i < whole.end; {
		_, n := utf8.DecodeRuneInString(r.s[i:])
		next := w.plus(weigh(r.s[i : i+n]))
		if next.tokens() > most {
			dst = append(dst, span{at, i})
			at, next = i, weigh(r.s[i:i+n])
		}
		w = next
		i += n
	}
	return append(dst, span{at, whole.end})
}

// merge fills spans up to the size and lets them overlap.
func (r *recursive) merge(atoms []span) []span {
	var out []span
	var open span // being filled
	var w weight
	for _, a := range atoms {
		next := w.plus(weigh(r.s[a.start:a.end]))
		if open.end > open.start && next.tokens() > r.size {
			out = append(out, open)
			open.start = r.tail(open)
			next = weigh(r.s[open.start:a.end])
		} else if open.end == open.start {
			open.start = a.start
		}
		open.end, w = a.end, next
	}
	if open.end > open.start {
		out = append(out, open)
	}
	return out
}

// tail returns where the end of a span begins that the next one repeats: behind
// the coarsest separator that leaves it at least half as long as it may be.
func (r *recursive) tail(of span) int {
	from := of.end
	var w weight
	for from > of.start {
		_, n := utf8.DecodeLastRuneInString(r.s[of.start:from])
		if w = w.plus(weigh(r.s[from-n : from])); w.tokens() > r.overlap {
			break
		}
		from -= n
	}
	first := of.end - len(strings.TrimLeft(r.s[of.start:of.end], document.Blank)) // where the piece will begin
	if from <= first || from == of.end {                                          // it would be repeated whole
		return of.end
	}
	for _, separator := range r.separators {
		if separator == "" {
			continue
		}
		i := strings.Index(r.s[from-min(len(separator), from-of.start):of.end], separator)
		if i < 0 {
			continue
		}
		at := from - min(len(separator), from-of.start) + i + len(separator)
		if at >= from && at-from <= (of.end-from)/2 {
			return at
		}
	}
	return from
}

// weight is what text.Estimate counts of a text, so that weights of parts can be
// added.
type weight struct{ ascii, other int }

func weigh(s string) weight {
	var w weight
	for i := range len(s) {
		if s[i] < utf8.RuneSelf {
			w.ascii++
		} else if utf8.RuneStart(s[i]) {
			w.other++
		}
	}
	return w
}

func (w weight) plus(v weight) weight { return weight{w.ascii + v.ascii, w.other + v.other} }

func (w weight) tokens() int { return (w.ascii+3)/4 + (w.other*2+2)/3 }

// under makes pieces of spans, each with the headings that all of it belongs to.
func (j *cutting) under(spans []span) []piece {
	blocks := outline(j.doc)
	sections(blocks, 6)
	out := make([]piece, 0, len(spans))
	first := 0 // block that the span begins in
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
