package offline

import (
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/skills/cite"
)

// render writes a piece in Markdown with the mark of source n behind it, and
// returns what it quotes. bold marks the chosen sentence.
func (x *piece) render(n int, bold bool, language string) (string, []cite.Pick) {
	var b strings.Builder
	var picks []cite.Pick
	margin := x.p.blocks[x.blocks[0]].indent
	for _, i := range x.blocks {
		margin = min(margin, x.p.blocks[i].indent)
	}
	several := len(x.blocks) > 1 || len(x.p.sentencesIn(x.blocks[0])) > 1
	var before block
	for at, i := range x.blocks {
		o := x.p.blocks[i]
		span, cut := x.spans[i]
		if !cut {
			span = unit{o.start, o.end, i}
		}
		if span.start < span.end {
			if k := len(picks) - 1; k >= 0 && x.blocks[at-1] == i-1 && !cut {
				picks[k].End = span.end
			} else {
				picks = append(picks, cite.Pick{N: n, Start: span.start, End: span.end})
			}
		}
		skipped := at > 0 && x.blocks[at-1] != i-1
		b.WriteString(separator(at, before, o, skipped))
		switch o.kind {
		case code:
			b.WriteString(x.code(i, language))
		case row:
			b.WriteString(x.row(i, at == 0 || before.kind != row))
		case item:
			depth := (o.indent - margin + 1) / 2
			b.WriteString(strings.Repeat("  ", min(depth, 4)) + listMarker(o.marker) + x.prose(span, cut, bold && several))
		case paragraph, heading:
			b.WriteString(x.prose(span, cut, bold && several))
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
func separator(at int, before, o block, skipped bool) string {
	switch {
	case at == 0:
		return ""
	case before.kind == row && o.kind == row && before.group == o.group:
		return "\n"
	case before.kind == item && o.kind == item && skipped:
		return "\n- …\n"
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

// sentencesIn are the units of a block.
func (p *passage) sentencesIn(block int) []unit {
	var out []unit
	for _, u := range p.units {
		if u.block == block {
			out = append(out, u)
		}
	}
	return out
}

// prose is a paragraph or an item, tidied, with an ellipsis where it is cut. The
// chosen sentence is bold.
func (x *piece) prose(span unit, cut, bold bool) string {
	s, u := x.p.text[span.start:span.end], x.p.units[x.unit]
	o := x.p.blocks[span.block]
	whole := unit{o.start, o.end, span.block}
	from := 0
	if o.kind == item && span.start == o.start {
		from = len(s) - len(strings.TrimLeft(s, "> \t"))
		from += len(itemMark.FindString(s[from:]))
	}
	var out string
	if start, end := max(u.start-span.start, from), u.end-span.start; bold && u.block == span.block && start < end && end <= len(s) {
		out = joined(tidy(s[from:start]), emphasized(tidy(s[start:end])), tidy(s[end:]))
	} else {
		out = tidy(s[from:])
	}
	if cut && span.start > whole.start {
		out = "… " + out
	}
	if cut && span.end < whole.end {
		out += " …"
	}
	return out
}

func joined(parts ...string) string {
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
	o := x.p.blocks[i]
	raw := x.p.text[o.start:o.end]
	shown := raw
	fenced := strings.HasPrefix(strings.TrimLeft(raw, "> \t"), "```") || strings.HasPrefix(strings.TrimLeft(raw, "> \t"), "~~~")
	most := mostCode
	if fenced {
		most += 2
	}
	lines := strings.SplitAfter(raw, "\n")
	more := 0
	if len(lines) > most+1 {
		more = len(lines) - most
		if fenced {
			more--
		}
		shown = strings.Join(lines[:most], "")
	}
	if fenced {
		shown = codeBlock(shown)
	} else {
		shown = bareBlock(shown, x.p.language)
	}
	if more > 0 {
		shown += "\n" + prompts.MoreCode(more, language)
	}
	return shown
}

// row is a row of a table; the first one shown is followed by the rule, where it
// is the header.
func (x *piece) row(i int, first bool) string {
	o := x.p.blocks[i]
	cells := cellsOf(x.p.text[o.start:o.end])
	if o.head < 0 {
		return "- " + strings.Join(cells, " — ")
	}
	out := "| " + strings.Join(cells, " | ") + " |"
	if first && o.head == i {
		out += "\n|" + strings.Repeat(" --- |", len(cells))
	}
	return out
}

// cellsOf are the cells of a row, tidied. A bar in code or behind a backslash
// divides nothing.
func cellsOf(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimLeft(line, "> \t"), "|"), "|")
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

// drop leaves a block out of a piece, unless it is the one that was chosen.
func (x *piece) drop(i int) {
	x.blocks = slices.DeleteFunc(slices.Clone(x.blocks), func(k int) bool { return k == i })
}
