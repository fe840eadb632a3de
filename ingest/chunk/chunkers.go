package chunk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/search/text"
)

// Chunkers: the ways to cut a document.
const (
	Adaptive  = "adaptive"  // by document: markdown, html, code or text, with small sections joined
	Code      = "code"      // source code by its declarations; other documents as adaptive does
	HTML      = "html"      // a page by its headings and blocks
	Markdown  = "markdown"  // one section a heading, none joined
	Recursive = "recursive" // by a list of separators, to a fixed size, with an overlap
	Semantic  = "semantic"  // where the topic changes, with an overlap of sentences
	Text      = "text"      // by paragraphs, then sentences
)

// chunker cuts a document into pieces in order, which hold all of its text.
type chunker func(ctx context.Context, j *cutting) ([]piece, error)

// chunkers lists the chunkers by name. Adaptive is not among them: it chooses
// one of them.
func chunkers() map[string]chunker {
	return map[string]chunker{
		Code:      byDeclarations,
		HTML:      byBlocks,
		Markdown:  byHeadings,
		Recursive: bySeparators,
		Semantic:  bySentences,
		Text:      byBlocks,
	}
}

// Chunkers lists the names of all chunkers, in alphabetical order.
func Chunkers() []string {
	names := []string{Adaptive}
	for name := range chunkers() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// choose returns what cuts a document, and its name.
func choose(doc *document.Document, o Options) (string, chunker) {
	if o.Chunker != Adaptive {
		if cut, ok := chunkers()[o.Chunker]; ok && (o.Chunker != Code || o.language(doc) != "") {
			return o.Chunker, cut
		}
	}
	switch {
	case o.language(doc) != "":
		return Code, byDeclarations
	case doc.Kind == document.Markdown:
		return Markdown, byBlocks
	case doc.Kind == document.HTML:
		return HTML, byBlocks
	}
	return Text, byBlocks
}

// ErrNoModel reports that the options name a model to compare sentences with, but no Embed
// was given.
var ErrNoModel = errors.New("no embedding model to compare sentences with")

// Embed gives texts their vectors, one each, in order and of one length. It is
// called from one goroutine at a time by a document.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Options say how documents are cut. The zero Options are the defaults. All sizes are tokens as text.Estimate counts them.
type Options struct {
	// Chunker is one of Chunkers; default ChunkAdaptive.
	Chunker string
	// Size is how large a chunk may become, in tokens. Default 512, which is 300
	// to 350 words: enough for a section of most pages, and six of them leave a
	// context of 4,000 tokens. Less than 16 counts as 16.
	Size int
	// Overlap is how many tokens of the end of a chunk the next one begins with:
	// of the recursive chunker at most so many, of the semantic one a sentence for
	// every 20. Others cut where the document parts anyway and repeat nothing.
	// Default 50, at most half of Size; negative repeats nothing.
	Overlap int
	// Min is how small a section may be, in tokens, before it joins its
	// neighbour under the same parent heading; both together stay within twice Min.
	// Default 96, at most half of Size; negative joins none. The markdown chunker
	// joins none by itself.
	Min int
	// Language is that of source code, one of CodeLanguages; default: by the name of
	// each file. Of other documents it is ignored.
	Language string
	// Semantic says how the semantic chunker compares sentences.
	Semantic SemanticOptions
}

// SemanticOptions say how the semantic chunker compares sentences.
type SemanticOptions struct {
	Model     string  // names what Embed is; default: the words of the sentences are compared, without a model
	Apart     bool    // chunks repeat no sentences, whatever Overlap is
	SplitOn   string  // what is compared: SplitSentences, the default, or SplitParagraphs
	Threshold float64 // of a model: sentences less alike than this, by cosine, are parted; default 0.5
}

// What the semantic chunker compares.
const (
	SplitSentences  = "sentences"
	SplitParagraphs = "paragraphs"
)

const (
	defaultSize    = 512
	defaultOverlap = 50
	defaultMin     = 96
	minSize        = 16 // less would cut sentences into words
)

// Check refuses options that make no sense. The error says what to take instead.
func (o Options) Check() error {
	if o.Chunker != "" && !slices.Contains(Chunkers(), o.Chunker) {
		return fmt.Errorf("there is no chunker %q: take one of %s", o.Chunker, strings.Join(Chunkers(), ", "))
	}
	if o.Language != "" && !slices.Contains(Languages(), o.Language) {
		return fmt.Errorf("the declarations of %q are not known: take one of %s", o.Language, strings.Join(Languages(), ", "))
	}
	if s := o.Semantic.SplitOn; s != "" && s != SplitSentences && s != SplitParagraphs {
		return fmt.Errorf("the semantic chunker splits on %s or %s, not on %q", SplitSentences, SplitParagraphs, s)
	}
	if size := o.withDefaults().Size; o.Overlap > size/2 {
		return fmt.Errorf("chunks of %d tokens cannot overlap by %d: take %d or less", size, o.Overlap, size/2)
	}
	return nil
}

// withDefaults puts the defaults in, also in place of what Check refuses.
func (o Options) withDefaults() Options {
	if !slices.Contains(Chunkers(), o.Chunker) {
		o.Chunker = Adaptive
	}
	o.Size = max(cmp.Or(max(o.Size, 0), defaultSize), minSize)
	o.Overlap = min(max(cmp.Or(o.Overlap, defaultOverlap), 0), o.Size/2)
	o.Min = min(max(cmp.Or(o.Min, defaultMin), 0), o.Size/2)
	o.Semantic.SplitOn = cmp.Or(o.Semantic.SplitOn, SplitSentences)
	o.Semantic.Threshold = cmp.Or(o.Semantic.Threshold, defaultThreshold)
	return o
}

// cutVersion moves when documents are cut otherwise than before by the same options.
const cutVersion = "chunk/19"

// Fingerprint names what Chunk makes of a document: documents that were cut
// under another fingerprint have to be cut again.
func (o Options) Fingerprint() string {
	o = o.withDefaults()
	return fmt.Sprintf("%s %+v", cutVersion, o)
}

// outline returns the blocks of a document, in order and without gaps. A value that is typeset as
// a heading is part of its label.
func outline(d *document.Document) []document.Block {
	if len(d.Blocks) == 0 {
		return document.Paragraphs(d.Text, d.Body)
	}
	out := make([]document.Block, 0, len(d.Blocks)) // packing notes paths in them
	for i, b := range d.Blocks {
		if isValue(d, i) {
			out[len(out)-1].End = b.End
		} else {
			out = append(out, b)
		}
	}
	return out
}

const (
	valueWords  = 12 // of a heading that may be a value
	unitLetters = 3  // of a value that text follows, such as EUR or kWh
)

// isValue reports whether block i is a heading that ends what the text above it begins: a figure, or a
// few words that nothing stands below.
func isValue(d *document.Document, i int) bool {
	b := d.Blocks[i]
	if i == 0 || b.Level == 0 || len(strings.Fields(b.Heading)) > valueWords {
		return false
	}
	label := d.Blocks[i-1]
	said := d.Text[label.Start:label.End]
	if label.Level > 0 || label.Kind != document.KindText || len(label.Parts) > 0 || isNoise(said) || !text.Unfinished(said) {
		return false
	}
	if i+1 == len(d.Blocks) || d.Blocks[i+1].Level > 0 && d.Blocks[i+1].Level <= b.Level {
		return true
	}
	letters := 0
	for _, r := range b.Heading {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters <= unitLetters && strings.ContainsFunc(b.Heading, unicode.IsNumber)
}

// byBlocks packs the blocks of a document and joins small sections.
func byBlocks(_ context.Context, j *cutting) ([]piece, error) {
	p := packer{s: j.doc.Text, size: j.o.Size, least: j.o.Min, deepest: 3}
	pieces := p.pack(outline(j.doc))
	for i := range pieces {
		pieces[i].cut.Level = 0 // where sections are joined, their levels say nothing
	}
	return pieces, nil
}

// byHeadings packs the blocks of a page section by section. The text before the first heading
// is a section too.
func byHeadings(_ context.Context, j *cutting) ([]piece, error) {
	p := packer{s: j.doc.Text, size: j.o.Size, deepest: 6}
	return p.pack(outline(j.doc)), nil
}
