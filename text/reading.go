package text

import (
	"math/bits"
	"sync/atomic"

	"example.com/ragflow/internal/memo"
)

// Reading is a text taken apart once, for all who need its words: what terms it has, what
// language it is in, and what it is packed with. It is valid as long as the memory that
// its runs were appended to.
type Reading struct {
	Text string
	// Runs are the runs of ASCII letters and those of bytes beyond ASCII, in order and none
	// left out: what stands between them is ASCII.
	Runs    []Run
	lexicon *Lexicon
	ascii   bool
}

// Run is Text[Start:End].
type Run struct {
	Start, End uint32
	// Word is the number of the letters in the [Lexicon], from 1 on; 0 for what has none:
	// long runs of letters, and bytes beyond ASCII.
	Word  uint32
	about uint32 // see beyondASCII
}

// What is known about a run: the number of its sign (see signs) from 1 on, and
const (
	beyondASCII = 1 << (16 + iota) // it is of bytes beyond ASCII
	onePart                        // it is all letters, and camel case begins no word in it

	aboutSign = 1<<16 - 1
)

// Lexicon gives numbers to words of ASCII letters as they stand in texts. It is safe for
// concurrent use.
type Lexicon struct {
	words memo.Letters
	terms [1 + len(latinLanguages)]atomic.Pointer[memo.Numbers] // by way of analyzing and by word: 2 + the number of the term, 1 for a stop word, 0: not known yet
}

// Lexicon returns what the numbers of the runs are of.
func (r *Reading) Lexicon() *Lexicon { return r.lexicon }

// Beyond reports whether bytes beyond ASCII are in a run, or follow it.
func (r *Reading) Beyond(run *Run) bool {
	return run.about&beyondASCII != 0 || int(run.End) < len(r.Text) && r.Text[run.End] >= 0x80
}

// termsOf returns the numbers of terms by word in a way of analyzing.
func (l *Lexicon) termsOf(way int) *memo.Numbers {
	if l.terms[way].Load() == nil {
		l.terms[way].CompareAndSwap(nil, &memo.Numbers{})
	}
	return l.terms[way].Load()
}

// Read takes a text apart. Its runs are appended to dst, and memory for them is the
// caller's again when the reading is no longer needed.
func (v *Vocabulary) Read(dst []Run, s string) (Reading, []Run) {
	r := Reading{Text: s, lexicon: v.lexicon()}
	from := len(dst)
	dst, r.ascii = r.lexicon.read(dst, s)
	r.Runs = dst[from:len(dst):len(dst)]
	return r, dst
}

// lexicon returns the one that texts are read with, which all who read share: so each word
// is looked at once.
func (v *Vocabulary) lexicon() *Lexicon {
	l := v.words.Load()
	if l == nil || l.words.Len() > maxSurfaces {
		fresh := &Lexicon{}
		v.words.CompareAndSwap(l, fresh) // or somebody else begins one anew, and this one serves one text
		return fresh
	}
	return l
}

// read appends the runs of a text. It looks at eight bytes at a time.
func (l *Lexicon) read(dst []Run, s string) (runs []Run, ascii bool) {
	ascii = true
	var words [64]memo.Word // of the last runs, whose numbers are looked for together
	n := 0
	for i := 0; i < len(s); {
		kind := votingBytes[s[i]]
		if kind == noVotingByte {
			i++
			continue
		}
		start := i
		var word memo.Word
		switch {
		case kind == votingBeyond:
			for i < len(s) && s[i] >= 0x80 {
				i++
			}
			ascii = false
		case i+memo.MaxLetters <= len(s):
			first := eight(s, i)
			if other := noSmall(first, 0x20); other != 0 { // its lowest bit is the highest of a byte
				word.First = first & ((other&-other)>>7 - 1)
				i += bits.TrailingZeros64(other) / 8
				break
			}
			second := eight(s, i+8)
			if other := noSmall(second, 0x20); other != 0 {
				word.First, word.Second = first, second&((other&-other)>>7-1)
				i += 8 + bits.TrailingZeros64(other)/8
			} else if i = LettersEnd(s, i+memo.MaxLetters); i-start == memo.MaxLetters {
				word.First, word.Second = first, second
			}
		default:
			if i = LettersEnd(s, i); i-start <= memo.MaxLetters {
				word = wordOf(s[start:i])
			}
		}
		words[n] = word
		dst = append(dst, Run{Start: uint32(start), End: uint32(i)}) //nolint:gosec // texts are shorter than 4 GB
		if n++; n == len(words) {
			l.number(dst[len(dst)-n:], words[:n], s)
			n = 0
		}
	}
	l.number(dst[len(dst)-n:], words[:n], s)
	return dst, ascii
}

// number tells of runs, whose words are given where they have some, what is known.
func (l *Lexicon) number(runs []Run, words []memo.Word, s string) {
	l.words.Get(words)
	for i := range runs {
		run, word := &runs[i], &words[i]
		switch run.Word, run.about = word.Number, word.About; {
		case word.Number > 0:
		case s[run.Start] >= 0x80:
			run.about = beyondASCII
		default:
			about := aboutWord(s[run.Start:run.End])
			if run.about = about; word.First != 0 {
				run.Word, run.about = l.words.Add(*word, about)
			}
		}
	}
}

// wordOf returns the letters of a word that has no more than [memo.MaxLetters].
func wordOf(s string) (w memo.Word) {
	for i := range min(len(s), 8) {
		w.First |= uint64(s[i]) << (8 * i)
	}
	for i := 8; i < len(s); i++ {
		w.Second |= uint64(s[i]) << (8 * (i - 8))
	}
	return w
}

// aboutWord returns what is known about a word of ASCII letters.
func aboutWord(word string) (about uint32) {
	if len(word) <= maxVotingWord {
		var small [maxVotingWord]byte
		for i := range len(word) {
			small[i] = word[i] | 0x20
		}
		if sign, known := signs().words.Get(string(small[:len(word)])); known { // no allocation
			about = uint32(sign.number + 1) //nolint:gosec // below maxSigns
		}
	}
	uppers, lowers := 0, 0 // behind the first
	for i := 1; i < len(word); i++ {
		if isUpper(word[i]) {
			uppers++
		} else {
			lowers++
		}
	}
	if uppers == 0 || lowers == 0 && isUpper(word[0]) {
		about |= onePart
	}
	return about
}

// Languages is that of a [Polyglot], for texts that were read; another analyzer tells no
// languages.
func (v *Vocabulary) Languages(parts []Reading) (whole string, each []string) {
	switch a := v.analyzer.(type) {
	case multilingual:
		return tellLanguages(len(parts), func(i int, b *ballot) (vietnamese bool) {
			r := &parts[i]
			if !r.ascii && isVietnamese(r.Text) {
				return true
			}
			b.read(r)
			return false
		})
	case Polyglot:
		texts := make([]string, len(parts))
		for i := range parts {
			texts[i] = parts[i].Text
		}
		return a.Languages(texts)
	}
	return "", make([]string, len(parts))
}

// read is vote for a text that was read.
func (v *ballot) read(r *Reading) {
	s := r.Text[:min(len(r.Text), maxLanguage)]
	table := signs()
	if r.ascii && len(s) == len(r.Text) { // as most are
		v.words += len(r.Runs)
		seen := [len(v.seen)]uint64{1} // by what runs tell of signs: with 0, so that no sign is no case of its own
		for k := range r.Runs {
			sign := r.Runs[k].about & aboutSign % maxSigns
			if seen[sign/64]>>(sign%64)&1 == 0 {
				seen[sign/64] |= 1 << (sign % 64)
				v.see(table.all[sign-1])
			}
		}
		return
	}
	at := 0 // what stands before it was counted
	for k := range r.Runs {
		run := &r.Runs[k]
		start, end := int(run.Start), int(run.End)
		switch {
		case start >= len(s):
			return
		case start >= at && end <= len(s) && run.about&beyondASCII == 0 && (end == len(s) || s[end] < 0x80): // as most are
			v.words++
			if sign := run.about & aboutSign; sign > 0 {
				v.see(table.all[sign-1])
			}
		case end > len(s) && run.about&beyondASCII == 0 && start >= at: // cut
			v.vote(s[start:])
			return
		default:
			for at = max(at, start); at < min(end, len(s)); {
				at += v.mixedWord(table, s[at:])
			}
		}
	}
}

// AppendRead is Append for a text that was read.
func (v *Vocabulary) AppendRead(dst []uint32, r *Reading, lang string) []uint32 {
	n := v.take()
	defer v.give(n)
	return n.append(dst, r, lang)
}

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
