package text

import "example.com/ragflow/internal/memo"

// lettered are the runs of letters that fields consist of, and what is known of their terms.
type lettered struct {
	runs  []Run
	next  int // of runs: none before it is in the field under way
	words *memo.Letters
	terms *memo.Numbers
}

// known adds the terms of the fields from s[at] on that are one word each, known by now,
// with a mark of punctuation or none behind it, as most are; and returns where the
// first other one begins.
func (r *run) known(at, to int) int {
	f, s := &r.read, r.s[:to]
	runs, terms, numbers, next := f.runs, f.terms, r.numbers, f.next
	for at < len(s) {
		if classes[s[at]] == spaceByte {
			at++
			continue
		}
		for next < len(runs) && int(runs[next].Start) < at {
			next++
		}
		if next == len(runs) {
			break
		}
		run := &runs[next]
		end := int(run.End)
		if int(run.Start) != at || run.about&onePart == 0 || end > len(s) {
			break
		}
		if end < len(s) {
			if class := classes[s[end]]; class != spaceByte {
				if !endsWord[class] || end+1 < len(s) && classes[s[end+1]] != spaceByte {
					break
				}
			}
			end++
		}
		term := terms.Get(run.Word)
		if term == 0 { // not known, or no word of the lexicon
			break
		}
		if term > 1 {
			numbers = append(numbers, term-2)
		}
		next++
		at = end
	}
	f.next, r.numbers = next, numbers
	return at
}

// field adds the terms of the field that begins at s[at], where it is one word of ASCII
// letters, or words that hyphens join, with punctuation around, and returns its end.
// It returns at for any other field. The terms are those that plain adds, which
// knows more fields.
func (r *run) field(at, to int) (end int) {
	f := &r.read
	for f.next < len(f.runs) && int(f.runs[f.next].Start) < at {
		f.next++
	}
	if f.next == len(f.runs) {
		return at
	}
	first := &f.runs[f.next]
	for i := at; i < int(first.Start); i++ {
		if class := classes[r.s[i]]; class != openByte && class != quoteByte {
			return at
		}
	}
	if first.about&onePart == 0 {
		return at
	}
	last := f.next
	end = int(first.End)
	for end+1 < to && classes[r.s[end]] == jointByte {
		if last++; last == len(f.runs) || int(f.runs[last].Start) != end+1 || f.runs[last].about&onePart == 0 {
			return at
		}
		end = int(f.runs[last].End)
	}
	if end+1 < to && r.s[end] == '\'' && isLetterByte(r.s[end+1]) {
		return at
	}
	core := end
	for ; end < to; end++ {
		class := classes[r.s[end]]
		if class == spaceByte {
			break
		}
		if class != closeByte && class != numberByte && class != quoteByte && r.s[end] != '"' {
			return at
		}
	}
	if last > f.next {
		if core-int(first.Start) > maxTerm {
			return at
		}
		r.joined(f.runs[f.next : last+1])
	}
	for k := f.next; k <= last; k++ {
		if n := r.ofRun(&f.runs[k]); n > 0 {
			r.numbers = append(r.numbers, n-1)
		}
	}
	f.next = last + 1
	return end
}

// joined adds the term of words that hyphens join, as [run.whole] does.
func (r *run) joined(runs []Run) {
	b := r.raw[:0]
	for i := range runs {
		b = append(b, r.s[runs[i].Start:runs[i].End]...)
	}
	r.raw = b
	number, known := r.surfaces.Get(string(b)) // no allocation for a name seen before
	if !known {
		number = r.ofNew(string(b))
	}
	if number > 0 {
		r.numbers = append(r.numbers, number-1)
	}
}

// ofRun is ofSurface for a run of letters.
func (r *run) ofRun(run *Run) uint32 {
	if run.Word == 0 {
		return r.ofSurface(r.s[run.Start:run.End])
	}
	if n := r.read.terms.Get(run.Word); n > 0 {
		return n - 1
	}
	n := r.ofSmall(run)
	if n == 0 {
		n = 1 + r.numberOf(r.s[run.Start:run.End])
	}
	r.read.terms.Set(run.Word, n)
	return n - 1
}

// ofSmall returns what is known of the word of a run as it is in small letters, which has
// the same term; 0 where that was not met.
func (r *run) ofSmall(run *Run) uint32 {
	word := [1]memo.Word{wordOf(r.s[run.Start:run.End])}
	w := &word[0]
	first, second := w.First, w.Second
	w.First |= 0x20 * eachByte & (1<<(8*min(run.End-run.Start, 8)) - 1)
	w.Second |= 0x20 * eachByte & (1<<(8*max(run.End-run.Start, 8)-64) - 1)
	if w.First == first && w.Second == second {
		return 0
	}
	r.read.words.Get(word[:])
	if w.Number == 0 {
		return 0
	}
	return r.read.terms.Get(w.Number)
}
