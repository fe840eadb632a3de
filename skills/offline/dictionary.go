package offline

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// Bounds of what a dictionary adds to a query.
const (
	maxOthers   = 3       // synonyms of one word or phrase
	maxExpanded = 20      // words and phrases for one question, of all kinds
	maxEntries  = 100_000 // of a dictionary
	longestKey  = 40      // units of a key that is looked for; nobody writes a longer one into a question
)

// Kinds of entries of a [Dictionary], as its sections are named.
const (
	Synonyms      = "synonyms"      // say the same
	Concepts      = "concepts"      // belong to the same subject
	Abbreviations = "abbreviations" // short and long for one thing, both ways
)

// Dictionary gives words and phrases that may stand for others, in any
// language. A key with two capital letters or more, and every abbreviation, is looked for as
// it is written; everything else without regard to case. Scripts that write no
// spaces are looked through letter by letter. The zero Dictionary is
// empty. It is read only and safe for concurrent use.
type Dictionary struct {
	entries map[string][]entry // by key; those that come first count first
	longest int                // units of the longest key
}

// entry is what stands for a key.
type entry struct {
	kind   string
	others []string
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

// add takes an entry in. It reports false where a side of it has no words.
func (d *Dictionary) add(kind, word string, others []string) bool {
	others = slices.DeleteFunc(others, func(o string) bool { return len(keyParts(o)) == 0 })
	if len(keyParts(word)) == 0 || len(others) == 0 {
		return false
	}
	d.put(word, kind, others)
	if kind == Abbreviations {
		for _, long := range others {
			d.put(long, Synonyms, []string{strings.TrimSpace(word)})
		}
	}
	return true
}

func (d *Dictionary) put(word, kind string, others []string) {
	us := keyParts(word)
	key := keyOf(word, us)
	if kind == Abbreviations {
		key = exactKey(word, us)
	}
	if d.entries == nil {
		d.entries = map[string][]entry{}
	}
	d.entries[key] = append(d.entries[key], entry{kind, others})
	d.longest = max(d.longest, min(len(us), longestKey))
}

// Len is the number of words and phrases that d knows others for.
func (d Dictionary) Len() int { return len(d.entries) }

// with is d with the entries of more, which come first.
func (d Dictionary) with(more Dictionary) Dictionary {
	out := Dictionary{entries: map[string][]entry{}, longest: max(d.longest, more.longest)}
	for _, from := range []Dictionary{more, d} {
		for key, entries := range from.entries {
			out.entries[key] = append(out.entries[key], entries...)
		}
	}
	return out
}

// Expansion is what a dictionary knows for a word or phrase of a question.
type Expansion struct {
	Word   string   `json:"word"`   // as it stands in the question
	Kind   string   `json:"kind"`   // Synonyms, Concepts or Abbreviations
	Others []string `json:"others"` // what is searched for besides
}

// Expand returns what may stand for words of s, in the order of s, longer
// keys first: at most three synonyms of a word, 20 words and phrases in all, none twice
// and none that s has itself. Parts of a code such as 123/NĐ-CP are left alone.
func (d Dictionary) Expand(s string) []Expansion {
	us := keyParts(s)
	var out []Expansion
	given := map[string]bool{}
	n := 0
	for i := 0; i < len(us); {
		width, found := d.longestAt(s, us[i:])
		for _, e := range found {
			x := Expansion{Word: s[us[i].Start:us[i+width-1].End], Kind: e.kind}
			for _, o := range e.others {
				key := keyOf(o, keyParts(o))
				if given[key] || n == maxExpanded || stands(s, us, key) {
					continue
				}
				given[key] = true
				x.Others = append(x.Others, o)
				n++
			}
			if len(x.Others) > 0 {
				out = append(out, x)
			}
		}
		i += width
	}
	return out
}

// longestAt returns the entries of the longest key that s begins with at the
// first of us, one a kind and cut to what counts of it, and how many units it has.
func (d Dictionary) longestAt(s string, us []text.Span) (width int, found []entry) {
	for n := min(d.longest, len(us)); n > 0; n-- {
		if inCode(s, us[0].Start, us[n-1].End) {
			continue
		}
		exact := exactKey(s, us[:n])
		entries := d.entries[exact]
		if lower := strings.ToLower(exact); lower != exact {
			entries = slices.Concat(entries, d.entries[lower])
		}
		if len(entries) == 0 {
			continue
		}
		for _, kind := range []string{Abbreviations, Synonyms, Concepts} {
			var others []string
			for _, e := range entries {
				if e.kind == kind {
					others = append(others, e.others...)
				}
			}
			if kind != Concepts {
				others = others[:min(len(others), maxOthers)]
			}
			if len(others) > 0 {
				found = append(found, entry{kind, others})
			}
		}
		return n, found
	}
	return 1, nil
}

// stands reports whether a key stands among the units of s.
func stands(s string, us []text.Span, key string) bool {
	width := 1 + strings.Count(key, " ")
	for i := 0; i+width <= len(us); i++ {
		if keyOf(s, us[i:i+width]) == key && !inCode(s, us[i].Start, us[i+width-1].End) {
			return true
		}
	}
	return false
}

// keyParts are the words of s, and each letter of a script that writes no spaces.
func keyParts(s string) []text.Span {
	var out []text.Span
	open := false // the last one may go on
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		switch {
		case text.Spaceless(r):
			out, open = append(out, text.Span{Start: i, End: end}), false
		case !isWordRune(r):
			open = false
		case open:
			out[len(out)-1].End = end
		default:
			out, open = append(out, text.Span{Start: i, End: end}), true
		}
	}
	return out
}

// exactKey are units as they are written.
func exactKey(s string, us []text.Span) string {
	words := make([]string, len(us))
	for i, u := range us {
		words[i] = s[u.Start:u.End]
	}
	return strings.Join(words, " ")
}

// keyOf is the key of an entry: a single word with two capital letters or
// more as it is written, all else in lower case.
func keyOf(s string, us []text.Span) string {
	key := exactKey(s, us)
	if len(us) == 1 && abbreviation(key) {
		return key
	}
	return strings.ToLower(key)
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

// ReadDictionary reads a dictionary of plain lines, "word: other, other", in
// UTF-8. They are synonyms until a line such as [concepts] or [abbreviations] begins
// another section. Empty lines and those that begin with "#" are left out; an entry that stands
// twice has the others of both. An error names the line.
func ReadDictionary(r io.Reader) (Dictionary, error) {
	d := Dictionary{}
	kind := Synonyms
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := text.Clean(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if section, ok := strings.CutPrefix(line, "["); ok {
			if kind, ok = strings.CutSuffix(section, "]"); !ok || !isSection(kind) {
				return Dictionary{}, fmt.Errorf("line %d: %q is no section: there are [%s], [%s] and [%s]", n, line, Synonyms, Concepts, Abbreviations)
			}
			continue
		}
		word, others, ok := strings.Cut(line, ":")
		if !ok || !d.add(kind, word, atCommas(others)) {
			return Dictionary{}, fmt.Errorf("line %d: %q is no entry such as \"leave: holiday, time off\"", n, line)
		}
		if len(d.entries) > maxEntries {
			return Dictionary{}, fmt.Errorf("line %d: more than %d entries", n, maxEntries)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Dictionary{}, errors.New("a line is longer than 64 KB")
	} else if err != nil {
		return Dictionary{}, err
	}
	return d, nil
}

func isSection(kind string) bool {
	return kind == Synonyms || kind == Concepts || kind == Abbreviations
}

// atCommas splits a list at its commas; those of Chinese, Japanese and Arabic count too.
func atCommas(s string) []string {
	var out []string
	for item := range strings.FieldsFuncSeq(s, func(r rune) bool { return strings.ContainsRune(",，、،", r) }) {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
