package index

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Kinds of vectors: what of a chunk is embedded.
const (
	// VectorsPassage is one vector a chunk, of its [Passage].
	VectorsPassage = "passage"
	// VectorsSentences is besides one of each few sentences of it, under the same
	// title and headings: of a long passage that speaks of several things, each is
	// found. A chunk's score is that of its nearest vector (max-sim).
	VectorsSentences = "sentences"
)

// VectorKinds lists the kinds of vectors, the default first.
func VectorKinds() []string { return []string{VectorsPassage, VectorsSentences} }

// CheckVectors tells that there is no such kind of vectors; the empty one is
// VectorsPassage.
func CheckVectors(kind string) error {
	if kind != "" && !slices.Contains(VectorKinds(), kind) {
		return fmt.Errorf("vectors of %q are not one of %s", kind, strings.Join(VectorKinds(), ", "))
	}
	return nil
}

// groupTokens is how many tokens, by [text.Estimate], make a group of sentences:
// two to four of usual length, which say one thing, and enough that a vector has
// something to go by. Chosen without measuring.
const groupTokens = 60

// sentenceGroups cuts a text into groups of sentences that follow each other. Each
// ends with the sentence that fills it; what is left at the end belongs to the
// last. A text of one group has none: it is the whole.
func sentenceGroups(s string) []text.Span {
	var out []text.Span
	size := groupTokens
	for _, at := range text.Sentences(s) {
		n := text.Estimate(s[at.Start:at.End])
		if size < groupTokens {
			out[len(out)-1].End = at.End
			size += n
			continue
		}
		out, size = append(out, at), n
	}
	if n := len(out); n > 1 && size < groupTokens {
		out[n-2].End = out[n-1].End
		out = out[:n-1]
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// parts are what is embedded of a chunk besides its passage, by a kind of vectors:
// chunks with a part of its text and the hash of that.
func parts(kind string, c state.Chunk) []state.Chunk {
	if kind != VectorsSentences {
		return nil
	}
	var out []state.Chunk
	for _, at := range sentenceGroups(c.Text) {
		part := c
		part.Text = c.Text[at.Start:at.End]
		sum := sha256.Sum256([]byte(part.Text))
		part.Hash = hex.EncodeToString(sum[:])
		out = append(out, part)
	}
	return out
}
