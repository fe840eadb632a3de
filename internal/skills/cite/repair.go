package cite

import (
	"strings"
)

// Fixing says what [Repair] does with unsupported claims.
type Fixing struct {
	// Unsupported is inserted into a claim that no source supports: "(unsupported)", in the language of the
	// answer.
	Unsupported string
	// Strict drops such claims.
	Strict bool
}

// Repaired is a corrected answer, with counts of the corrections.
type Repaired struct {
	Text        string
	Picks       []Pick // the passage behind each mark of Text, in order
	Report      Report // counts of Text; Sentences is empty
	Reattached  int    // claims that now cite a source that supports them
	Unsupported int    // unsupported claims, marked
	Dropped     int    // unsupported claims, removed
}

// Repair corrects an answer by the report of [Check]. A claim that its cited sources do not support cites the
// source that does; without one it is marked, or dropped in strict mode. Marks of missing sources are
// removed, and marks of sources that do not support a claim if another one does. Unsupported blocks of code
// keep their marks; the report lists them.
//
// Repairing and checking an answer again does not change it.
func Repair(answer string, r Report, f Fixing) Repaired {
	out := &repair{Fixing: f}
	at := 0
	for i, s := range r.Sentences {
		out.WriteString(answer[at:s.Start])
		at = s.End
		if out.sentence(s, answer[s.Start:s.End]) {
			continue
		}
		next := len(answer)
		if i+1 < len(r.Sentences) {
			next = r.Sentences[i+1].Start
		}
		if at < next && answer[at] == '\n' && strings.HasSuffix("\n"+out.String(), "\n") {
			at++ // remove the whole line
		}
	}
	out.WriteString(answer[at:])
	valid := Validate(strings.TrimSpace(out.String()), r.Sources)
	out.done.Text, out.done.Report.Cited, out.done.Report.Sources = valid.Text, valid.Cited, r.Sources
	out.done.Report.shares()
	return out.done
}

type repair struct {
	Fixing
	strings.Builder
	done Repaired
}

// sentence writes one sentence and reports whether it stays.
func (r *repair) sentence(s Sentence, raw string) bool {
	cites := len(s.Cited)+s.Invalid > 0
	switch {
	case s.Kind != Claim && (s.Kind != Code || !cites):
		r.keep(s, raw)
	case s.Supported:
		r.done.Report.count(s, r.keep(s, raw))
	case s.Grounded:
		r.done.Reattached++
		s.Cited, s.right = []int{s.Best.N}, 1
		r.done.Report.count(s, 1)
		r.WriteString(appendMark(Strip(raw), Marker(s.Best.N)))
		r.pick(s.Best)
		r.done.Picks[len(r.done.Picks)-1].Found = true
	case s.Kind == Code:
		if marks := r.keep(s, raw); marks > 0 { // without a mark it is not checked
			r.done.Report.count(s, marks)
		}
	case r.Strict:
		r.done.Dropped++
		return false
	default:
		r.done.Unsupported++
		s.Cited = nil
		r.done.Report.count(s, 0)
		r.WriteString(insertRemark(strings.ReplaceAll(Strip(raw), " "+r.Unsupported, ""), r.Unsupported))
	}
	return true
}

// keep writes a sentence unchanged, except that marks before it move behind it and that marks of sources that
// do not support it are removed if another one does. It returns the number of marks.
func (r *repair) keep(s Sentence, raw string) (kept int) {
	alone := 0
	for _, source := range s.Sources {
		if source.Holds {
			alone++
		}
	}
	all := alone == 0 || alone == len(s.Cited)
	var marks strings.Builder
	for _, source := range s.Sources {
		if all || source.Holds {
			kept++
			marks.WriteString(Marker(source.N))
			r.pick(source)
		}
	}
	if all && !marksFirst(raw) {
		r.WriteString(raw)
		return kept
	}
	r.WriteString(appendMark(strings.TrimLeft(Strip(raw), " \t"), marks.String()))
	return kept
}

// marksFirst reports whether a mark precedes all words of a sentence.
func marksFirst(raw string) bool {
	marks := find(raw)
	if len(marks) == 0 {
		return false
	}
	before := strings.TrimSpace(raw[:marks[0].start])
	return before == "" || isBullet(before)
}

// pick records the passage of a mark.
func (r *repair) pick(s Support) {
	r.done.Picks = append(r.done.Picks, Pick{N: s.N, Start: s.Start, End: s.End})
}

// appendMark puts a mark after a sentence: below a block of code, and within the last cell of a table row.
func appendMark(sentence, mark string) string {
	sentence = strings.TrimRight(sentence, " \t\r\n")
	switch {
	case kindOf(sentence, sentence) == Code:
		return sentence + "\n" + mark
	case isRow(sentence) && strings.HasSuffix(sentence, "|"):
		return strings.TrimRight(strings.TrimSuffix(sentence, "|"), " ") + " " + mark + " |"
	}
	return sentence + " " + mark
}

// insertRemark inserts a remark before the full stop of a sentence, so that it belongs to the sentence.
func insertRemark(sentence, word string) string {
	body := strings.TrimRight(sentence, " \t\r\n")
	bare := strings.TrimRight(body, ".!。")
	if isRow(body) || bare == "" {
		return appendMark(body, word)
	}
	return bare + " " + word + body[len(bare):]
}
