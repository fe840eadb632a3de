package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// ParseQuery reads a query as people type it: "words in quotes" must stand
// together, -word and -"several words" must not be there at all. All else, and
// the words in quotes too, is searched for. A minus counts before a word of at
// least three letters or digits that begins with a letter, and only beside
// something to search for, so that "docker run -it" stays what it says.
func ParseQuery(query string) state.Query {
	q := state.Query{Weight: 1, Attempt: 1}
	var kept strings.Builder
	for rest := query; rest != ""; {
		minus := strings.HasPrefix(rest, "-") && (kept.Len() == 0 || endsWithSpace(kept.String()))
		phrase, after, quoted := cutQuoted(strings.TrimPrefix(rest, "-"))
		switch {
		case quoted && minus:
			q.Without, rest = append(q.Without, phrase), after
			continue
		case quoted && !strings.HasPrefix(rest, "-"):
			q.Phrases, rest = append(q.Phrases, phrase), after
			kept.WriteString(phrase)
			continue
		case minus:
			if word := leadingWord(rest[1:]); utf8.RuneCountInString(word) >= 3 {
				q.Without, rest = append(q.Without, word), rest[1+len(word):]
				continue
			}
		}
		_, n := utf8.DecodeRuneInString(rest)
		if !strings.HasPrefix(rest, "-") && len(after) < len(rest) { // quotes around no word
			n = len(rest) - len(after)
		}
		kept.WriteString(rest[:n])
		rest = rest[n:]
	}
	q.Text = strings.Join(strings.Fields(kept.String()), " ")
	if q.Text == "" { // nothing is left to search for
		return state.Query{Text: query, Weight: 1, Attempt: 1}
	}
	return q
}

func endsWithSpace(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

// cutQuoted cuts off what stands in quotes at the beginning of s. It is ok where
// that holds a word.
func cutQuoted(s string) (phrase, rest string, ok bool) {
	open, size := utf8.DecodeRuneInString(s)
	var closing string
	switch open {
	case '"':
		closing = `"`
	case '“', '„', '”':
		closing = `”“"`
	case '«':
		closing = `»`
	case '「':
		closing = `」`
	default:
		return "", s, false
	}
	end := strings.IndexAny(s[size:], closing)
	if end < 0 {
		return "", s, false
	}
	phrase = strings.TrimSpace(s[size : size+end])
	_, last := utf8.DecodeRuneInString(s[size+end:])
	return phrase, s[size+end+last:], len(wordsIn(phrase)) > 0
}

// leadingWord is the word that s begins with, its hyphens included.
func leadingWord(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); !unicode.IsLetter(r) {
		return ""
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) && r != '-' && r != '_' })
	if end < 0 {
		end = len(s)
	}
	return strings.TrimRight(s[:end], "-")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordsIn are the words of a text, as they are written.
func wordsIn(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// Matching returns a searcher that finds only chunks that hold all phrases of a
// query and nothing of what it is to be without: see [Searcher.Only], which it
// adds to. The chunks that hold all words of a phrase are told by the index;
// whether the words stand together is looked up in their text, each once, about
// 20 µs a chunk.
func (s *Searcher) Matching(ctx context.Context, q state.Query) (*Searcher, error) {
	if len(q.Phrases)+len(q.Without) == 0 {
		return s, nil
	}
	narrowed := *s
	narrowed.parts = slices.Clone(s.parts)
	for i := range narrowed.parts {
		p := &narrowed.parts[i]
		only := newBitmap(p.chunks)
		only.fill(p.chunks)
		if p.only != nil {
			only.intersect(p.only)
		}
		for _, phrase := range q.Phrases {
			only.intersect(s.holding(p, phrase, true))
		}
		for _, phrase := range q.Phrases {
			if err := s.verify(ctx, p, phrase, only); err != nil {
				return nil, err
			}
		}
		for _, words := range q.Without {
			gone := s.holding(p, words, len(wordsIn(words)) > 1)
			if len(wordsIn(words)) > 1 {
				if err := s.verify(ctx, p, words, gone); err != nil {
					return nil, err
				}
			}
			only.subtract(gone)
		}
		p.only = only
	}
	return &narrowed, nil
}

// holding returns the chunks of a part that hold all of some words, in text,
// headings or title, in a form of the word that any language of the index gives
// it. Words that some language leaves out, as it does stop words, hold all chunks
// where every is set, else none.
func (s *Searcher) holding(p *part, words string, every bool) bitmap {
	out := newBitmap(p.chunks)
	out.fill(p.chunks)
	for _, word := range wordsIn(words) {
		held := newBitmap(p.chunks)
		for _, a := range s.analyzers() {
			form := holdingForm(p, a, word)
			switch {
			case form != nil:
				held.unite(form)
			case every:
				held.fill(p.chunks)
			}
		}
		out.intersect(held)
	}
	return out
}

// analyzers are those that terms of the index may have been made by.
func (s *Searcher) analyzers() []text.Analyzer {
	out := []text.Analyzer{s.db.analyzer}
	for _, lang := range s.held {
		out = append(out, text.For(lang))
	}
	return out
}

// holdingForm returns the chunks that hold all terms that an analyzer makes of a
// word; nil where it makes none.
func holdingForm(p *part, a text.Analyzer, word string) bitmap {
	var out bitmap
	for _, t := range a.Analyze(word) {
		if text.IsFolded(t.Term) || text.IsPhrase(t.Term) {
			continue // the words that it is of are there too
		}
		held := newBitmap(p.chunks)
		if e, ok := p.find(t.Term); ok {
			p.eachPosting(e, func(c posting, first, end int) {
				if c.title == 0 {
					first, end = int(c.chunk), int(c.chunk)+1
				}
				for at := first; at < end; at++ {
					held.set(at)
				}
			})
		}
		if out == nil {
			out = held
		} else {
			out.intersect(held)
		}
	}
	return out
}

// eachPosting calls f for each posting of a term, with the chunks of its file.
func (p *part) eachPosting(e entry, f func(c posting, first, end int)) {
	var c cursor
	for c.open(e); uint64(c.chunk) < uint64(p.chunks); c.next() {
		first, end := p.chunksOf(int(p.chunkField(int(c.chunk), 0)))
		f(c.posting, first, end)
	}
}

// verified is how many chunks are read at a time.
const verified = 256

// verify takes out of chunks those that may be found but do not hold a phrase
// word by word.
func (s *Searcher) verify(ctx context.Context, p *part, phrase string, chunks bitmap) error {
	words := wordsIn(strings.ToLower(phrase))
	var ids []string
	at := map[string]int{}
	check := func() error {
		return s.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			held, err := chunksByID(tx, p.collection, p.root, ids, p.maxRev)
			for _, c := range held {
				if holdsPhrase(c.Text, words) || holdsPhrase(strings.Join(c.Headings, "\n"), words) || holdsPhrase(c.Title, words) {
					delete(at, c.ID)
				}
			}
			for _, c := range at {
				chunks.unset(c)
			}
			ids = ids[:0]
			clear(at)
			return err
		})
	}
	for c := chunks.next(0); c < p.chunks; c = chunks.next(c + 1) {
		if !p.shows(c) {
			continue
		}
		id := p.id(c)
		ids = append(ids, id)
		at[id] = c
		if len(ids) == verified {
			if err := check(); err != nil {
				return fmt.Errorf("phrase %q: %w", phrase, err)
			}
		}
	}
	if err := check(); err != nil {
		return fmt.Errorf("phrase %q: %w", phrase, err)
	}
	return nil
}

// holdsPhrase reports whether words, in lower case, stand in a text one behind
// the other, with nothing between them but what is no word.
func holdsPhrase(s string, words []string) bool {
	lower := strings.ToLower(s)
	for from := 0; ; {
		i := strings.Index(lower[from:], words[0])
		if i < 0 {
			return false
		}
		from += i
		if before, _ := utf8.DecodeLastRuneInString(lower[:from]); from == 0 || !isWordRune(before) || !spaced(before) {
			if followedBy(lower[from:], words) {
				return true
			}
		}
		_, size := utf8.DecodeRuneInString(lower[from:])
		from += size
	}
}

// spaced reports whether words of a letter's script are told by spaces.
func spaced(r rune) bool {
	return !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// followedBy reports whether s begins with words.
func followedBy(s string, words []string) bool {
	for i, w := range words {
		if i > 0 {
			s = strings.TrimLeftFunc(s, func(r rune) bool { return !isWordRune(r) })
		}
		if !strings.HasPrefix(s, w) {
			return false
		}
		s = s[len(w):]
		if r, _ := utf8.DecodeRuneInString(s); s != "" && isWordRune(r) && spaced(r) {
			return false
		}
	}
	return true
}
