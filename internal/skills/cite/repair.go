package cite

import (
	"strings"
)

// Fixing says what [Repair] does with what no source says.
type Fixing struct {
	// Unsupported is put behind a claim that no source supports: "(unsupported)",
	// in the language of the answer.
	Unsupported string
	// Strict drops such claims instead.
	Strict bool
}

// Repaired is an answer put right, and what had to be done.
type Repaired struct {
	Text        string
	Picks       []Pick // the passage behind each mark of Text, in order
	Reattached  int    // claims that now cite a source that says them
	Unsupported int    // claims that no source says, marked
	Dropped     int    // claims that no source says, taken out
}

// Repair puts an answer right by its report, which [Check] made of it: a claim
// that the sources it cites do not say is given the source that does; where
// there is none it is marked, or dropped in strict mode. Marks of sources that
// do not exist go, and those of sources that do not say the claim beside one
// that does. Blocks of code that no source holds keep their marks: the report
// tells of them.
//
// An answer that was repaired and checked again is left as it is.
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
			at++ // the whole line goes
		}
	}
	out.WriteString(answer[at:])
	out.done.Text = Validate(strings.TrimSpace(out.String()), r.Sources).Text
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
	case s.Kind != Claim && (s.Kind != Code || !cites), s.Supported:
		r.keep(s, raw)
	case s.Grounded:
		r.done.Reattached++
		r.WriteString(behind(Strip(raw), Marker(s.Best.N)))
		r.pick(s.Best)
		r.done.Picks[len(r.done.Picks)-1].Found = true
	case s.Kind == Code:
		r.keep(s, raw)
	case r.Strict:
		r.done.Dropped++
		return false
	default:
		r.done.Unsupported++
		r.WriteString(doubted(strings.ReplaceAll(Strip(raw), " "+r.Unsupported, ""), r.Unsupported))
	}
	return true
}

// keep writes a sentence as it is, with two exceptions. Where one of its sources says it, marks
// of sources that do not are left out. Marks in front of it are written behind it.
func (r *repair) keep(s Sentence, raw string) {
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
			marks.WriteString(Marker(source.N))
			r.pick(source)
		}
	}
	if all && !marksFirst(raw) {
		r.WriteString(raw)
		return
	}
	r.WriteString(behind(strings.TrimLeft(Strip(raw), " \t"), marks.String()))
}

// marksFirst reports whether a mark stands before all words of a sentence.
func marksFirst(raw string) bool {
	marks := find(raw)
	if len(marks) == 0 {
		return false
	}
	before := strings.TrimSpace(raw[:marks[0].start])
	return before == "" || isBullet(before)
}

// pick notes the passage behind a mark.
func (r *repair) pick(s Support) {
	r.done.Picks = append(r.done.Picks, Pick{N: s.N, Start: s.Start, End: s.End})
}

// behind puts a mark behind a sentence, on the line below a block of code and
// inside of a table.
func behind(sentence, mark string) string {
	sentence = strings.TrimRight(sentence, " \t\r\n")
	switch {
	case kindOf(sentence, sentence) == Code:
		return sentence + "\n" + mark
	case isRow(sentence) && strings.HasSuffix(sentence, "|"):
		return strings.TrimRight(strings.TrimSuffix(sentence, "|"), " ") + " " + mark + " |"
	}
	return sentence + " " + mark
}

// doubted puts the word of doubt into a sentence, before the stop that ends it,
// so that it is seen to belong there.
func doubted(sentence, word string) string {
	body := strings.TrimRight(sentence, " \t\r\n")
	bare := strings.TrimRight(body, ".!。")
	if isRow(body) || bare == "" {
		return behind(body, word)
	}
	return bare + " " + word + body[len(bare):]
}
