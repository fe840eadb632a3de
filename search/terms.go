package search

import (
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Field is a field of a document.
type Field int

// The fields of a document.
const (
	InTitle    Field = iota // with the name of the file; chunk is -1
	InText                  // of a chunk
	InHeadings              // of a chunk
	InLanguage              // the term names the language of a chunk
	InNGrams                // the term is an n-gram of a word of a chunk, or of the title if chunk is -1
)

// languageMark begins the terms that name the language of a chunk, such as "\x00de"; no word
// begins with it. English and Vietnamese are not marked. These terms tell an index which
// languages it holds, and queries are analyzed for those.
const languageMark = "\x00"

// Analyzer turns text into terms.
type Analyzer = text.Analyzer

// QueryTerm is a term to search for.
type QueryTerm = text.QueryTerm

// Token is a term with its place in the text.
type Token = text.Token

// Multilingual returns the analyzer of collections: documents of several languages in one index.
func Multilingual() Analyzer { return text.Multilingual() }

// EachTerm calls f for the terms of a document: first those of its title and its file's name, then those of
// each chunk. Only the terms of the first three fields count as its length. Words of its folder's name that it never says count as words of the title, and come last: in
// a folder "drivers", a page about drivers is no better for its place.
func EachTerm(a Analyzer, title, source string, chunks []state.Chunk, f func(chunk int, in Field, term string)) {
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = chunks[i].Text
	}
	whole, languages := "", make([]string, len(chunks))
	polyglot, ok := a.(text.Polyglot)
	if ok {
		whole, languages = polyglot.Languages(texts)
	}
	var tokens []Token
	analyzed := func(s, language string) []Token {
		if tokens = tokens[:0]; ok {
			tokens = polyglot.AppendIn(tokens, s, language)
		} else {
			tokens = a.Append(tokens, s)
		}
		return tokens
	}
	unsaid := map[string]bool{}
	for _, t := range analyzed(text.FolderWords(source), whole) {
		unsaid[t.Term] = true
	}
	each := func(chunk int, in Field, s, language string) {
		for _, t := range analyzed(s, language) {
			delete(unsaid, t.Term)
			f(chunk, in, t.Term)
			for ngram := range text.NGrams(language, t.Term) {
				f(chunk, InNGrams, ngram)
			}
		}
	}
	each(-1, InTitle, text.Titled(title, source), whole)
	for i, l := range languages {
		if l != "" && l != "en" && l != "vi" {
			f(i, InLanguage, languageMark+l)
		}
		each(i, InText, texts[i], l)
		if len(chunks[i].Headings) > 0 {
			each(i, InHeadings, strings.Join(chunks[i].Headings, "\n"), l)
		}
	}
	for _, term := range slices.Sorted(maps.Keys(unsaid)) {
		f(-1, InTitle, term)
	}
}

// Languages are the languages that the chunks of a [Snapshot] are in.
type Languages struct {
	documents, bound Analyzer // of documents, and of texts of unknown language
	held             []string // besides English, ascending
	main             string   // of most chunks, if it is among held
	chunks           int
	docFreq          func(term string) int
}

// NewLanguages counts the chunks of each language; a is the analyzer of the documents.
func NewLanguages(a Analyzer, chunks int, docFreq func(term string) int) Languages {
	l := Languages{documents: a, bound: a, chunks: chunks, docFreq: docFreq}
	if p, ok := a.(text.Polyglot); ok {
		for _, code := range p.Codes() {
			n := docFreq(languageMark + code)
			if n > 0 {
				l.held = append(l.held, code)
			}
			if 2*n > chunks {
				l.main = code
			}
		}
		l.bound = p.Bound(l.held, docFreq)
	}
	return l
}

// Analyzer returns an analyzer that gives a word the term that most documents have for it. See
// [text.Polyglot].
func (l *Languages) Analyzer() Analyzer { return l.bound }

func (l *Languages) documentAnalyzer() Analyzer { return l.documents }

// IDF implements [Snapshot]: ln((N−df+0.5)/(df+0.5) + 1). It is greatest for terms that no chunk
// holds, and above 0 for all.
func (l *Languages) IDF(term string) float64 {
	df := l.docFreq(term)
	return math.Log((float64(max(0, l.chunks-df))+0.5)/(float64(df)+0.5) + 1)
}

// Snippets implements [Snapshot]: the rarest words of the query weigh most.
func (l *Languages) Snippets(q state.Query) func(passage string) Snippet {
	_, weights := l.Weigh(q)
	for term, w := range weights {
		if weights[term] = w * l.IDF(term); l.docFreq(term) == 0 {
			delete(weights, term)
		}
	}
	return NewSnippets(l.bound, weights)
}

// fewSpeak is the share of chunks below which a language does not count: a list of names, a
// quotation.
const fewSpeak = 0.005

// Speaks reports whether chunks are in a language. English and Vietnamese are not
// distinguished.
func (l *Languages) Speaks(language string) bool {
	if !slices.Contains(l.held, language) {
		others := 0
		for _, code := range l.held {
			others += l.docFreq(languageMark + code)
		}
		return (language == "en" || language == "vi") && others < l.chunks
	}
	return float64(l.docFreq(languageMark+language)) >= fewSpeak*float64(l.chunks)
}

// QueryTerms returns the terms to search for.
func (l *Languages) QueryTerms(s string) []QueryTerm {
	return text.QueryTerms(l.documents, s, l.held, l.main)
}

// Weigh returns the terms of the text of a query, and the weights of these and of the terms of
// its boosts. The greatest weight of a term counts; boosts with a weight that is not positive
// and finite are ignored.
func (l *Languages) Weigh(q state.Query) (asked []QueryTerm, weights map[string]float64) {
	asked, weights = countRepeats(l.QueryTerms(q.Text)), map[string]float64{}
	add := func(terms []QueryTerm, factor float64) {
		for _, t := range terms {
			weights[t.Term] = max(weights[t.Term], factor*t.Weight)
		}
	}
	add(asked, 1)
	if len(q.Text) <= maxNGrams {
		for _, t := range asked {
			ngrams, weight := t.NGrams()
			for ngram := range ngrams {
				weights[ngram] = max(weights[ngram], weight)
			}
		}
	}
	for _, b := range q.Boosts {
		if b.Weight > 0 && !math.IsInf(b.Weight, 1) {
			add(l.QueryTerms(b.Text), b.Weight)
		}
	}
	return asked, weights
}

// maxNGrams is the length of a query in bytes from which its words find no compounds: a text has
// enough words, and would have hundreds of n-grams.
const maxNGrams = 300

// textWords is the number of words from which a query counts as a text. In a text repetition
// shows the topic, so each occurrence counts; in a question it is grammar: see
// docs/search-ablation.md.
const textWords = 64

// countRepeats sums the weights of each term of a long query over its places, and returns other
// queries unchanged.
func countRepeats(asked []QueryTerm) []QueryTerm {
	type occurrence struct {
		term string
		at   text.Span
	}
	weights, places, sums := map[occurrence]float64{}, map[text.Span]bool{}, map[string]float64{}
	for _, t := range asked {
		o := occurrence{t.Term, text.Span{Start: t.Start, End: t.End}}
		places[o.at] = true
		if more := t.Weight - weights[o]; more > 0 { // two languages may give a word the same term
			weights[o] = t.Weight
			sums[t.Term] += more
		}
	}
	if len(places) < textWords {
		return asked
	}
	for i := range asked {
		asked[i].Weight = sums[asked[i].Term]
	}
	return asked
}
