package index

import (
	"encoding/json"
	"math"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// fileTerms is the inverted index of one file, made of its chunks whenever it is needed.
// Segments are merged from those of their files.
type fileTerms struct {
	title  uint32 // number of terms of the title
	chunks []chunkLengths
	terms  map[string]*fileTerm
}

// chunkLengths are the id of a chunk and the numbers of terms of its fields.
type chunkLengths struct {
	id            string
	body, heading uint32
}

// fileTerm is a term of a file.
type fileTerm struct {
	title    uint32    // occurrences in the title
	postings []posting // by ordinal, which is in the field chunk; without title
}

// termsFormat is part of the analysis of a segment.
const termsFormat = "/terms6"

// analysis names the analyzer and the format. A segment with another analysis is rebuilt.
func (db *DB) analysis() string { return db.analyzer.Name() + termsFormat }

// analyze makes the inverted index of a file.
func analyze(a text.Analyzer, title, source string, chunks []state.Chunk) *fileTerms {
	x := &fileTerms{chunks: make([]chunkLengths, len(chunks)), terms: map[string]*fileTerm{}}
	for i := range chunks {
		x.chunks[i].id = chunks[i].ID
	}
	search.EachTerm(a, title, source, chunks, func(chunk int, in search.Field, name string) {
		t := x.term(name)
		switch in {
		case search.InTitle:
			x.title++
			t.title++
		case search.InText:
			x.chunks[chunk].body++
			t.in(chunk).body++
		case search.InHeadings:
			x.chunks[chunk].heading++
			t.in(chunk).heading++
		case search.InLanguage, search.InNGrams: // of no length
			if chunk < 0 {
				t.title++
			} else {
				t.in(chunk).body++
			}
		}
	})
	return x
}

// term returns a term, and adds it if needed.
func (x *fileTerms) term(name string) *fileTerm {
	t := x.terms[name]
	if t == nil {
		t = &fileTerm{}
		x.terms[name] = t
	}
	return t
}

// in returns the posting of a chunk; ordinals ascend.
func (t *fileTerm) in(ordinal int) *posting {
	if n := len(t.postings); n == 0 || int(t.postings[n-1].chunk) != ordinal {
		t.postings = append(t.postings, posting{chunk: uint32(ordinal)})
	}
	return &t.postings[len(t.postings)-1]
}

// fileVersion is a row of the table files, as of one version of it.
type fileVersion struct {
	id, version   int64
	source, title string
}

// analyzeFiles makes the inverted indexes of files on all cores. The caller limits the number
// of files of a call.
func (db *DB) analyzeFiles(tx *sqlite.Tx, files []fileVersion) ([]*fileTerms, error) {
	ids := make([]int64, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	chunks := make(map[int64][]state.Chunk, len(files))
	if err := each(tx, func(r row) error {
		var file int64
		var c state.Chunk
		var headings []byte
		err := r.Scan(&file, &c.ID, &headings, &c.Text)
		if err == nil {
			err = json.Unmarshal(headings, &c.Headings)
		}
		chunks[file] = append(chunks[file], c)
		return err
	}, `SELECT file, id, headings, text FROM chunks WHERE file IN (SELECT value FROM json_each(?)) ORDER BY file, ordinal`, string(list)); err != nil {
		return nil, err
	}
	out := make([]*fileTerms, len(files))
	parallel.Each(len(files), func(i int) { out[i] = analyze(db.analyzer, files[i].title, files[i].source, chunks[files[i].id]) })
	return out, nil
}

// weight returns about the number of bytes of the terms of chunks.
func weight(chunks []state.Chunk) (n int64) {
	for i := range chunks {
		n += int64(len(chunks[i].Text)) + 16
	}
	return min(n, math.MaxInt32)
}
