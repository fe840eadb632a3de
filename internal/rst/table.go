package rst

import (
	"encoding/csv"
	"strings"
	"unicode/utf8"
)

// table writes rows as Markdown does; the first one is the head.
func (r *reader) table(rows [][]string, lines []int) {
	columns := 0
	for _, row := range rows {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return
	}
	r.begin()
	for i, row := range rows {
		if i > 0 {
			r.out.WriteByte('\n')
		}
		cells := make([]string, columns)
		for j, cell := range row {
			cells[j] = strings.ReplaceAll(strings.Join(strings.Fields(r.inline(cell)), " "), "|", `\|`)
		}
		r.write("| "+strings.Join(cells, " | ")+" |", lines[i])
		if i == 0 {
			r.out.WriteByte('\n')
			r.write("|"+strings.Repeat(" --- |", columns), lines[i])
		}
	}
}

// gridTable writes a table that is drawn with lines, and returns how many lines it has.
func (r *reader) gridTable(lines []sourceLine) int {
	n := 0
	for n < len(lines) && lines[n].text != "" && (lines[n].text[0] == '+' || lines[n].text[0] == '|') {
		n++
	}
	var at []int // where columns begin
	for i, c := range []rune(lines[0].text) {
		if c == '+' {
			at = append(at, i)
		}
	}
	var rows [][]string
	var from []int
	fresh := true
	for _, l := range lines[1:n] {
		if rule := strings.Trim(l.text, "+-=") == ""; rule || strings.HasPrefix(l.text, "+") {
			fresh = true
			continue
		}
		if fresh {
			rows, from = append(rows, make([]string, len(at)-1)), append(from, l.line)
			fresh = false
		}
		row := rows[len(rows)-1]
		for j, cell := range gridCells(l.text, at) {
			row[j] = strings.TrimSpace(row[j] + " " + cell)
		}
	}
	r.table(rows, from)
	return n
}

// gridCells are the cells of a line, by the columns they begin in; one that spans
// several is in the first.
func gridCells(line string, at []int) []string {
	runes := []rune(line)
	out := make([]string, len(at)-1)
	begin := 0
	for j := range out {
		end := min(at[j+1], len(runes))
		if end < len(runes) && runes[end] != '|' && runes[end] != '+' { // it goes on
			continue
		}
		out[begin] = strings.TrimSpace(string(runes[min(at[begin]+1, end):end]))
		begin = j + 1
	}
	return out
}

// simpleTable writes a table between rows of equals signs, and returns how many
// lines it has.
func (r *reader) simpleTable(lines []sourceLine) int {
	n, rules := 1, 1
	for n < len(lines) && (rules < 2 || !isRule(lines[n-1].text) || lines[n].text != "") {
		if isRule(lines[n].text) {
			rules++
		}
		n++
	}
	if rules < 2 {
		return r.paragraph(lines)
	}
	at := simpleColumns(lines[0].text)
	var rows [][]string
	var from []int
	for _, l := range lines[1:n] {
		if strings.Trim(l.text, "=- ") == "" {
			continue
		}
		cells := simpleCells(l.text, at)
		if cells[0] == "" && len(rows) > 0 { // the row goes on
			row := rows[len(rows)-1]
			for j, c := range cells {
				row[j] = strings.TrimSpace(row[j] + " " + c)
			}
			continue
		}
		rows, from = append(rows, cells), append(from, l.line)
	}
	r.table(rows, from)
	return n
}

// isRule reports whether a line is above, below or in a simple table.
func isRule(s string) bool { return s != "" && strings.Trim(s, "= ") == "" }

func simpleColumns(rule string) []int {
	var at []int
	for i := range rule {
		if rule[i] == '=' && (i == 0 || rule[i-1] == ' ') {
			at = append(at, i)
		}
	}
	return at
}

// simpleCells are the cells of a line; the last one goes on to its end.
func simpleCells(line string, at []int) []string {
	runes := []rune(line)
	out := make([]string, len(at))
	for j := range at {
		end := len(runes)
		if j+1 < len(at) {
			end = min(end, at[j+1])
		}
		out[j] = strings.TrimSpace(string(runes[min(at[j], end):end]))
	}
	return out
}

// listTable writes a table whose rows are lists.
func (r *reader) listTable(lines []sourceLine) {
	var rows [][]string
	var from []int
	for i := 0; i < len(lines); {
		mark := bulletPattern.FindString(lines[i].text)
		if mark == "" {
			i++
			continue
		}
		n := 1 + below(lines[i+1:], 1)
		row := append([]sourceLine{{lines[i].text[len(mark):], lines[i].line}}, dedent(lines[i+1:i+n], len(mark))...)
		var cells []string
		for _, l := range row {
			if cell := bulletPattern.FindString(l.text); cell != "" {
				cells = append(cells, l.text[len(cell):])
			} else if len(cells) > 0 {
				cells[len(cells)-1] += " " + strings.TrimSpace(l.text)
			}
		}
		rows, from = append(rows, cells), append(from, lines[i].line)
		i += n
	}
	r.table(rows, from)
}

// csvTable writes a table of values with commas between them; one that is broken is
// written as text.
func (r *reader) csvTable(b given) {
	text := joined(b.content)
	if head := b.options["header"]; head != "" {
		text = head + "\n" + strings.TrimLeft(text, "\n")
	}
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord, in.LazyQuotes, in.TrimLeadingSpace = -1, true, true
	if d := b.options["delim"]; utf8.RuneCountInString(d) == 1 && d != `"` {
		in.Comma, _ = utf8.DecodeRuneInString(d)
	}
	rows, err := in.ReadAll()
	if err != nil {
		r.blocks(b.content)
		return
	}
	from := make([]int, len(rows))
	for i := range from {
		from[i] = b.line
	}
	r.table(rows, from)
}
