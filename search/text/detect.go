package text

import (
	"math/bits"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// ballot is how much speaks for each of the detected languages in a text: each
// function word in it has one vote, however often it comes, shared among the
// languages that have the word; each letter that few of them write has half a
// vote.
type ballot struct {
	of    [len(latinLanguages) + 1]float32 // the last is English
	words int
	seen  [(maxSigns + 63) / 64]uint64 // by number of the sign
}

// shapes are a set of what shape gives.
type shapes [1 << 15 / 64]uint64

func (s *shapes) has(shape uint) bool { return s[shape/64]>>(shape%64)&1 == 1 }

// maxSigns is more than there are function words and letters in all, and one.
const maxSigns = 2048

const ofEnglish = len(latinLanguages)

func (v *ballot) add(o *ballot) {
	v.words += o.words
	for i, n := range o.seen {
		for fresh := n &^ v.seen[i]; fresh != 0; fresh &= fresh - 1 {
			v.count(signs().all[i*64+bits.TrailingZeros64(fresh)])
		}
		v.seen[i] |= n
	}
}

// What speaks clearly: at least so many votes, so large a share of the words,
// and so many times those of every other language. Running text has a vote for
// every third to tenth word; code, tables and lists of names have few.
const (
	clearVotes  = 3
	clearShare  = 0.03
	clearFactor = 1.5
	fewVotes    = 1.5 // are enough for a whole document, and for a query
)

// language returns the language that has at least so many votes and clearly
// more than the others, "" where none has.
func (v *ballot) language(least float32) string {
	best, second := ofEnglish, float32(0)
	for i, n := range v.of {
		if n > v.of[best] {
			best = i
		}
	}
	for i, n := range v.of {
		if i != best {
			second = max(second, n)
		}
	}
	top := v.of[best]
	if top < least || top < clearShare*float32(v.words) || top < clearFactor*second {
		return ""
	}
	if best == ofEnglish {
		return "en"
	}
	return latinLanguages[best]
}

// sign is what tells of languages, those whose bit is set in mask.
type sign struct {
	number int
	mask   uint32
	vote   float32
	single bool // a word whose shape no other has
}

type signTable struct {
	words   map[string]*sign
	shapes  shapes // those that words have
	letters map[rune]*sign
	all     []*sign
}

// technical are words of commands, code and addresses that are function words
// somewhere. They count as English too.
const technical = `com os no do as me on so per sub ca da de en la un va id con die man war bin mit den min max sin dos est son fin plus sur
main tag net log set key ok at by im al el es et le les los ne ni nu op og si te ti tu us var vi van ver via vs ha fa han har hem her hun
is it ki la lo man mi mot nog on oh om pa par pas po por sa se sen som su ta tag tak tan to tot tri var vid ze zu sa ab ad an are era
ante men meg alle era sum ser kun dem test des data end ide mais que ur is non ai pe`

// signs are made ready once.
//
//nolint:gochecknoglobals // as it says
var signs = sync.OnceValue(func() *signTable {
	t := &signTable{words: map[string]*sign{}, letters: map[rune]*sign{}}
	first := map[uint]*sign{} // by shape
	add := func(vote float32) *sign {
		s := &sign{number: len(t.all), vote: vote}
		t.all = append(t.all, s)
		return s
	}
	word := func(language int, words string) {
		for w := range strings.FieldsSeq(words) {
			if len(w) == 1 {
				continue // variables, options, sections
			}
			s := t.words[w]
			if s == nil {
				s = add(1)
				t.words[w] = s
				shape := shape([]byte(w))
				t.shapes[shape/64] |= 1 << (shape % 64)
				if other := first[shape]; other != nil {
					other.single = false
				} else {
					first[shape], s.single = s, true
				}
			}
			s.mask |= 1 << language
		}
	}
	for i, lang := range latinLanguages {
		word(i, functionWords[lang])
		for _, r := range fewWrite(lang) {
			if t.letters[r] == nil {
				t.letters[r] = add(0.5)
			}
			t.letters[r].mask |= 1 << i
		}
	}
	word(ofEnglish, functionWords["en"]+" "+technical)
	return t
})

// fewWrite returns letters of a language that not many of the others have.
func fewWrite(lang string) string {
	switch lang {
	case "cs":
		return "ěřůčšžťďň"
	case "da", "no":
		return "åøæ"
	case "de":
		return "äöüß"
	case "es":
		return "ñíóú"
	case "fi":
		return "äö"
	case "fr":
		return "œçêèàûî"
	case "hu":
		return "őűöü"
	case "it":
		return "èìò"
	case "pl":
		return "ąęłńśźżćó"
	case "pt":
		return "ãõçêíóú"
	case "ro":
		return "ășțşţâî"
	case "sv":
		return "åäö"
	case "tr":
		return "ğışçöü"
	}
	return ""
}

// maxVotingWord bounds a word that is looked up, in bytes.
const maxVotingWord = 24

// vote counts the votes of the first maxLanguage bytes of a text. It costs a
// look into a table a word.
func (v *ballot) vote(s string) {
	s = s[:min(len(s), maxLanguage)]
	table := signs()
	unseen := table.shapes // of words that may still have a vote: the same few come again and again
	for i := 0; i < len(s); {
		begins := votingBytes[s[i]]
		if begins == noVotingByte {
			i++
			continue
		}
		end := i + 1
		if begins == votingLetter {
			end = lettersEnd(s, end)
		}
		if begins == votingBeyond || end < len(s) && votingBytes[s[end]] == votingBeyond {
			i += v.mixedWord(table, s[i:])
			continue
		}
		v.words++
		if end-i <= maxVotingWord {
			if shape := shape(s[i:end]); unseen.has(shape) {
				var word [maxVotingWord]byte
				for k := range end - i {
					word[k] = s[i+k] | 0x20
				}
				sign, known := table.words[string(word[:end-i])] // no allocation
				v.see(sign)
				if known && sign.single {
					unseen[shape/64] &^= 1 << (shape % 64)
				}
			}
		}
		i = end
	}
}

// mixedWord counts the votes of the word that s begins with, which may have letters
// beyond ASCII, and returns its length with what ends it.
func (v *ballot) mixedWord(table *signTable, s string) int {
	var word [maxVotingWord + utf8.UTFMax]byte
	n, i := 0, 0
	for i < len(s) {
		if c := s[i]; isLetterByte(c) {
			if n < len(word) {
				word[n] = c | 0x20
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		if !unicode.IsLetter(r) {
			break
		}
		r = unicode.ToLower(r)
		v.see(table.letters[r])
		if n+utf8.UTFMax <= len(word) {
			n += utf8.EncodeRune(word[n:], r)
		} else {
			n = len(word)
		}
	}
	if n == 0 {
		return i
	}
	v.words++
	if n <= maxVotingWord {
		if shape := shape(word[:n]); table.shapes.has(shape) {
			v.see(table.words[string(word[:n])]) // no allocation
		}
	}
	return i
}

// shape is a number below 1 << 15 that is cheap to make of a word. Most words have one
// that no function word has, and need not be looked up.
func shape[T string | []byte](word T) uint {
	n := len(word)
	return uint(word[0]&31) | uint(word[n-1]&31)<<5 | (uint(n)^uint(word[n/2])<<2)&31<<10
}

// What a byte is to a word that votes.
const (
	noVotingByte = iota
	votingLetter // of ASCII
	votingBeyond // ASCII
)

//nolint:gochecknoglobals // a constant table
var votingBytes = func() (of [256]byte) {
	for c := range 256 {
		switch {
		case c >= utf8.RuneSelf:
			of[c] = votingBeyond
		case isLetterByte(byte(c)):
			of[c] = votingLetter
		}
	}
	return of
}()

func isLetterByte(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// see counts a sign, which may be nil, the first time.
func (v *ballot) see(s *sign) {
	if s == nil || v.seen[s.number/64]>>(s.number%64)&1 == 1 {
		return
	}
	v.seen[s.number/64] |= 1 << (s.number % 64)
	v.count(s)
}

func (v *ballot) count(s *sign) {
	vote := s.vote / float32(bits.OnesCount32(s.mask))
	for mask := s.mask; mask != 0; mask &= mask - 1 {
		v.of[bits.TrailingZeros32(mask)] += vote
	}
}
