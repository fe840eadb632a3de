package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
)

// sentences splits an answer. A mark belongs to the sentence that it is in or follows; at the end of a list
// item it belongs to the whole item, below a table or a block of code to that.
func sentences(answer string, n int) []Sentence {
	var out []Sentence
	marks := find(answer)
	end := 0   // of the previous span
	item := -1 // the sentence that begins the open list item
	for _, span := range text.Sentences(answer) {
		raw := answer[span.Start:span.End]
		var inside []marker
		for len(marks) > 0 && marks[0].start < span.End {
			inside, marks = append(inside, marks[0]), marks[1:]
		}
		behind := 0 // marks at the beginning of the span
		at := span.Start
		for behind < len(inside) && isGap(answer[at:inside[behind].start]) {
			at = inside[behind].end
			behind++
		}
		onlyMarks := strings.Trim(answer[at:span.End], " \t.,;") == ""
		if len(out) > 0 && behind > 0 && (onlyMarks || !strings.Contains(answer[end:span.Start], "\n")) {
			out[len(out)-1].End = at
			attach(out, answer, inside[:behind], n)
			if item >= 0 {
				shareMark(out[item:])
			}
			inside = inside[behind:]
		} else {
			at = span.Start
		}
		end = span.End
		if onlyMarks && at != span.Start || isRule(raw) {
			continue
		}
		s := Sentence{Start: at, End: span.End, Text: said(answer[at:span.End])}
		s.Kind = kindOf(answer[at:span.End], s.Text)
		s.cite(answer, inside, n)
		switch first, _, _ := strings.Cut(strings.TrimLeft(raw, "> \t"), " "); {
		case isBullet(first):
			item = len(out)
		case item >= 0 && (s.Kind == Code || strings.Contains(answer[out[len(out)-1].End:at], "\n\n")):
			item = -1
		}
		out = append(out, s)
		if item >= 0 {
			shareMark(out[item:])
		}
	}
	return out
}

// shareMark copies the mark at the end of a list item to its other sentences if none has a mark.
func shareMark(item []Sentence) {
	last := item[len(item)-1]
	if len(last.Cited) == 0 || slices.ContainsFunc(item[:len(item)-1], func(s Sentence) bool { return len(s.Cited) > 0 }) {
		return
	}
	for i := range item {
		item[i].Cited = slices.Clone(last.Cited)
	}
}

// isGap reports whether s, between marks, has only blanks and punctuation.
func isGap(s string) bool { return strings.Trim(s, " \t\r\n.,;") == "" }

// attach adds marks to the last sentence; if that is a table row, to all rows of the table.
func attach(out []Sentence, answer string, marks []marker, n int) {
	last := len(out) - 1
	out[last].cite(answer, marks, n)
	if !isRow(answer[out[last].Start:out[last].End]) {
		return
	}
	for i := last - 1; i >= 0 && isRow(answer[out[i].Start:out[i].End]) && len(out[i].Cited) == 0; i-- {
		for _, k := range out[last].Cited {
			out[i].Cited = appendNew(out[i].Cited, k)
		}
		if out[i].Kind == Framing {
			out[i].Kind = Claim
		}
	}
}

func (s *Sentence) cite(answer string, marks []marker, n int) {
	for _, m := range marks {
		valid, invalid := m.numbers(answer, n)
		s.Invalid += invalid
		for _, k := range valid {
			s.Cited = appendNew(s.Cited, k)
		}
	}
	if len(marks) > 0 && s.Kind != Code {
		s.Kind = Claim
	}
}

func kindOf(raw, said string) Kind {
	line := strings.TrimLeft(raw, "> \t")
	switch {
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		return Code
	case strings.HasPrefix(line, "#"):
		return Framing
	case strings.HasSuffix(strings.TrimRight(said, "*_\"”’)» "), "?"):
		return Asking
	}
	return Claim
}

// said returns a sentence without its marks and its list marker.
func said(raw string) string {
	s := strings.TrimSpace(Strip(raw))
	s = strings.TrimLeft(s, "> \t")
	if _, rest, ok := strings.Cut(s, " "); ok && isBullet(s[:len(s)-len(rest)-1]) {
		s = strings.TrimSpace(rest)
	}
	return s
}

func isBullet(s string) bool {
	if s == "-" || s == "*" || s == "+" || s == "•" {
		return true
	}
	digits := strings.TrimRight(s, ".)")
	return digits != "" && len(digits) == len(s)-1 && strings.Trim(digits, "0123456789") == ""
}

func isRow(raw string) bool  { return strings.HasPrefix(strings.TrimSpace(raw), "|") }
func isRule(raw string) bool { return strings.Trim(raw, "|-:=*_# \t") == "" }

func appendNew(list []int, n int) []int {
	if slices.Contains(list, n) {
		return list
	}
	return append(list, n)
}
