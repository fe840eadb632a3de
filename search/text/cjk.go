package text

import (
	"unicode"
	"unicode/utf8"
)

// Spaceless reports whether a letter belongs to a script whose words are not
// parted by spaces, or, as in Korean, carry particles: Han, kana, Hangul, Thai, Lao,
// Khmer and Burmese. Marks of these scripts and the signs that repeat or lengthen
// are letters here.
func Spaceless(r rune) bool {
	if r < 0xE00 {
		return false
	}
	switch {
	case r <= 0xEFF: // Thai, Lao
		return r != '฿' && r != '๏' && r != '๚' && r != '๛' && !unicode.IsNumber(r)
	case r < 0x1000:
		return false
	case r <= 0x109F: // Burmese
		return unicode.IsLetter(r) || unicode.IsMark(r)
	case r < 0x1100:
		return false
	case r <= 0x11FF: // Hangul jamo
		return true
	case r < 0x1780:
		return false
	case r <= 0x17D3: // Khmer
		return true
	case r < 0x3005:
		return false
	}
	switch r {
	case '々', '〆', 'ー', 'ｰ':
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// spacelessRun returns the first run of spaceless letters in s[from:], and
// len(s) twice where there is none.
func spacelessRun(s string, from int) (start, end int) {
	for i := from; i < len(s); {
		if s[i] < 0xE0 { // all of these scripts take three bytes or more
			i = asciiEnd(s, i+1)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !Spaceless(r) || joins(r) {
			i += n
			continue
		}
		start = i
		for i < len(s) {
			r, n = utf8.DecodeRuneInString(s[i:])
			if !Spaceless(r) && !joins(r) {
				break
			}
			i += n
		}
		return start, i
	}
	return len(s), len(s)
}

// joins reports whether a rune belongs to the letter before it.
func joins(r rune) bool {
	return r == 0xFF9E || r == 0xFF9F || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Cf) // half-width sound marks
}

// spaceless adds the terms of a run of letters without spaces: each pair of
// neighbours, which stands for the words nobody parted, and each ideograph and
// Korean syllable by itself, which may be a word. A letter that stands alone is a
// term in every script.
func (r *run) spaceless(start, end int) {
	letters := r.letters(start, end)
	for i, l := range letters {
		if i+1 < len(letters) {
			r.emit(r.a.lookup(r.c, r.s[l.Start:letters[i+1].End]), l.Start, letters[i+1].End)
		}
		first, _ := utf8.DecodeRuneInString(r.s[l.Start:l.End])
		if len(letters) == 1 || unicode.In(first, unicode.Han, unicode.Hangul) {
			r.emit(r.a.lookup(r.c, r.s[l.Start:l.End]), l.Start, l.End)
		}
		r.pos++
	}
}

// letters splits a run into letters with their marks.
func (r *run) letters(start, end int) []Span {
	out := r.buf[:0]
	for i := start; i < end; {
		c, n := utf8.DecodeRuneInString(r.s[i:end])
		if len(out) > 0 && joins(c) {
			out[len(out)-1].End = i + n
		} else {
			out = append(out, Span{i, i + n})
		}
		i += n
	}
	r.buf = out
	return out
}

// isLetterAlone reports whether a term is one ideograph or Korean syllable,
// which in a longer query counts little beside the pairs it stands in.
func isLetterAlone(term string) bool {
	r, n := utf8.DecodeRuneInString(term)
	return n == len(term) && n >= 3 && unicode.In(r, unicode.Han, unicode.Hangul)
}
