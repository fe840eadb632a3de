// Package dictionary expands queries by words with the same or a similar meaning.
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

	"example.com/ragflow/internal/text"
)

// Limits of an expansion.
const (
	maxOthers   = 3       // synonyms of one word or phrase
	maxExpanded = 20      // words and phrases for one question, of all kinds
	maxLines    = 100_000 // of a file
	maxKey      = 40      // words of a key; a longer one occurs in no question
)

// Kinds of entries of a [Dictionary], and names of its sections.
const (
	Synonyms      = "synonyms"      // the same meaning
	Concepts      = "concepts"      // the same subject
	Abbreviations = "abbreviations" // short and long forms, in both directions
)

// Dictionary maps words and phrases to others with the same or a similar meaning. A key with
// two capital letters or more, and every abbreviation, is matched as written; everything else
// ignoring case. In scripts without spaces keys are matched letter by letter. The zero
// Dictionary is empty. It is read-only and safe for concurrent use.
type Dictionary struct {
	entries  map[entry][]string  // the words for a key, the most important first
	longest  int                 // words of the longest key
	everyday map[string][]string // words for an English word by its stem, less important than entries
}

// entry is a key of a kind.
type entry struct{ kind, key string }

// BuiltIn returns words and abbreviations of Vietnamese administration, and everyday English
// words that questions and documents use as synonyms, in all their forms. It has no technical
// terms, because documents use those as they are.
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
var everyday string // a line for each group of synonyms; no word is in two

// stem returns an English word without its endings, or "" for a function word.
func stem(word string) string {
	for _, t := range text.For("en").Analyze(word) {
		return t.Term
	}
	return ""
}

// add adds an entry. It reports false if a side of it has no words.
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
		key = folded(key)
	}
	if d.entries == nil {
		d.entries = map[entry][]string{}
	}
	d.entries[entry{kind, key}] = append(d.entries[entry{kind, key}], others...)
	d.longest = max(d.longest, min(1+strings.Count(key, " "), maxKey))
	return true
}

// With returns d with the entries of more, which precede its own.
func (d Dictionary) With(more Dictionary) Dictionary {
	out := Dictionary{maps.Clone(d.entries), max(d.longest, more.longest), d.everyday}
	for e, others := range more.entries {
		out.entries[e] = slices.Concat(others, out.entries[e])
	}
	return out
}

// Expansion is the entry for a word or phrase of a question.
type Expansion struct {
	Word   string   `json:"word"`   // as written in the question
	Kind   string   `json:"kind"`   // Synonyms, Concepts or Abbreviations
	Others []string `json:"others"` // additional words to search for
}

// Expand returns the entries for the words of s, in the order of s, longer keys first: at most
// three synonyms of a word, 20 words and phrases in all, each once, and none that s contains.
// Parts of a code such as 123/NĐ-CP are ignored.
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

// longestAt returns the entries of the longest key that parts of s begin with, by kind and at
// most maxOthers of a kind, and the number of parts of the key.
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

// keyParts returns the words of s, and each letter of a script without spaces.
func keyParts(s string) []text.Span {
	var out []text.Span
	open := false // the last word may continue
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

// keyOf returns a word or phrase as a key: its parts separated by one space.
func keyOf(s string) string { return joined(s, keyParts(s)) }

func joined(s string, parts []text.Span) string {
	var words []string
	for _, p := range parts {
		words = append(words, s[p.Start:p.End])
	}
	return strings.Join(words, " ")
}

// folded returns a key in the form for lookups: a single word with two capital letters or more
// as written, everything else in lower case.
func folded(key string) string {
	capitals := strings.FieldsFunc(key, func(r rune) bool { return !unicode.IsUpper(r) })
	if len(strings.Join(capitals, "")) > 1 && !strings.Contains(key, " ") {
		return key
	}
	return strings.ToLower(key)
}

// inCode reports whether a slash, hyphen or digit is adjacent to s[start:end].
func inCode(s string, start, end int) bool {
	return start > 0 && strings.ContainsAny(s[start-1:start], "/-_.0123456789") ||
		end < len(s) && strings.ContainsAny(s[end:end+1], "/-_0123456789")
}

// Read parses a dictionary of lines "word: other, other" in UTF-8. They are synonyms until a
// line such as [concepts] or [abbreviations] begins another section. Empty lines and those that
// begin with "#" are ignored; two entries of one word are combined. An error names the line.
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
		atComma := func(r rune) bool { return strings.ContainsRune(",，、،", r) } // including those of Chinese, Japanese and Arabic
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
