package chunk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/internal/text"
)

const (
	// overlapSentence is how many tokens of overlap count as one sentence.
	overlapSentence = 20
	// defaultThreshold is the cosine similarity below which two sentences differ in topic. It
	// depends on the model.
	defaultThreshold = 0.5
	// wordWindow is how many sentences on each side of a gap are compared by words, and
	// wordThreshold the cosine of their words below which the topic changes.
	wordWindow, wordThreshold = 6, 0.1
	// embedBatch is how many sentences one call of the model gets.
	embedBatch = 64
)

// bySentences cuts between sentences that differ: with a model, if the cosine of their
// vectors is below the threshold; without one, if the words of the sentences on both sides
// differ most. A chunk also ends before a sentence that would make it too large. It begins
// with the last sentences of the chunk before.
func bySentences(ctx context.Context, j *cutting) ([]piece, error) {
	units := j.sentences()
	var breaks []bool // in front of a unit
	if j.o.Semantic.Model == "" {
		breaks = unlikeWords(j.doc.Text, units)
	} else {
		var err error
		if breaks, err = j.unlike(ctx, units); err != nil {
			return nil, err
		}
	}
	s := j.doc.Text
	again := j.o.Overlap / overlapSentence
	if j.o.Semantic.Apart {
		again = 0
	}
	var spans []span
	var counts []int
	first := 0
	for i := range units {
		last := i == len(units)-1
		if !last && !breaks[i+1] && text.Estimate(s[units[first].start:units[i+1].end]) <= j.o.Size {
			continue
		}
		for _, part := range windows(s, span{units[first].start, units[i].end}, j.o.Size, 0) { // one, but for a sentence that is too large
			spans, counts = append(spans, part), append(counts, i+1-first)
		}
		if last {
			break
		}
		next := max(first+1, i+1-again)
		for next <= i && text.Estimate(s[units[next].start:units[i+1].end]) > j.o.Size {
			next++
		}
		first = next
	}
	pieces := j.under(spans)
	for i := range pieces {
		pieces[i].cut.Sentences = counts[i]
	}
	return pieces, nil
}

// sentences returns the sentences of a document, each with the blank space after it. Code,
// tables and lists are parted at blank lines only.
func (j *cutting) sentences() []span {
	var out []span
	for _, b := range outline(j.doc) {
		at := b.Start
		if b.Kind == document.KindText && j.o.Semantic.SplitOn != SplitParagraphs {
			for i, s := range text.Sentences(j.doc.Text[b.Start:b.End]) {
				if start := b.Start + s.Start; i > 0 && start > at {
					out = append(out, span{at, start})
					at = start
				}
			}
		}
		out = append(out, span{at, b.End})
	}
	return out
}

// unlike reports for each sentence whether, by the model, it differs from the one before.
func (j *cutting) unlike(ctx context.Context, units []span) ([]bool, error) {
	name := j.o.Semantic.Model
	if j.embed == nil {
		return nil, fmt.Errorf("%w: set EMBEDDING_MODEL to %s, or take semantic_model out to compare words", ErrNoModel, name)
	}
	vectors := make([][]float32, 0, len(units))
	for batch := range slices.Chunk(units, embedBatch) {
		texts := make([]string, len(batch))
		for i, u := range batch {
			texts[i] = cmp.Or(strings.TrimSpace(j.doc.Text[u.start:u.end]), "-") // models reject empty texts
		}
		some, err := j.embed(ctx, texts)
		if err == nil && len(some) != len(texts) {
			err = fmt.Errorf("%d vectors for %d sentences", len(some), len(texts))
		}
		if err != nil {
			return nil, fmt.Errorf("compare sentences by %s: %w", name, err)
		}
		vectors = append(vectors, some...)
	}
	breaks := make([]bool, len(units))
	for i := 1; i < len(units); i++ {
		breaks[i] = rank.CosineOf(vectors[i-1], vectors[i]) < j.o.Semantic.Threshold
	}
	return breaks, nil
}

// unlikeWords reports for each sentence whether the window that begins with it has few words in
// common with the window before it, and fewer than at the neighbouring sentences.
func unlikeWords(s string, units []span) []bool {
	analyzer := text.For(text.Language(s))
	terms := make([][]string, len(units))
	for i, u := range units {
		for _, t := range analyzer.Analyze(s[u.start:u.end]) {
			terms[i] = append(terms[i], t.Term)
		}
	}
	same := make([]float64, len(units)+1)
	same[0], same[len(units)] = 1, 1
	for i := 1; i < len(units); i++ {
		before, after := slices.Concat(terms[max(0, i-wordWindow):i]...), slices.Concat(terms[i:min(len(terms), i+wordWindow)]...)
		same[i] = rank.Cosine(rank.NewVector(before), rank.NewVector(after))
	}
	out := make([]bool, len(units))
	for i := 1; i < len(units); i++ {
		out[i] = same[i] < wordThreshold && same[i] < same[i-1] && same[i] <= same[i+1]
	}
	return out
}
