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
	"example.com/ragflow/internal/text"
)

// Names of chunkers.
const (
	Adaptive  = "adaptive"  // by document: markdown, html, code or text, with small sections joined
	Code      = "code"      // source code by its declarations; other documents as adaptive does
	HTML      = "html"      // a page by its headings and blocks
	Markdown  = "markdown"  // one section a heading, none joined
	Recursive = "recursive" // by a list of separators, to a fixed size, with an overlap
	Semantic  = "semantic"  // at changes of topic, with an overlap of sentences
	Text      = "text"      // by paragraphs, then sentences
)

// chunker cuts a document into consecutive pieces that hold all of its text.
type chunker func(ctx context.Context, j *cutting) ([]piece, error)

// chunkers lists the chunkers by name, without Adaptive, which chooses one of them.
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

// choose returns the name of the chunker for a document, and the chunker.
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

// Embed returns one vector for each text, in order, all of one length. Calls for one
// document come from one goroutine.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Options say how documents are cut. The zero Options are the defaults. All sizes are tokens
// as text.Estimate counts them.
type Options struct {
	// Chunker is one of Chunkers; default Adaptive.
	Chunker string
	// Size is how large a chunk may become, in tokens. Default 512, which is 300
	// to 350 words: enough for a section of most pages, and six of them leave a
	// context of 4,000 tokens. Less than 16 counts as 16.
	Size int
	// Overlap is how many tokens of the end of a chunk the next one repeats: at most so
	// many with the recursive chunker, one sentence for every 20 with the semantic one.
	// Other chunkers repeat nothing. Default 50, at most half of Size; negative: none.
	Overlap int
	// Min is the size in tokens below which a section joins its neighbour under the same
	// parent heading, if both together have at most twice Min. Default 96, at most half of
	// Size; negative joins none. The markdown chunker joins none.
	Min int
	// Language is the programming language, one of Languages; default: by the name of each
	// file. It is ignored for other documents.
	Language string
	// Semantic says how the semantic chunker compares sentences.
	Semantic SemanticOptions
}

// SemanticOptions say how the semantic chunker compares sentences.
type SemanticOptions struct {
	Model     string  // the model of Embed; default: the words of sentences are compared, without a model
	Apart     bool    // chunks repeat no sentences, whatever Overlap is
	SplitOn   string  // units to compare: SplitSentences, the default, or SplitParagraphs
	Threshold float64 // with a model: a chunk ends before a unit whose cosine is below it; default 0.5
}

// Units that the semantic chunker compares.
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

// withDefaults fills in defaults, also for values that Check refuses.
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

// cutVersion changes whenever a document would be read, or with the same options cut, differently.
const cutVersion = "chunk/21"

// Fingerprint identifies the options and the version of the chunkers: a document that was cut
// under another fingerprint must be cut again.
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
	p := packer{s: j.doc.Text, size: j.o.Size, least: j.o.Min, deepest: 3, apart: isMail(j.doc.Kind)}
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
