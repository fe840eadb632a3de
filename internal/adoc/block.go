package adoc

import (
	"regexp"
	"strings"
)

var delimiterPattern = regexp.MustCompile("^(?:-{4,}|\\.{4,}|={4,}|\\*{4,}|_{4,}|\\+{4,}|/{4,}|--|```.*|[|,:!]={3,})$")

// delimiter reports whether a line begins or ends a block.
func delimiter(line string) bool { return delimiterPattern.MatchString(line) }

// delimited reads a block between two lines of signs. What is code stays as it is; of
// examples, quotes and the like only the signs are taken off.
func (r *reader) delimited(line string) bool {
	if !delimiter(line) {
		return false
	}
	switch line[0] {
	case '-', '.', '`', ',', ':':
		if line != "--" {
			r.at++
			r.code(r.language(), strings.TrimRight(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+# "))
			return true
		}
	case '/', '+': // a comment, and raw HTML
		r.skip(line)
		return true
	case '|', '!':
		r.table = &table{ends: line, options: r.style, from: r.at}
		r.style = ""
	}
	r.at++
	if said(r.style) == "" {
		r.style = ""
	}
	return true
}

// skip takes a block whose end is like its beginning.
func (r *reader) skip(end string) {
	for r.at++; r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) != end; r.at++ {
		continue
	}
	r.at++
	r.style = ""
}

// language is that which the style of a block of code names.
func (r *reader) language() string {
	if m := languagePattern.FindStringSubmatch(r.style); m != nil {
		return m[1]
	}
	return ""
}

var callout = regexp.MustCompile(`(?:[ \t]*(?://|#|--|;;)?[ \t]*<(?:\d+|\.)>)+$`)

// code writes lines as a block of code: up to the line that ends it, or, without
// one, to a blank line.
func (r *reader) code(language, end string) {
	r.style = ""
	from := r.at
	for r.at < len(r.lines) {
		bare := strings.TrimSpace(r.lines[r.at])
		if end == "" && bare == "" || end != "" && bare == end {
			break
		}
		r.at++
	}
	r.fenced(language, from, r.at)
	if end != "" {
		r.at++
	}
}

// literal writes lines that are set in as a block of code.
func (r *reader) literal() {
	r.style = ""
	from := r.at
	for r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) != "" {
		r.at++
	}
	r.fenced("", from, r.at)
}

func (r *reader) fenced(language string, from, to int) {
	fence, lead := "```", ""
	for _, l := range r.lines[from:to] {
		for strings.Contains(l, fence) && len(fence) < 64 {
			fence += "`"
		}
	}
	if from == to {
		return
	}
	if r.depth > 0 && !r.broken {
		lead = strings.Repeat("  ", r.depth)
	} else {
		r.depth = 0
	}
	r.lineFrom(lead+fence+language, true, from)
	for i, l := range r.lines[from:to] {
		r.lineFrom(lead+callout.ReplaceAllString(l, ""), false, from+i)
	}
	r.lineFrom(lead+fence, false, to-1)
	r.broken = true
}

// line writes a line of Markdown that the line that is read gives.
func (r *reader) line(s string, apart bool) { r.lineFrom(s, apart, r.at) }

// lineFrom writes a line of Markdown that a line of the file gives, apart from what is
// before it by a blank line or not.
func (r *reader) lineFrom(s string, apart bool, from int) {
	if apart && r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
	if n := len(r.places); n == 0 || r.places[n-1].Line != from+1 {
		r.places = append(r.places, Place{r.out.Len(), from + 1})
	}
	r.out.WriteString(s)
	r.out.WriteByte('\n')
	r.started = true
}

// table is one that is being read.
type table struct {
	ends    string
	options string
	from    int
	columns int // 0: as many as the first line has
	header  bool
	cells   []cell
}

type cell struct {
	text string
	line int
}

var (
	cellPattern    = regexp.MustCompile(`(?:^|[ \t])(?:\d+(?:\.\d+)?[+*])?(?:\.\d+\+)?[<^>]?(?:\.[<^>])?[adehlmsv]?\|`)
	columnsPattern = regexp.MustCompile(`cols="?([^"\]]*)`)
	repeatPattern  = regexp.MustCompile(`^(\d+)\*`)
)

// tableLine reads a line of a table.
func (r *reader) tableLine(line string) {
	t := r.table
	switch {
	case strings.TrimSpace(line) == t.ends:
		r.at++
		r.closeTable()
		return
	case strings.TrimSpace(line) == "":
		t.header = t.header || len(t.cells) > 0 && len(t.cells) == t.columns && t.cells[0].line == t.cells[len(t.cells)-1].line
	default:
		parts := cellPattern.Split(line, -1)
		if last := len(t.cells) - 1; last >= 0 && len(t.cells) < 100_000 {
			t.cells[last].text += " " + parts[0]
		}
		for _, p := range parts[1:] {
			t.cells = append(t.cells, cell{p, r.at})
		}
		if t.columns == 0 {
			t.columns = max(columns(t.options), len(parts)-1)
		}
	}
	r.at++
}

// columns is how many columns the options of a table tell of, 0 where they do not.
func columns(options string) int {
	m := columnsPattern.FindStringSubmatch(options)
	if m == nil {
		return 0
	}
	n := 0
	for c := range strings.SplitSeq(m[1], ",") {
		if times := repeatPattern.FindStringSubmatch(strings.TrimSpace(c)); times != nil && len(times[1]) < 3 {
			for _, digit := range times[1] {
				n = 10*n + int(digit-'0')
			}
		} else {
			n++
		}
	}
	return min(n, 100)
}

// closeTable writes the table that was read.
func (r *reader) closeTable() {
	t := r.table
	if r.table = nil; t == nil || len(t.cells) == 0 || t.columns == 0 {
		return
	}
	for i := 0; i < len(t.cells); i += t.columns {
		row := t.cells[i:min(i+t.columns, len(t.cells))]
		var b strings.Builder
		for _, c := range row {
			b.WriteString("| " + strings.ReplaceAll(r.inline(strings.TrimSpace(c.text)), "|", "\\|") + " ")
		}
		r.lineFrom(b.String()+"|", i == 0, row[0].line)
		if i == 0 {
			r.lineFrom(strings.Repeat("|---", t.columns)+"|", false, row[0].line)
		}
	}
	r.depth, r.broken = 0, true
}
