package index

import (
	"sync"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// readTexts are the texts of chunks, read once for all who need their words.
type readTexts struct {
	texts  []text.Reading
	runs   []text.Run // memory
	packed []byte     // memory
}

// readers are idle ones: memory for the texts of one file, to be used again.
var readers sync.Pool //nolint:gochecknoglobals // what is in it never shows

// read reads the texts of chunks.
func read(v *text.Vocabulary, chunks []state.Chunk) *readTexts {
	r, _ := readers.Get().(*readTexts)
	if r == nil {
		r = &readTexts{}
	}
	r.texts, r.runs = r.texts[:0], r.runs[:0]
	for i := range chunks {
		var one text.Reading
		one, r.runs = v.Read(r.runs, chunks[i].Text)
		r.texts = append(r.texts, one)
	}
	return r
}

// done gives the memory back.
func (r *readTexts) done() {
	clear(r.texts)
	if cap(r.runs) <= maxGathered && cap(r.packed) <= 8*maxGathered {
		readers.Put(r)
	}
}
