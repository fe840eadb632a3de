package offline

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// mostRead is how many passages a reading remembers at least. One takes 20 to 30
// KB, in both forms.
const mostRead = 256

// reading remembers the texts that were read, which is half of the work of a
// turn: skills look at the same passages, and follow-ups find them again.
type reading struct {
	passages  *memo.Cache[reader, *passage]
	bags      *memo.Cache[string, *bag]
	words     *memo.Cache[string, *wordsSaid] // of questions and what they borrow
	languages *memo.Cache[string, string]
}

func newReading() *reading {
	return &reading{
		passages: memo.New[reader, *passage](mostRead), bags: memo.New[string, *bag](mostRead),
		words: memo.New[string, *wordsSaid](mostRead), languages: memo.New[string, string](mostRead),
	}
}

// reader is all that a passage is made of.
type reader struct {
	text, title, headings string
	opens                 bool
	language, declaration string // of source code
	inside                string // see state.Cut
	starts                string // of the sources that it was joined of, but the first
}

// passage returns a source taken apart; starts are where those begin that it was joined of,
// but the first. What it shares with other passages of
// the same text must not be written to.
func (l lexicon) passage(n int, src state.Source, starts ...int) passage {
	key := reader{src.Text, src.Title, strings.Join(src.Headings, "\x00"), src.Ordinal == 0, src.Cut.Language, src.Cut.Declaration, src.Cut.Inside, ""}
	if len(starts) > 0 {
		key.starts = fmt.Sprint(starts)
	}
	out := *l.read.passages.Get(key, func() *passage {
		p := l.takeApart(src, starts)
		return &p
	})
	out.n, out.src = n, src
	return out
}

// language is [text.Language] of a question or a passage.
func (l lexicon) language(s string) string {
	return l.read.languages.Get(s, func() string { return text.Language(s) })
}

// bag is a text as a bag of words. It is shared and not to be written to.
type bag struct {
	tokens []text.Token
	words  []text.Token       // without twins
	counts map[string]float64 // of each term
}

func (l lexicon) bag(s string) *bag {
	return l.read.bags.Get(s, func() *bag {
		b := &bag{tokens: l.tokens(s), counts: map[string]float64{}}
		b.words = b.tokens
		for _, t := range b.tokens {
			b.counts[t.Term]++
		}
		if slices.ContainsFunc(b.tokens, folded) {
			b.words = slices.DeleteFunc(slices.Clone(b.tokens), folded)
		}
		return b
	})
}

// wordsOf yields the words of a chunk's text, of its title and of each heading.
func (l lexicon) wordsOf(c state.Chunk) iter.Seq[[]text.Token] {
	return func(yield func([]text.Token) bool) {
		if !yield(l.bag(c.Text).words) || !yield(l.words(c.Title)) {
			return
		}
		for _, h := range c.Headings {
			if !yield(l.words(h)) {
				return
			}
		}
	}
}

func folded(t text.Token) bool { return text.IsFolded(t.Term) }
