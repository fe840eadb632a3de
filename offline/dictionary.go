package offline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// Bounds of what a dictionary adds to a query.
const (
	maxOthers   = 3       // for one word or phrase
	maxExpanded = 20      // for one question
	maxEntries  = 100_000 // of a dictionary
)

// Dictionary gives words and phrases that may stand for others, in any
// language. What has a capital letter is an abbreviation and is looked for as
// it is written; everything else without regard to case. The zero Dictionary is
// empty. It is read only and safe for concurrent use.
type Dictionary struct {
	others  map[string][]string
	longest int // words of the longest entry
}

// administration are words and abbreviations of Vietnamese administration.
const administration = `
quy định: quy chế, quy tắc, điều lệ
thủ tục: trình tự, quy trình, các bước
hồ sơ: giấy tờ, tài liệu, chứng từ
nghị định: NĐ, nghị định của chính phủ
quyết định: QĐ, quyết định hành chính
thông tư: TT, thông tư hướng dẫn
NĐ: nghị định
QĐ: quyết định
TT: thông tư
CP: chính phủ
TTg: thủ tướng chính phủ
`

// ReadDictionary reads a dictionary: one entry a line, "word: other, other".
// The first three others count. Empty lines and those that begin with "#" are
// left out; an entry that stands twice has the others of both. An error names
// the line.
func ReadDictionary(r io.Reader) (Dictionary, error) {
	d := Dictionary{others: map[string][]string{}}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, others, ok := strings.Cut(line, ":")
		key := dictionaryKey(fieldsOf(word))
		if !ok || key == "" || len(entries(others)) == 0 {
			return Dictionary{}, fmt.Errorf("line %d: %q is no entry such as \"leave: holiday, time off\"", n, line)
		}
		if len(d.others) >= maxEntries {
			return Dictionary{}, fmt.Errorf("line %d: more than %d entries", n, maxEntries)
		}
		d.others[key] = append(d.others[key], entries(others)...)
		d.longest = max(d.longest, len(fieldsOf(word)))
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Dictionary{}, errors.New("a line is longer than 64 KB")
	} else if err != nil {
		return Dictionary{}, err
	}
	return d, nil
}

// with is d with the entries of more, which come first.
func (d Dictionary) with(more Dictionary) Dictionary {
	out := Dictionary{others: map[string][]string{}, longest: max(d.longest, more.longest)}
	for _, from := range []Dictionary{more, d} {
		for key, others := range from.others {
			out.others[key] = append(out.others[key], others...)
		}
	}
	return out
}

// expand returns what may stand for words of s, in the order of s, longer
// entries first. Parts of a code such as 123/NĐ-CP are left alone.
func (d Dictionary) expand(s string) []string {
	ws := wordsAt(s)
	var out []string
	for i := 0; i < len(ws); {
		width := 1
		for n := min(d.longest, len(ws)-i); n > 0; n-- {
			phrase := s[ws[i].start:ws[i+n-1].end]
			others := d.others[dictionaryKey(fieldsOf(phrase))]
			if len(others) == 0 || inCode(s, ws[i].start, ws[i+n-1].end) {
				continue
			}
			for _, o := range others[:min(len(others), maxOthers)] {
				if !slices.Contains(out, o) && len(out) < maxExpanded {
					out = append(out, o)
				}
			}
			width = n
			break
		}
		i += width
	}
	return out
}

func fieldsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// dictionaryKey is how an entry is found: abbreviations as they are written.
func dictionaryKey(words []string) string {
	if len(words) == 1 && abbreviation(words[0]) {
		return words[0]
	}
	return strings.ToLower(strings.Join(words, " "))
}

// abbreviation reports whether a word has two capital letters or more.
func abbreviation(w string) bool {
	n := 0
	for _, r := range w {
		if unicode.IsUpper(r) {
			n++
		}
	}
	return n > 1
}

// inCode reports whether a slash, hyphen or digit touches s[start:end].
func inCode(s string, start, end int) bool {
	return start > 0 && strings.ContainsAny(s[start-1:start], "/-_.0123456789") ||
		end < len(s) && strings.ContainsAny(s[end:end+1], "/-_0123456789")
}
