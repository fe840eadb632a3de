package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldedMark begins the terms that stand for Vietnamese words written without
// diacritics: "~tim kiem" for "tìm kiếm". No other term begins with it. Search
// gives them less weight, and so does everything that counts words.
const FoldedMark = "~"

// IsFolded reports whether a term stands for words without their diacritics.
func IsFolded(term string) bool { return strings.HasPrefix(term, FoldedMark) }

// IsPhrase reports whether a term is a pair of neighbouring syllables, which
// most Vietnamese words are.
func IsPhrase(term string) bool { return strings.Contains(term, " ") }

// vietnamese makes terms of Vietnamese text: syllables, pairs of neighbouring
// syllables, and both once more without diacritics. Words of other languages in
// it are those of English.
type vietnamese struct {
	words  *analyzer
	caches caches[syllable] // by term
}

// syllable is what is known of a term.
type syllable struct {
	is     bool // built like a syllable
	stop   bool
	folded string // with its mark; empty where it is the term itself
}

func newVietnamese() *vietnamese {
	return &vietnamese{words: newAnalyzer("syllables/2", syllableTerm)}
}

func syllableOf(c *cache[syllable], term string) syllable {
	s, ok := c.get(term)
	if !ok {
		s.is = isSyllable(term)
		s.stop = s.is && vietnameseStop(term)
		if f := Fold(term); f != term {
			s.folded = FoldedMark + f
		}
		c.put(term, s)
	}
	return s
}

func (*vietnamese) Name() string { return "vi/3" }

func (v *vietnamese) Analyze(s string) []Token {
	return v.Append(make([]Token, 0, len(s)/2+4), s)
}

func (v *vietnamese) Append(dst []Token, s string) []Token {
	c := v.caches.take()
	defer v.caches.give(c)
	tokens := v.words.Analyze(s)
	known := make([]syllable, len(tokens))
	for i, t := range tokens {
		known[i] = syllableOf(c, t.Term)
	}
	pairs := make([]string, len(tokens))
	for i, t := range tokens {
		j := next(tokens, known, i, s)
		if j == 0 {
			continue
		}
		pairs[i] = t.Term + " " + tokens[j].Term
		if functionPair(pairs[i]) {
			known[i].stop, known[j].stop, pairs[i] = true, true, ""
		}
	}
	for i, t := range tokens {
		if pair := pairs[i]; pair != "" {
			j := next(tokens, known, i, s)
			dst = append(dst, Token{pair, t.Start, tokens[j].End, t.Pos})
			if known[i].folded != "" || known[j].folded != "" {
				dst = append(dst, Token{FoldedMark + Fold(pair), t.Start, tokens[j].End, t.Pos})
			}
		}
		if known[i].stop {
			continue
		}
		dst = append(dst, t)
		if known[i].folded != "" {
			dst = append(dst, Token{known[i].folded, t.Start, t.End, t.Pos})
		}
	}
	return dst
}

// next returns the index of the syllable that follows syllable i after one
// space, 0 where none does.
func next(tokens []Token, known []syllable, i int, s string) int {
	if !known[i].is {
		return 0
	}
	for j := i + 1; j < len(tokens) && tokens[j].Pos <= tokens[i].Pos+1; j++ {
		t := tokens[j]
		if t.Pos == tokens[i].Pos+1 && t.Start == tokens[i].End+1 && s[t.Start-1] == ' ' && known[j].is {
			return j
		}
	}
	return 0
}

// appendToneless adds to the tokens of a short text, from index first on, those
// that it would have as Vietnamese typed without diacritics, where it may be
// such: every word is a syllable that Vietnamese has.
func appendToneless(dst []Token, first int, s string) []Token {
	if len(s) > maxToneless {
		return dst
	}
	var words []Span
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsPunct(r) }) {
		start := 0
		if n := len(words); n > 0 {
			start = words[n-1].End
		}
		start += strings.Index(s[start:], w)
		if !isSyllable(strings.ToLower(w)) {
			return dst
		}
		words = append(words, Span{start, start + len(w)})
	}
	if len(words) < 2 {
		return dst
	}
	pos := 0
	if n := len(dst); n > first {
		pos = dst[n-1].Pos + 1
	}
	for i, w := range words {
		term := FoldedMark + Fold(strings.ToLower(s[w.Start:w.End]))
		if i+1 < len(words) && words[i+1].Start == w.End+1 && s[w.End] == ' ' {
			pair := term + " " + Fold(strings.ToLower(s[w.End+1:words[i+1].End]))
			dst = append(dst, Token{pair, w.Start, words[i+1].End, pos + i})
		}
		dst = append(dst, Token{term, w.Start, w.End, pos + i})
	}
	return dst
}

// appendTypedCodes adds to the tokens of a query the codes of law in it that were
// typed in small letters or without diacritics, as 123/nđ-cp and 123/ND-CP, and the words
// beside them where all are syllables without diacritics.
func appendTypedCodes(dst []Token, s string) []Token {
	if len(s) > maxToneless || strings.IndexByte(s, '/') < 0 {
		return dst
	}
	rest := []byte(s) // without the codes
	at := 0
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:.?!()\"'“”", r) }) {
		start := at + strings.Index(s[at:], w)
		at = start + len(w)
		code := strings.ToUpper(w)
		if end := legalCode(code, 0); end == 0 || end < len(code) {
			continue
		}
		term := lower(w)
		if code != w { // else every analyzer finds it
			dst = append(dst, Token{Term: term, Start: start, End: at})
		}
		dst = append(dst, Token{Term: FoldedMark + Fold(term), Start: start, End: at})
		for i := start; i < at; i++ {
			rest[i] = ' '
		}
	}
	if len(dst) == 0 || !isASCII(s) {
		return dst
	}
	return appendToneless(dst, len(dst), string(rest))
}

// maxToneless is the longest text in bytes that is tried as Vietnamese without
// diacritics: a question, not a page.
const maxToneless = 200

// isVietnamese reports whether a text is written in Vietnamese, with its
// diacritics: at least a sixth of its words have a letter that, among languages
// in Latin script, only Vietnamese has. It costs nothing for ASCII.
func isVietnamese(s string) bool {
	s = s[:min(len(s), maxLanguage)]
	return mayBeVietnamese(s) && mostlyVietnamese(s)
}

func mostlyVietnamese(s string) bool {
	var n, own int
	for w := range strings.FieldsSeq(norm.NFC.String(s)) {
		n++
		if strings.IndexFunc(w, vietnameseOnly) >= 0 {
			own++
		}
	}
	return own > 0 && own*6 >= n
}

// mayBeVietnamese reports whether a text has a letter that only Vietnamese has,
// or a mark that may make one of the letter before it.
func mayBeVietnamese(s string) bool {
	for i := 0; i < len(s); {
		if i = asciiEnd(s, i); i == len(s) {
			break
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if vietnameseOnly(r) || 0x300 <= r && r <= 0x36F {
			return true
		}
		i += n
	}
	return false
}

// vietnameseOnly reports whether a letter is written in no other language of
// wide use: đ, ơ, ư and all that carry two marks, a hook or a dot below.
func vietnameseOnly(r rune) bool {
	switch {
	case 0x1EA0 <= r && r <= 0x1EF9: // ạ to ỹ
		return true
	case r == 'đ', r == 'Đ', r == 'ơ', r == 'Ơ', r == 'ư', r == 'Ư', r == 'ĩ', r == 'Ĩ', r == 'ũ', r == 'Ũ':
		return true
	}
	return false
}

func isASCII(s string) bool { return asciiEnd(s, 0) == len(s) }

// Fold takes the diacritics off letters, as people do who type Vietnamese on
// another keyboard: "đường" becomes "duong". Only small letters lose the stroke
// of đ.
func Fold(s string) string {
	if isASCII(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r == 'đ':
			out = append(out, 'd')
		default:
			for _, part := range norm.NFD.String(string(r)) {
				if !unicode.Is(unicode.Mn, part) {
					out = utf8.AppendRune(out, part)
				}
			}
		}
	}
	return string(out)
}

// syllableTerm is the term of a word in Vietnamese text. Stop words are left
// for later, when the pairs they stand in are known.
func syllableTerm(surface string) string {
	t := lower(surface)
	if isSyllable(t) {
		return modern(t)
	}
	return englishTerm(surface)
}

// modern moves the tone mark of a syllable that ends in oa, oe or uy to the
// first of the two vowels: hoà and hòa, thuỷ and thủy are one word each.
func modern(t string) string {
	if isASCII(t) || strings.HasPrefix(t, "qu") {
		return t
	}
	last, n := utf8.DecodeLastRuneInString(t)
	before, m := utf8.DecodeLastRuneInString(t[:len(t)-n])
	for _, pair := range []struct{ from, plain, to string }{
		{"àáảãạ", "oa", "òóỏõọ"}, {"èéẻẽẹ", "oe", "òóỏõọ"}, {"ỳýỷỹỵ", "uy", "ùúủũụ"},
	} {
		if before != rune(pair.plain[0]) {
			continue
		}
		to := []rune(pair.to)
		for i, r := range []rune(pair.from) {
			if r == last {
				return t[:len(t)-n-m] + string(to[i]) + pair.plain[1:]
			}
		}
	}
	return t
}

// isSyllable reports whether a word in lower case is built like a Vietnamese
// syllable: an initial consonant or none, one to three vowels, a final
// consonant or none. Diacritics are not looked at.
func isSyllable(w string) bool {
	if w == "" || len(w) > 16 {
		return false
	}
	w = Fold(w)
	if len(w) > 7 || !isASCII(w) {
		return false
	}
	onset := len(w) - len(strings.TrimLeft(w, "bcdghklmnpqrstvx"))
	switch w[:onset] {
	case "", "b", "c", "ch", "d", "g", "gh", "h", "k", "kh", "l", "m", "n", "ng", "ngh", "nh", "p", "ph", "q", "r", "s", "t", "th", "tr", "v", "x":
	default:
		return false
	}
	w = w[onset:]
	vowels := len(w) - len(strings.TrimLeft(w, "aeiouy"))
	switch w[vowels:] {
	case "", "c", "ch", "m", "n", "ng", "nh", "p", "t":
	default:
		return false
	}
	switch w[:vowels] {
	case "a", "e", "i", "o", "u", "y", "ai", "ao", "au", "ay", "eo", "eu", "ia", "ie", "iu", "oa", "oe", "oi", "oo", "ua", "ue", "ui", "uo", "uu", "uy", "ya", "ye",
		"ieu", "yeu", "oai", "oao", "oay", "oeo", "uai", "uay", "uoi", "uou", "uya", "uye", "uyu", "uau", "ueo", "gia", "iao", "iai", "iau", "iay":
		return true
	}
	return false
}

// functionPair reports whether two syllables are one function word.
func functionPair(pair string) bool {
	switch pair {
	case "bao nhiêu", "bao giờ", "bao lâu", "thế nào", "như thế", "tại sao", "vì sao", "khi nào", "lúc nào", "ở đâu", "nơi nào", "cái gì", "điều gì", "là gì",
		"làm sao", "làm gì", "chúng tôi", "chúng ta", "đối với", "ngoài ra", "tuy nhiên", "mặc dù", "do đó", "vì vậy", "vì thế", "bởi vì",
		"cũng như", "có thể", "trong đó", "hơn nữa", "sau đó", "sau khi", "trước khi", "trong khi", "tất cả", "thuộc về", "cho đến", "kể từ",
		"hay không", "ngày nay", "phải không", "là ai", "cho biết":
		return true
	}
	return false
}

// legalCode returns the end of a code of law that begins at s[i], such as
// 123/NĐ-CP, 15/2020/TT-BTC or 2023/QH15, i where none does: numbers and capital letters
// joined by slashes and hyphens, numbers first.
func legalCode(s string, i int) int {
	end, groups, letters := i, 0, false
	for at := i; at < len(s); groups++ {
		from := at
		for at < len(s) {
			r, n := utf8.DecodeRuneInString(s[at:])
			upper := unicode.IsUpper(r)
			if !upper && (r < '0' || r > '9') {
				break
			}
			letters = letters || upper
			at += n
		}
		if at == from || groups == 0 && !digits(s[from:at]) {
			break
		}
		end = at
		if at == len(s) || s[at] != '/' && (s[at] != '-' || groups == 0) {
			groups++
			break
		}
		at++
	}
	if r, _ := utf8.DecodeRuneInString(s[end:]); groups < 2 || !letters || end-i > maxTerm || isWordRune(r) {
		return i
	}
	return end
}
