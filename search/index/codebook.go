package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/text"
)

// Texts of chunks are stored as codes of their words. A codebook has the words
// that come often, with the space before them, in the texts it was made from; it
// is a row of its own that many chunks refer to. A packed text is a run of
//
//	0x00 to 0x7f  this byte of ASCII
//	0x80 to 0xbf  with the byte behind it, 14 bits: a word, behind the shortest codes
//	0xc0 to 0xf7  one of the 56 words that come most often
//	0xf8          length (uvarint) and bytes as they are
//
// so that running text takes less than half its bytes, no text much more than
// its own, and each is unpacked by itself, without what stands before it.

const (
	shortWords = 0xf8 - 0xc0
	longWords  = 1 << 14
	literal    = 0xf8
	// maxCodeWord bounds a word in bytes.
	maxCodeWord = 32
)

// Bounds of what codebooks are made from.
const (
	// trainBytes is how much text a codebook is worth making from, and maxTrain how
	// much of it is looked at.
	trainBytes = 64 << 10
	maxTrain   = 1 << 20
	// poorRatio is the part that texts are packed to above which another codebook is
	// tried, which must do better by one part in betterBy.
	poorRatio = 0.62
	betterBy  = 10
	// maxCodebooks bounds how many there are in a database.
	maxCodebooks = 16
)

// codebook has words by code and codes by word. It is immutable, but for its row.
type codebook struct {
	id    atomic.Int64               // row; 0: it is not saved yet
	text  []byte                     // the words, one behind the other, and copied zeros
	ends  []uint32                   // where each of them begins in text, and the last one ends
	codes func() *memo.Words[uint16] // made when first asked for: readers need none
	read  atomic.Pointer[codesOfWords]
}

// codesOfWords are codes by the numbers that words have in a lexicon: codeKnown, the code
// of a word as it is, from 1 on, and behindSpace bits further that of the word with a space
// before it; 0 for none.
type codesOfWords struct {
	lexicon *text.Lexicon
	codes   memo.Numbers
}

const (
	codeKnown   = 1 << 31
	behindSpace = 15
)

// copied is how many bytes of a word are copied at once, which takes less time than to
// copy as many as it has; few words have more.
const copied = 16

// newCodebook returns the codebook of words, in order of their codes.
func newCodebook(words []string) *codebook {
	b := &codebook{ends: make([]uint32, 1, len(words)+1)}
	for _, w := range words {
		b.text = append(b.text, w...)
		b.ends = append(b.ends, uint32(len(b.text))) //nolint:gosec // a row of the database has less
	}
	b.text = append(b.text, make([]byte, copied)...)
	b.codes = sync.OnceValue(func() *memo.Words[uint16] {
		var codes memo.Words[uint16]
		for i := range b.len() {
			code, _ := codes.At(string(b.word(i)))
			*code = uint16(i) //nolint:gosec // no more than longWords + shortWords
		}
		return &codes
	})
	return b
}

// len is the number of words.
func (b *codebook) len() int { return len(b.ends) - 1 }

// word returns the word of a code.
func (b *codebook) word(code int) []byte { return b.text[b.ends[code]:b.ends[code+1]] }

// trainCodebook makes a codebook of the words that save the most, of ties those that
// come first in the order of bytes; nil where none saves anything.
func trainCodebook(texts []string) *codebook {
	var counts memo.Words[uint32]
	left := maxTrain
	for _, s := range texts {
		s = s[:min(len(s), left)]
		left -= len(s)
		for i := 0; i < len(s); {
			end := codeWord(s, i)
			if end-i > 2 || end-i == 2 && s[i] >= 0x80 {
				count, _ := counts.At(s[i:end])
				*count++
			}
			i = end
		}
	}
	type candidate struct {
		word  string
		count int
	}
	var list []candidate
	counts.All(func(w string, times uint32) {
		n := int(times)
		if n*(len(w)-2) > len(w)+1 || n > len(w)+1 { // with two bytes, or with one
			list = append(list, candidate{w, n})
		}
	})
	saves := func(c candidate) int { return c.count * (len(c.word) - 1) }
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(saves(b), saves(a)), cmp.Compare(a.word, b.word))
	})
	list = list[:min(len(list), shortWords+longWords)]
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.word, b.word))
	})
	if len(list) == 0 {
		return nil
	}
	words := make([]string, len(list))
	for i, c := range list {
		words[i] = strings.Clone(c.word)
	}
	return newCodebook(words)
}

// codeWord returns the end of the word that begins at s[i], with a space before it
// where there is one; of anything else, one byte or letter is a word.
func codeWord(s string, i int) int {
	from := i
	if s[i] == ' ' {
		from++
	}
	end := text.LettersEnd(s, from)
	if end > from && end-i <= maxCodeWord && (end == len(s) || s[end] < 0x80) { // as most are
		return end
	}
	end = from
	most := min(len(s), i+maxCodeWord)
	for end < most && letters[s[end]] == inWord {
		if end = min(text.LettersEnd(s, end), most); end < most && s[end] >= 0x80 && letters[s[end]] == inWord {
			end++
		}
	}
	if end == from && end < most && letters[s[end]] == aloneLetter {
		return min(end+3, most)
	}
	return max(end, i+1)
}

// What a byte is to the words of codes.
const (
	noLetter    = iota
	inWord      // a letter, or part of one
	aloneLetter // begins one from U+3000 on, where words are not parted: letter by letter
)

var letters = func() (of [256]byte) { //nolint:gochecknoglobals // a constant table
	for c := range of {
		switch {
		case c >= 0xe3:
			of[c] = aloneLetter
		case 'a' <= c|0x20 && c|0x20 <= 'z' && c < 0x80 || c >= 0x80:
			of[c] = inWord
		}
	}
	return of
}()

// pack appends the codes of a text.
func (b *codebook) pack(dst []byte, s string) []byte {
	codes := b.codes()
	for i := 0; i < len(s); {
		if c := s[i]; c != ' ' && letters[c] == noLetter { // it is of ASCII
			dst = append(dst, c)
			i++
			continue
		}
		end := codeWord(s, i)
		if end-i > 1 {
			if code, ok := codes.Get(s[i:end]); ok {
				if code < shortWords {
					dst = append(dst, 0xc0+byte(code))
				} else {
					code -= shortWords
					dst = append(dst, 0x80|byte(code>>8), byte(code))
				}
				i = end
				continue
			}
		}
		for i < end {
			from := i
			for i < end && s[i] < 0x80 {
				i++
			}
			dst = append(dst, s[from:i]...)
			if i == end {
				break
			}
			from = i
			for i < end && s[i] >= 0x80 {
				i++
			}
			dst = append(dst, literal)
			dst = binary.AppendUvarint(dst, uint64(i-from))
			dst = append(dst, s[from:i]...)
		}
	}
	return dst
}

// packRead is pack for a text that was read.
func (b *codebook) packRead(dst []byte, r *text.Reading) []byte {
	words := b.codesIn(r.Lexicon())
	s, runs, at := r.Text, r.Runs, 0
	dst = slices.Grow(dst, len(s)) // but for bytes beyond ASCII, a code takes no more than what it stands for
	for k := 0; k < len(runs); k++ {
		run := &runs[k]
		from, end, shift := int(run.Start), int(run.End), 0
		if at < from {
			if s[from-1] == ' ' {
				from, shift = from-1, behindSpace
			}
			for ; at < from; at++ {
				dst = append(dst, s[at])
			}
		}
		var codes uint32
		if at = end; run.Word > 0 {
			codes = words.codes.Get(run.Word)
		}
		if codes == 0 || end < len(s) && s[end] >= 0x80 {
			if run.Word == 0 || r.Beyond(run) {
				for ; k+1 < len(runs) && int(runs[k+1].Start) == at; k++ {
					at = int(runs[k+1].End)
				}
				dst = b.pack(dst, s[from:at])
				continue
			}
			codes = b.codesFor(s[run.Start:end])
			words.codes.Set(run.Word, codes)
		}
		code := codes >> shift & (1<<behindSpace - 1)
		if code == 0 {
			dst = append(dst, s[from:end]...)
			continue
		}
		long := code - (shortWords + 1)
		b0, more := 0xc0-1+code, 0
		if code > shortWords { // as likely as not: so there is no branch
			b0, more = 0x80|long>>8, 1
		}
		dst = append(dst, byte(b0), byte(long))
		dst = dst[:len(dst)-1+more]
	}
	return append(dst, s[at:]...)
}

// codesIn returns the codes of words by their numbers in a lexicon.
func (b *codebook) codesIn(l *text.Lexicon) *codesOfWords {
	words := b.read.Load()
	if words == nil || words.lexicon != l {
		words = &codesOfWords{lexicon: l}
		b.read.Store(words)
	}
	return words
}

// codesFor returns what codesOfWords keeps of a word.
func (b *codebook) codesFor(word string) uint32 {
	spaced := append(append(make([]byte, 0, maxCodeWord), ' '), word...)
	codes := uint32(codeKnown)
	if code, ok := b.codes().Get(string(spaced)); ok { // no allocation
		codes |= uint32(code+1) << behindSpace
	}
	if code, ok := b.codes().Get(word); ok {
		codes |= uint32(code + 1)
	}
	return codes
}

var errPacked = errors.New("a packed text is damaged")

// unpack returns the text of codes.
func (b *codebook) unpack(data []byte) (string, error) {
	var room [4 << 10]byte // for most texts
	out := room[:0]
	for len(data) > 0 {
		c := data[0]
		data = data[1:]
		var code int
		switch {
		case c < 0x80:
			out = append(out, c)
			continue
		case c < 0xc0:
			if len(data) == 0 {
				return "", errPacked
			}
			code = shortWords + int(c&0x3f)<<8 + int(data[0])
			data = data[1:]
		case c < literal:
			code = int(c) - 0xc0
		default:
			n, size := binary.Uvarint(data)
			if c != literal || size <= 0 || n > uint64(len(data)-size) {
				return "", errPacked
			}
			data = data[size:]
			out = append(out, data[:n]...)
			data = data[n:]
			continue
		}
		if code >= b.len() {
			return "", errPacked
		}
		from, size, at := int(b.ends[code]), int(b.ends[code+1]-b.ends[code]), len(out)
		if size > copied || at+copied > cap(out) {
			out = append(out, b.word(code)...)
			continue
		}
		copy(out[at:at+copied], b.text[from:from+copied])
		out = out[:at+size]
	}
	return string(out), nil
}

// encode returns what the table keeps of a codebook: each word with its length in
// front.
func (b *codebook) encode() []byte {
	var out []byte
	for code := range b.len() {
		out = appendString(out, string(b.word(code)))
	}
	return out
}

func decodeCodebook(data []byte) (*codebook, error) {
	r := reader{b: data}
	all := string(data) // one string for all words
	var words []string
	for len(r.b) > 0 {
		n := len(r.bytes())
		end := len(data) - len(r.b)
		words = append(words, all[end-n:end])
	}
	if r.err != nil || len(words) > shortWords+longWords {
		return nil, fmt.Errorf("%w: codebook: %w", errPacked, errCut)
	}
	return newCodebook(words), nil
}
