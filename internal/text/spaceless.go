package text

import (
	"unicode"
	"unicode/utf8"
)

// Spaceless reports whether a letter belongs to a script that writes no spaces between words,
// or, like Korean, attaches particles to them: Han, kana, Hangul, Thai, Lao, Khmer and Burmese.
// Marks of these scripts and signs of repetition and length count as letters.
func Spaceless(r rune) bool {
	if r < 0xE00 || 0x1800 <= r && r < 0x2E80 { // most text
		return false
	}
	switch r {
	case '฿', '๏', '๚', '๛':
		return false
	case '々', '〆', 'ー', 'ｰ':
		return true
	}
	return unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) &&
		(unicode.IsLetter(r) || unicode.IsMark(r))
}

// joins reports whether a rune belongs to the letter before it.
func joins(r rune) bool {
	return r == 0xFF9E || r == 0xFF9F || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Cf) // half-width sound marks
}

// spaceless adds the terms of the run of letters without spaces that begins at start, and
// returns its end: each pair of neighbours, because nobody separated the words, and each
// ideograph and Korean syllable, which may be a word. A single letter is a term in every
// script.
func (p *pass) spaceless(start int) int {
	letters, end := p.parts[:0], start
	for end < len(p.s) {
		r, n := utf8.DecodeRuneInString(p.s[end:])
		switch {
		case joins(r) && len(letters) > 0:
			letters[len(letters)-1].End += n
		case Spaceless(r):
			letters = append(letters, Span{end, end + n})
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		end += n
	}
	p.parts = letters
	for i, l := range letters {
		if i+1 < len(letters) {
			p.emit(p.lookup(p.s[l.Start:letters[i+1].End]), l.Start, letters[i+1].End)
		}
		first, _ := utf8.DecodeRuneInString(p.s[l.Start:])
		if len(letters) == 1 || unicode.In(first, unicode.Han, unicode.Hangul) {
			p.emit(p.lookup(p.s[l.Start:l.End]), l.Start, l.End)
		}
		p.pos++
	}
	return end
}

// isLetterAlone reports whether a term is one ideograph or Korean syllable, which counts little
// in a longer query, because its pairs are terms too.
func isLetterAlone(term string) bool {
	r, n := utf8.DecodeRuneInString(term)
	return n == len(term) && n >= 3 && unicode.In(r, unicode.Han, unicode.Hangul)
}
