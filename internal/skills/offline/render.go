package offline

import (
	"cmp"
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/skills/readable"
)

// render writes a piece in Markdown, followed by the mark of source n, and returns the quoted spans. bold
// marks the key sentence.
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
		gap := at > 0 && blocks[at-1] != i-1
		if k := len(picks) - 1; k >= 0 && !gap && picks[k].End == x.p.blocks[i-1].end {
			picks[k].End = span.end
		} else if span.start < span.end {
			picks = append(picks, cite.Pick{N: n, Start: span.start, End: span.end})
		}
		b.WriteString(separator(at, before, o))
		if gap && o.kind == row { // between the header of a table and its rows
			b.WriteString("| … |\n")
		} else if (at == 0 || before.kind == heading) && x.startsMidList() {
			b.WriteString("- …\n")
		}
		switch o.kind {
		case code:
			b.WriteString(o.inQuotes(x.code(span, language)))
		case row:
			b.WriteString(o.inQuotes(x.row(i, at == 0 || before.kind != row || before.group != o.group)))
		case item:
			depth := (o.indent - margin + 1) / 2
			b.WriteString(o.inQuotes(strings.Repeat("  ", min(depth, 4)) + listMarker(o.marker) + x.prose(span, bold)))
		case paragraph, heading:
			b.WriteString(o.inQuotes(x.prose(span, bold)))
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
	if more := x.hidden(); more > 0 {
		b.WriteString("\n\n" + prompts.More(more, language))
	}
	return b.String(), picks
}

// inQuotes returns the text of a block with the marks of the mails that quote it.
func (b block) inQuotes(s string) string {
	mark := strings.Repeat("> ", b.quoted)
	if mark != "" {
		s = strings.ReplaceAll(s, `\> `, "") // the mark of a line that begins with a number
	}
	return mark + strings.ReplaceAll(s, "\n", "\n"+mark)
}

// separator returns the text between two blocks of a piece.
func separator(at int, before, o block) string {
	switch {
	case at == 0:
		return ""
	case before.kind == row && o.kind == row && before.group == o.group:
		return "\n"
	case before.kind == item && o.kind == item:
		return "\n"
	case before.field && o.field && before.quoted == o.quoted:
		return "  \n" // the line break of Markdown
	case before.quoted > 0 && o.quoted > 0:
		return "\n" + strings.TrimSpace(strings.Repeat("> ", min(before.quoted, o.quoted))) + "\n"
	}
	return "\n\n"
}

// listMarker returns the marker of an item in Markdown. A sign such as "+" stays, because it may have a
// meaning.
func listMarker(marker string) string { return strings.ReplaceAll(marker, "•", "*") + " " }

// prose formats a paragraph or an item, with an ellipsis at each cut and the key sentence in bold if asked
// for.
func (x *piece) prose(shown unit, bold bool) string {
	s, u := x.p.text[shown.start:shown.end], x.p.units[x.unit]
	o := x.p.blocks[shown.block]
	from := len(headingLine.FindString(s))
	if o.kind == item && shown.start == o.start {
		from = len(s) - len(strings.TrimLeft(s, "> \t"))
		from += len(itemMark.FindString(s[from:]))
	}
	out := readable.Line(s[from:])
	if start, end := max(u.start-shown.start, from), u.end-shown.start; bold && !strings.Contains(s, "**") && u.block == shown.block && start < end && end <= len(s) {
		parts := []string{readable.Line(s[from:start]), readable.Line(s[start:end]), readable.Line(s[end:])}
		if strings.ReplaceAll(strings.Join(parts, ""), " ", "") == strings.ReplaceAll(out, " ", "") { // no markup crosses the sentence's ends
			parts[1] = "**" + strings.TrimSpace(parts[1]) + "**"
			out = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
		}
	}
	if shown.start > o.start {
		out = "… " + out
	}
	if shown.end < o.end || !x.single && shown.block == x.p.units[x.last].block && shown.block+1 < len(x.p.blocks) && o.begins(x.p.text) {
		out += " …"
	}
	return out
}

// code formats a block of code, with a note about hidden lines.
func (x *piece) code(shown unit, language string) string {
	lines, syntax := readable.Code(x.p.text[shown.start:shown.end])
	body, fence := strings.Join(lines, "\n"), "```"
	for strings.Contains(body, fence) {
		fence += "`"
	}
	out := fence + cmp.Or(syntax, x.p.language) + "\n" + body + "\n" + fence
	if o := x.p.blocks[shown.block]; shown.end < o.end {
		all, _ := readable.Code(x.p.text[o.start:o.end])
		out += "\n" + prompts.MoreCode(len(all)-len(lines), language)
	}
	return out
}

// row formats a row of a table. After the header follows the rule.
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
