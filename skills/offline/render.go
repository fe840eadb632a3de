package offline

import (
	"cmp"
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/skills/cite"
	"example.com/ragflow/skills/readable"
)

// render writes a piece in Markdown with the mark of source n behind it, and
// returns what it quotes. bold marks the chosen sentence.
func (x *piece) render(n int, bold bool, language string) (string, []cite.Pick) {
	var b strings.Builder
	var picks []cite.Pick
	blocks := x.blocks()
	margin := x.p.blocks[blocks[0]].indent
	for _, i := range blocks {
		margin = min(margin, x.p.blocks[i].indent)
	}
	bold = bold && x.first < x.last
	var before block
	for at, i := range blocks {
		o, span := x.p.blocks[i], x.span(i)
		if k := len(picks) - 1; k >= 0 && blocks[at-1] == i-1 {
			picks[k].End = span.end
		} else if span.start < span.end {
			picks = append(picks, cite.Pick{N: n, Start: span.start, End: span.end})
		}
		b.WriteString(separator(at, before, o))
		switch o.kind {
		case code:
			b.WriteString(x.code(i, language))
		case row:
			b.WriteString(x.row(i, at == 0 || before.kind != row))
		case item:
			depth := (o.indent - margin + 1) / 2
			b.WriteString(strings.Repeat("  ", min(depth, 4)) + listMarker(o.marker) + x.prose(span, bold))
		case paragraph, heading:
			b.WriteString(x.prose(span, bold))
		}
		before = o
	}
	mark := " " + cite.Marker(n)
	switch before.kind {
	case code:
		mark = "\n" + cite.Marker(n)
	case row:
		mark = "\n\n" + cite.Marker(n)
	case item, paragraph, heading:
	}
	b.WriteString(mark)
	if more := x.left(); more > 0 {
		b.WriteString("\n\n" + prompts.More(more, language))
	}
	return b.String(), picks
}

// separator stands between two blocks of a piece.
func separator(at int, before, o block) string {
	switch {
	case at == 0:
		return ""
	case before.kind == row && o.kind == row && before.group == o.group:
		return "\n"
	case before.kind == item && o.kind == item:
		return "\n"
	}
	return "\n\n"
}

func listMarker(marker string) string {
	if strings.ContainsAny(marker, "0123456789") {
		return marker + " "
	}
	return "- "
}

// prose is a paragraph or an item, tidied, with an ellipsis where it is cut. The
// telling sentence is bold.
func (x *piece) prose(shown unit, bold bool) string {
	s, u := x.p.text[shown.start:shown.end], x.p.units[x.unit]
	o := x.p.blocks[shown.block]
	from := 0
	if o.kind == item && shown.start == o.start {
		from = len(s) - len(strings.TrimLeft(s, "> \t"))
		from += len(itemMark.FindString(s[from:]))
	}
	out := readable.Line(s[from:])
	if start, end := max(u.start-shown.start, from), u.end-shown.start; bold && u.block == shown.block && start < end && end <= len(s) {
		out = spaced(readable.Line(s[from:start]), emphasized(readable.Line(s[start:end])), readable.Line(s[end:]))
	}
	if shown.start > o.start {
		out = "… " + out
	}
	if shown.end < o.end {
		out += " …"
	}
	return out
}

func spaced(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// emphasized is a sentence in bold.
func emphasized(s string) string {
	s = strings.TrimSpace(strings.NewReplacer("**", "", "__", "").Replace(s))
	if s == "" {
		return ""
	}
	return "**" + s + "**"
}

// code is a block of code as an answer shows it, at most mostCode lines.
func (x *piece) code(i int, language string) string {
	lines, syntax := readable.Code(x.p.text[x.p.blocks[i].start:x.p.blocks[i].end])
	more := len(lines) - mostCode
	if more > 1 {
		lines = lines[:mostCode]
	}
	body, fence := strings.Join(lines, "\n"), "```"
	for strings.Contains(body, fence) {
		fence += "`"
	}
	out := fence + cmp.Or(syntax, x.p.language) + "\n" + body + "\n" + fence
	if more > 1 {
		out += "\n" + prompts.MoreCode(more, language)
	}
	return out
}

// row is a row of a table; the first one shown is followed by the rule, where it
// is the header.
func (x *piece) row(i int, first bool) string {
	o := x.p.blocks[i]
	line := readable.Line(x.p.text[o.start:o.end])
	switch {
	case o.head < 0:
		return "- " + strings.ReplaceAll(strings.Trim(line, "| "), " | ", " — ")
	case first && o.rule != "":
		return line + "\n" + o.rule
	}
	return line
}
