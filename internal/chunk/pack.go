package chunk

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// maxFine bounds the size in bytes of text that is split as finely as its sentences and lines;
// longer text is split into coarser parts.
const maxFine = 512 << 10

// packer packs blocks into pieces.
type packer struct {
	s       string
	size    int  // tokens a piece may have
	least   int  // tokens a section should have; 0 joins none
	deepest int  // the deepest level of headings that begin sections
	apart   bool // sections of the highest level do not join: each is a mail or attached to one
}

// piece is a part of a document that may become a chunk.
type piece struct {
	start, end int
	tokens     int
	kind       string
	path       []string
	bare       bool // headings and noise only
	heading    bool // holds a heading
	cut        state.Cut
}

// unit is a block, or a part of a block that was too large. Pieces are made of units.
type unit struct {
	document.Block
	tokens int
	noise  bool // no text to read: shortcodes, comments, rules
	opens  bool // belongs to the next unit: a heading, noise, a text that ends in a colon
}

// pack returns the pieces of a document, in order and without gaps.
func (p *packer) pack(blocks []document.Block) []piece {
	var out []piece
	for _, section := range sections(blocks, p.deepest) {
		for _, q := range p.section(section) {
			if n := len(out); n > 0 && p.joins(out[n-1], q) {
				out[n-1] = join(out[n-1], q)
			} else {
				out = append(out, q)
			}
		}
	}
	if n := len(out); n > 1 && out[n-1].bare && p.near(out[n-2], out[n-1]) { // nothing follows that it could join
		out[n-2] = join(out[n-2], out[n-1])
		out = out[:n-1]
	}
	if !slices.ContainsFunc(out, func(q piece) bool { return !q.bare || q.heading }) {
		return nil // only shortcodes and comments: there is nothing to cite
	}
	return out
}

// joins reports whether two neighbours should be one piece: if one has no text to read, or
// if one is small and both together are small, under the same parent. A heading without text
// joins the next piece.
func (p *packer) joins(a, b piece) bool {
	if a.bare || b.bare && !b.heading {
		return p.near(a, b)
	}
	if p.apart && len(common(a.path, b.path)) == 0 && len(a.path)+len(b.path) > 0 {
		return false
	}
	small := a.tokens < p.least || b.tokens < p.least
	return small && !b.bare && a.tokens+b.tokens <= 2*p.least && len(common(a.path, b.path)) >= len(b.path)-1
}

// isMail reports whether documents of a kind are made of mails and their attachments, which are cited by name.
func isMail(kind string) bool {
	return kind == document.EML || kind == document.MBOX || kind == document.MSG
}

// near reports whether two pieces together exceed the size by at most a quarter. That is
// allowed only for headings and shortcodes, which are worth little alone.
func (p *packer) near(a, b piece) bool { return a.tokens+b.tokens <= p.size+p.size/4 }

func join(a, b piece) piece {
	j := piece{
		start: a.start, end: b.end, tokens: a.tokens + b.tokens, kind: a.kind, path: common(a.path, b.path),
		bare: a.bare && b.bare, heading: a.heading || b.heading, cut: a.cut,
	}
	switch {
	case a.bare:
		j.path, j.kind, j.cut = b.path, b.kind, b.cut
		j.cut.Inside = a.cut.Inside
	case b.bare:
		j.path = a.path
	case a.kind != b.kind:
		j.kind = document.KindMixed
	}
	return j
}

func common(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return slices.Clip(a[:n])
}

// section packs one section. Several pieces are about equally large, so that the last one is
// not tiny.
func (p *packer) section(blocks []document.Block) []piece {
	groups := p.groups(blocks)
	total := 0
	for _, g := range groups {
		total += g.tokens
	}
	pieces := (total + p.size - 1) / p.size
	target := total / max(pieces, 1)
	out := groups[:0] // writing never overtakes reading
	for i, g := range groups {
		last := len(out) - 1
		if i > 0 && (out[last].bare && p.near(out[last], g) ||
			out[last].tokens+g.tokens <= p.size && out[last].tokens+g.tokens/2 <= target) {
			out[last] = join(out[last], g)
			continue
		}
		out = append(out, g)
	}
	return out
}

// groups cuts blocks into units no larger than a piece, and joins units that belong together.
func (p *packer) groups(blocks []document.Block) []piece {
	var units []unit
	for _, b := range blocks {
		units = p.units(units, b, b)
	}
	out := make([]piece, 0, len(units))
	open := false // the last group joins the next unit
	for _, u := range units {
		g := piece{
			start: u.Start, end: u.End, tokens: u.tokens, kind: u.Kind, path: u.Path,
			bare: u.noise || u.Level > 0, heading: u.Level > 0, cut: state.Cut{Level: u.Depth, Inside: u.Inside},
		}
		if n := len(out); open && (out[n-1].bare && p.near(out[n-1], g) || out[n-1].tokens+g.tokens <= p.size) {
			out[n-1] = join(out[n-1], g)
		} else {
			out = append(out, g)
		}
		open = u.opens
	}
	return out
}

// units appends a block, or the parts of a block that does not fit, with the kind and path
// of the outermost block.
func (p *packer) units(dst []unit, b, top document.Block) []unit {
	s := p.s[b.Start:b.End]
	tokens := text.Estimate(s)
	if tokens <= p.size {
		u := unit{Block: b, tokens: tokens, noise: b.Level == 0 && isNoise(s)}
		u.opens = b.Level > 0 || u.noise || (b.Kind == document.KindText || b.Kind == document.KindList) && strings.HasSuffix(strings.TrimRight(s, " \t\r\n*_"), ":")
		u.Kind, u.Path, u.Depth = top.Kind, top.Path, top.Depth
		return append(dst, u)
	}
	parts := b.Parts
	if len(parts) == 0 {
		parts = p.split(b)
	}
	dst = slices.Grow(dst, len(parts))
	for _, part := range parts {
		dst = p.units(dst, part, top)
	}
	return dst
}

// split cuts a block without parts: code and tables between lines, text between sentences, a
// single line or sentence between words.
func (p *packer) split(b document.Block) []document.Block {
	var cuts []int // starts of the parts, without the first
	switch {
	case b.End-b.Start > maxFine:
	case b.Kind == document.KindCode || b.Kind == document.KindTable:
		for at := document.LineEnd(p.s, b.Start); at < b.End; at = document.LineEnd(p.s, at) {
			cuts = append(cuts, at)
		}
	default:
		for _, span := range text.Sentences(p.s[b.Start:b.End]) {
			cuts = append(cuts, b.Start+span.Start)
		}
		cuts = cuts[min(1, len(cuts)):]
	}
	if len(p.s) > maxFine {
		cuts = thin(cuts, b.Start, 2*p.size)
	}
	if len(cuts) == 0 {
		for _, s := range windows(p.s, span{b.Start, b.End}, max(p.size/2, 1), 0) {
			cuts = append(cuts, s.start)
		}
		cuts = cuts[1:]
	}
	out := make([]document.Block, 0, len(cuts)+1)
	at, inside, opener := b.Start, b.Inside, p.opener(b)
	for _, cut := range append(cuts, b.End) {
		out = append(out, document.Block{Start: at, End: cut, Kind: b.Kind, Inside: inside})
		at, inside = cut, opener
	}
	return out
}

// thin drops cuts that follow another one, or the start, within so many bytes.
func thin(cuts []int, start, least int) []int {
	out := cuts[:0]
	for _, cut := range cuts {
		if cut-start >= least {
			out = append(out, cut)
			start = cut
		}
	}
	return out
}

// opener returns the line that opens the block of code that b is or is a part of; "" without
// a fence, and for other blocks.
func (p *packer) opener(b document.Block) string {
	if b.Kind != document.KindCode || b.Inside != "" {
		return b.Inside
	}
	line := strings.Trim(p.s[b.Start:min(b.End, document.LineEnd(p.s, b.Start))], "> \t\r\n")
	if _, fenced := text.OpenFence(line); !fenced || len(line) > maxOpener {
		return ""
	}
	return line
}

// maxOpener is the most bytes of a line that opens a block of code.
const maxOpener = 200

// isNoise reports whether a block has no text to read: only shortcodes, comments, rules or
// marks.
func isNoise(s string) bool {
	if len(s) > 2000 {
		return false
	}
	said := func(r rune) bool { return r > ' ' && !strings.ContainsRune("-*_=#>|.`~\u00a0", r) }
	return !strings.ContainsFunc(document.WithoutShortcodes(s), said)
}
