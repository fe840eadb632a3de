// Package dictionary adds to a query words that mean the same as those that were asked, or
// nearly so.
//
//	d, err := dictionary.Read(strings.NewReader("leave: holiday, time off"))
//	d.Expand("How much leave do I have?") // leave: holiday, time off
package dictionary

import (
	"bufio"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
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
	maxLines    = 100_000 // of a file
	longestKey  = 40      // words of a key that is looked for; nobody writes a longer one into a question
)

// Kinds of entries of a [Dictionary], as its sections are named.
const (
	Synonyms      = "synonyms"      // say the same
	Concepts      = "concepts"      // belong to the same subject
	Abbreviations = "abbreviations" // short and long for one thing, both ways
)

// Dictionary maps words and phrases to others that mean the same or nearly so. A key with two capital
// letters or more, and every abbreviation, is looked for as it is written; everything
// else without regard to case. Scripts that write no spaces are looked through letter by
// letter. The zero Dictionary is empty. It is read only and safe for concurrent use.
type Dictionary struct {
	entries  map[entry][]string  // the others of a key, the most important first
	longest  int                 // words of the longest key
	everyday map[string][]string // the others of a word of English by its stem, less important than those
}

// entry is a key of a kind.
type entry struct{ kind, key string }

// BuiltIn returns words and abbreviations of Vietnamese administration, and everyday words of English that
// questions and documents use for the same, which are known in all their forms. Words of a trade are not in it:
// documents use those as they are.
func BuiltIn() Dictionary {
	d, err := Read(strings.NewReader(administration))
	if err != nil {
		panic("dictionary: the built-in words: " + err.Error())
	}
	d.everyday = map[string][]string{}
	for group := range strings.Lines(everyday) {
		for word := range strings.FieldsSeq(group) {
			d.everyday[stem(word)] = slices.DeleteFunc(strings.Fields(group), func(o string) bool { return o == word })
		}
	}
	return d
}

//go:embed administration.txt
var administration string

//go:embed everyday.txt
var everyday string // a group of words a line; no word is in two

// stem returns a word of English without its endings, "" of a function word.
func stem(word string) string {
	for _, t := range text.For("en").Analyze(word) {
		return t.Term
	}
	return ""
}

// add takes an entry in. It reports false where a side of it has no words.
func (d *Dictionary) add(kind, word string, others []string) bool {
	key := keyOf(word)
	others = slices.DeleteFunc(others, func(o string) bool { return keyOf(o) == "" })
	for i := range others {
		others[i] = strings.TrimSpace(others[i])
	}
	if key == "" || len(others) == 0 {
		return false
	}
	if kind == Abbreviations {
		for _, long := range others {
			d.add(Synonyms, long, []string{strings.TrimSpace(word)})
		}
	} else {
		key = looked(key)
	}
	if d.entries == nil {
		d.entries = map[entry][]string{}
	}
	d.entries[entry{kind, key}] = append(d.entries[entry{kind, key}], others...)
	d.longest = max(d.longest, min(1+strings.Count(key, " "), longestKey))
	return true
}

// With returns d with the entries of more, which come first.
func (d Dictionary) With(more Dictionary) Dictionary {
	out := Dictionary{maps.Clone(d.entries), max(d.longest, more.longest), d.everyday}
	for e, others := range more.entries {
		out.entries[e] = slices.Concat(others, out.entries[e])
	}
	return out
}

// Expansion is what a dictionary knows for a word or phrase of a question.
type Expansion struct {
	Word   string   `json:"word"`   // as it stands in the question
	Kind   string   `json:"kind"`   // Synonyms, Concepts or Abbreviations
	Others []string `json:"others"` // what is searched for besides
}

// Expand returns the others of the words of s, in the order of s, longer
// keys first: at most three synonyms of a word, 20 words and phrases in all, none twice
// and none that s has itself. Parts of a code such as 123/NĐ-CP are left alone.
func (d Dictionary) Expand(s string) []Expansion {
	spans := keyParts(s)
	ofCode := func(p text.Span) bool { return inCode(s, p.Start, p.End) }
	asked := " " + strings.ToLower(joined(s, slices.DeleteFunc(slices.Clone(spans), ofCode))) + " "
	given := map[string]bool{}
	var out []Expansion
	known := func(o string) bool {
		key := strings.ToLower(keyOf(o))
		if given[key] || len(given) == maxExpanded || strings.Contains(asked, " "+key+" ") {
			return true
		}
		given[key] = true
		return false
	}
	for i := 0; i < len(spans); {
		width, found := d.longestAt(s, spans[i:])
		for _, x := range found {
			x.Others = slices.DeleteFunc(slices.Clone(x.Others), known)
			if len(x.Others) > 0 {
				out = append(out, x)
			}
		}
		i += width
	}
	return out
}

// longestAt returns the others of the longest key that parts of s begin with, by kind and at most
// maxOthers of a kind, and how many parts the key has.
func (d Dictionary) longestAt(s string, parts []text.Span) (width int, found []Expansion) {
	for n := min(d.longest, len(parts)); n > 0; n-- {
		start, end := parts[0].Start, parts[n-1].End
		if inCode(s, start, end) {
			continue
		}
		exact := joined(s, parts[:n])
		for _, kind := range []string{Abbreviations, Synonyms, Concepts} {
			others := d.entries[entry{kind, exact}]
			if lower := strings.ToLower(exact); lower != exact {
				others = slices.Concat(others, d.entries[entry{kind, lower}])
			}
			if n == 1 && kind == Synonyms && len(d.everyday) > 0 {
				others = slices.Concat(others, d.everyday[stem(exact)])
			}
			if kind != Concepts {
				others = others[:min(len(others), maxOthers)]
			}
			if len(others) > 0 {
				found = append(found, Expansion{s[start:end], kind, others})
			}
		}
		if len(found) > 0 {
			return n, found
		}
	}
	return 1, nil
}

// keyParts are the words of s, and each letter of a script that writes no spaces.
func keyParts(s string) []text.Span {
	var out []text.Span
	open := false // the last one may go on
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		switch {
		case text.Spaceless(r):
			out, open = append(out, text.Span{Start: i, End: end}), false
		case !wordRune(r):
			open = false
		case open:
			out[len(out)-1].End = end
		default:
			out, open = append(out, text.Span{Start: i, End: end}), true
		}
	}
	return out
}

func wordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '\'' || r == '’'
}

// keyOf is a word or phrase as a key: its parts with one space between them.
func keyOf(s string) string { return joined(s, keyParts(s)) }

func joined(s string, parts []text.Span) string {
	var words []string
	for _, p := range parts {
		words = append(words, s[p.Start:p.End])
	}
	return strings.Join(words, " ")
}

// looked is a key as it is looked for: a single word with two capital letters or
// more as it is written, all else in lower case.
func looked(key string) string {
	capitals := strings.FieldsFunc(key, func(r rune) bool { return !unicode.IsUpper(r) })
	if len(strings.Join(capitals, "")) > 1 && !strings.Contains(key, " ") {
		return key
	}
	return strings.ToLower(key)
}

// inCode reports whether a slash, hyphen or digit touches s[start:end].
func inCode(s string, start, end int) bool {
	return start > 0 && strings.ContainsAny(s[start-1:start], "/-_.0123456789") ||
		end < len(s) && strings.ContainsAny(s[end:end+1], "/-_0123456789")
}

// Read reads a dictionary of plain lines, "word: other, other", in
// UTF-8. They are synonyms until a line such as [concepts] or [abbreviations] begins
// another section. Empty lines and those that begin with "#" are left out; an entry that stands
// twice has the others of both. An error names the line.
func Read(r io.Reader) (Dictionary, error) {
	d := Dictionary{}
	kind := Synonyms
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := text.Clean(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if strings.HasPrefix(line, "[") {
			kind = strings.Trim(line, "[]")
			if !slices.Contains([]string{Synonyms, Concepts, Abbreviations}, kind) {
				return Dictionary{}, fmt.Errorf("line %d: %q is no section: there are [%s], [%s] and [%s]", n, line, Synonyms, Concepts, Abbreviations)
			}
			continue
		}
		word, others, ok := strings.Cut(line, ":")
		atComma := func(r rune) bool { return strings.ContainsRune(",，、،", r) } // also those of Chinese, Japanese and Arabic
		if !ok || !d.add(kind, word, strings.FieldsFunc(others, atComma)) {
			return Dictionary{}, fmt.Errorf("line %d: %q is no entry such as \"leave: holiday, time off\"", n, line)
		}
		if n > maxLines {
			return Dictionary{}, fmt.Errorf("more than %d lines", maxLines)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Dictionary{}, errors.New("a line is longer than 64 KB")
	} else if err != nil {
		return Dictionary{}, err
	}
	return d, nil
}
