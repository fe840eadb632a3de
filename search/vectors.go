package search

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// DefaultPassageTokens is the number of tokens of a passage that are embedded. Most small
// models read 512 of their own tokens, which are shorter.
const DefaultPassageTokens = 400

// MaxDimension is the maximum dimension of a vector.
const MaxDimension = 1 << 16

// MinCosine is the lowest cosine of a dense hit.
const MinCosine = 0.0

// VectorSpec identifies how vectors are made. Vectors of two specs cannot be compared, so a
// collection has one at a time. The provider does not matter: a model gives the same vectors
// everywhere.
type VectorSpec struct {
	Model     string // see [ModelName]
	Dimension int    // 0 if not known yet; it then fits any
	Prefix    string // precedes each passage, such as "passage: "
	Tokens    int    // of a passage that are embedded; 0 means DefaultPassageTokens
}

// ModelName returns the name of a model independent of its server: lower case, without
// "openai/" and ":latest", and of a file its base name without ".gguf".
func ModelName(name string) string {
	name = strings.ToLower(strings.TrimSpace(strings.ReplaceAll(name, `\`, "/")))
	if strings.HasSuffix(name, ".gguf") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	name = strings.TrimPrefix(name, "openai/")
	return strings.TrimSuffix(strings.TrimSuffix(name, ":latest"), ".gguf")
}

// String formats the spec for people.
func (v VectorSpec) String() string {
	var with []string
	if v.Dimension > 0 {
		with = append(with, strconv.Itoa(v.Dimension)+" dimensions")
	}
	if v.Prefix != "" {
		with = append(with, fmt.Sprintf("prefix %q", v.Prefix))
	}
	if v.Tokens > 0 && v.Tokens != DefaultPassageTokens {
		with = append(with, strconv.Itoa(v.Tokens)+" tokens a passage")
	}
	if len(with) == 0 {
		return v.Model
	}
	return v.Model + " (" + strings.Join(with, ", ") + ")"
}

// WithDefaults replaces zero values by the defaults and checks the others.
func (v VectorSpec) WithDefaults() (VectorSpec, error) {
	v.Model = ModelName(v.Model)
	if v.Tokens == 0 {
		v.Tokens = DefaultPassageTokens
	}
	switch {
	case v.Model == "":
		return v, errors.New("an embedder without a model")
	case v.Dimension < 0 || v.Dimension > MaxDimension:
		return v, fmt.Errorf("embedder %s: the dimension is not within 0 and %d", v.Model, MaxDimension)
	case v.Tokens < 0:
		return v, fmt.Errorf("embedder %s: %d tokens a passage", v.Model, v.Tokens)
	}
	return v, nil
}

// Fits reports whether vectors of the spec stored can be compared with vectors of v.
func (v VectorSpec) Fits(stored VectorSpec) bool {
	if v.Dimension == 0 {
		v.Dimension = stored.Dimension
	}
	return v == stored
}

// Passage returns the text to embed for a chunk.
func (v VectorSpec) Passage(c state.Chunk) string {
	p := strings.ToValidUTF8(Passage(c), "\uFFFD")
	if len(p) > v.Tokens { // a token has at least one byte, and counting takes time
		p = text.Trim(p, v.Tokens)
	}
	return v.Prefix + p
}

// Passage returns title, headings and text of a chunk, in the form that models read.
func Passage(c state.Chunk) string {
	path := c.Headings
	if c.Title != "" && (len(path) == 0 || path[0] != c.Title) {
		path = append([]string{c.Title}, path...)
	}
	if len(path) == 0 {
		return c.Text
	}
	return strings.Join(path, " › ") + "\n" + c.Text
}

// EmbedderError is the error of a collection whose vectors were made by another embedder than
// the configured one. It matches [ErrEmbedderChanged].
type EmbedderError struct {
	Root   string     // of the collection
	Stored VectorSpec // of its vectors
	Given  VectorSpec // configured now
}

// Error names both embedders, and the command that makes the vectors again.
func (e *EmbedderError) Error() string {
	return fmt.Sprintf("the vectors of %s were made by %s, but %s is configured; make them again with: ragflow index --rebuild",
		e.Root, e.Stored, e.Given)
}

// Is matches ErrEmbedderChanged.
func (*EmbedderError) Is(target error) bool { return target == ErrEmbedderChanged }

// DimensionError is the error of a model that gave vectors of different lengths.
type DimensionError struct {
	Model     string
	Got, Want int
}

// Error names both lengths.
func (e *DimensionError) Error() string {
	return fmt.Sprintf("%s gave a vector of %d dimensions instead of %d", e.Model, e.Got, e.Want)
}

// EmbedFunc returns the vectors of texts, in their order, all of one length. It is called
// concurrently.
type EmbedFunc func(ctx context.Context, texts []string) ([][]float32, error)

// EmbedOptions configure [Backend.Embed].
type EmbedOptions struct {
	Embed   EmbedFunc
	Batch   int  // texts of one call; 0 means 16
	Workers int  // concurrent calls; 0 means 4
	Switch  bool // make vectors beside those of another embedder, and switch when all are made
	// Progress, unless nil, is called with the number of texts embedded so far, from one
	// goroutine. It must not call the index.
	Progress func(done, total int)
}

// EmbedReport is the result of [Backend.Embed].
type EmbedReport struct {
	Embedder VectorSpec
	Chunks   int // of the collections
	Embedded int // texts embedded now; the others had vectors
	Refused  int // texts that the model refused; the next call retries them
}
