package remote

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// encodeTerm returns a term without white space, as stored on the server.
func encodeTerm(term string) string {
	if !strings.ContainsAny(term, "% \x00") { // most terms; making a Replacer takes long
		return term
	}
	return strings.NewReplacer("%", "%25", " ", "%20", "\x00", "%00").Replace(term)
}

// termsOf returns the terms of each chunk of a file, including title and headings, and those of
// the file. A title counts twice, as in the embedded index.
func termsOf(a text.Analyzer, title, source string, chunks []state.Chunk) (each []string, all string) {
	var titled, texts strings.Builder
	own := make([]strings.Builder, len(chunks))
	search.EachTerm(a, title, source, chunks, func(chunk int, in search.Field, term string) {
		term = encodeTerm(term) + " "
		if chunk < 0 {
			titled.WriteString(term)
			return
		}
		if in == search.InText {
			texts.WriteString(term)
		}
		own[chunk].WriteString(term)
	})
	twice := titled.String() + titled.String()
	for i := range own {
		each = append(each, twice+own[i].String())
	}
	return each, twice + texts.String()
}

// chunkData is the part of a chunk that only this program reads.
type chunkData struct {
	Start, End, StartLine, EndLine, Page int
	Lines, Breaks                        []int
	Kind                                 string
	Cut                                  state.Cut
	Headings                             []string
	Labels                               []string `json:",omitempty"`
	Raw                                  []byte   `json:",omitempty"` // a text that is not UTF-8
}

// readable returns a text in a form that every server accepts: UTF-8 without NUL.
func readable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// newChunk describes chunk i of an entry for the server. Its id covers everything but the
// version.
func newChunk(root, file string, e *search.Entry, i int, terms string) (Chunk, error) {
	c := &e.Chunks[i]
	if c.ID == "" || c.Text == "" || c.Ordinal != i {
		return Chunk{}, fmt.Errorf("chunk %d has no id, no text or ordinal %d", i, c.Ordinal)
	}
	d := chunkData{c.Start, c.End, c.StartLine, c.EndLine, c.Page, c.Lines, c.Breaks, c.Kind, c.Cut, c.Headings, c.PageLabels, nil}
	text := readable(c.Text)
	if text != c.Text {
		d.Raw = []byte(c.Text)
	}
	data, err := json.Marshal(d)
	if err != nil {
		return Chunk{}, err
	}
	hash := cmp.Or(c.Hash, textHash(c.Text))
	return Chunk{
		ID: ID(file, c.ID, hash, e.File.Title, string(data)), Root: ID(root), File: file, Public: c.ID, Ordinal: i,
		Source: readable(e.File.Source), Title: readable(e.File.Title), Headings: readable(strings.Join(c.Headings, " › ")),
		Text: text, Hash: hash, Terms: terms, Data: data,
	}, nil
}
