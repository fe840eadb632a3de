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
