package index

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// fileIndex is the inverted index of one file. Segments are merged from those of their
// files. It is made of the chunks of the file when it is needed, and stored only for a
// dead file. All numbers are uvarints, strings have their length in front:
//
//	number of chunks; length of the title in terms
//	a chunk:  id, terms of the text, terms of the heading path
//	number of terms
//	a term, ascending:
//	  bytes shared with the term before, the rest of the term
//	  occurrences in the title
//	  number of chunks that hold it in text or headings; for each:
//	    ordinal minus the ordinal before, occurrences in text, in headings
//
// The first ordinal counts from -1, so that no gap is 0.
type fileIndex struct {
	title  uint32 // length in terms
	chunks []chunkLengths
	terms  map[string]*fileTerm
}

// chunkLengths are the id of a chunk and the lengths of its fields in terms.
type chunkLengths struct {
	id            string
	body, heading uint32
}

// fileTerm is a term of a file.
type fileTerm struct {
	title    uint32 // occurrences
	postings []filePosting
}

// filePosting is a chunk of a file that holds a term.
type filePosting struct {
	ordinal       int
	body, heading uint32 // occurrences
}

// termsFormat is part of the analysis that segments are marked with.
const termsFormat = "/terms2"

// analysis names what made terms. A segment of another analysis is built again.
func (db *DB) analysis() string { return db.analyzer.Name() + termsFormat }

// languageMark begins the terms that name the language of a chunk, such as "\x00de"; no
// word begins with it. English and Vietnamese are not marked. So a segment knows
// which languages it holds, and queries are analyzed for those.
const languageMark = "\x00"

// analyze makes the inverted index of a file.
func analyze(a text.Analyzer, title string, chunks []state.Chunk) *fileIndex {
	x := &fileIndex{chunks: make([]chunkLengths, len(chunks)), terms: map[string]*fileTerm{}}
	texts := make([]string, len(chunks))
	for i := range chunks {
		texts[i] = chunks[i].Text
	}
	whole, languages := "", make([]string, len(chunks))
	polyglot, _ := a.(text.Polyglot)
	if polyglot != nil {
		whole, languages = polyglot.Languages(texts)
	}
	var tokens []text.Token
	tokenize := func(s, language string) []text.Token {
		if tokens = tokens[:0]; polyglot != nil {
			tokens = polyglot.AppendIn(tokens, s, language)
		} else {
			tokens = a.Append(tokens, s)
		}
		return tokens
	}
	for _, t := range tokenize(title, whole) {
		x.title++
		x.term(t.Term).title++
	}
	for i := range chunks {
		c, language := &chunks[i], languages[i]
		if language != "" && language != "en" && language != "vi" {
			x.term(languageMark+language).in(i).body++
		}
		lengths := chunkLengths{id: c.ID}
		for _, t := range tokenize(c.Text, language) {
			lengths.body++
			x.term(t.Term).in(i).body++
		}
		if len(c.Headings) > 0 {
			for _, t := range tokenize(strings.Join(c.Headings, "\n"), language) {
				lengths.heading++
				x.term(t.Term).in(i).heading++
			}
		}
		x.chunks[i] = lengths
	}
	return x
}

// term returns a term, which it adds where there is none.
func (x *fileIndex) term(name string) *fileTerm {
	t := x.terms[name]
	if t == nil {
		t = &fileTerm{}
		x.terms[name] = t
	}
	return t
}

// in returns the posting of a chunk; ordinals ascend.
func (t *fileTerm) in(ordinal int) *filePosting {
	if n := len(t.postings); n == 0 || t.postings[n-1].ordinal != ordinal {
		t.postings = append(t.postings, filePosting{ordinal: ordinal})
	}
	return &t.postings[len(t.postings)-1]
}

// encode writes the index as the table dead keeps it.
func (x *fileIndex) encode() []byte {
	out := binary.AppendUvarint(nil, uint64(len(x.chunks)))
	out = binary.AppendUvarint(out, uint64(x.title))
	for _, c := range x.chunks {
		out = appendString(out, c.id)
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(c.body)), uint64(c.heading))
	}
	out = binary.AppendUvarint(out, uint64(len(x.terms)))
	before := ""
	for _, name := range slices.Sorted(maps.Keys(x.terms)) {
		t := x.terms[name]
		out = appendTerm(out, before, name)
		out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(t.title)), uint64(len(t.postings)))
		last := -1
		for _, p := range t.postings {
			out = binary.AppendUvarint(out, uint64(p.ordinal-last)) //nolint:gosec // ordinals ascend
			out = binary.AppendUvarint(binary.AppendUvarint(out, uint64(p.body)), uint64(p.heading))
			last = p.ordinal
		}
		before = name
	}
	return out
}

// decodeFileIndex reads what encode wrote.
func decodeFileIndex(data []byte) (*fileIndex, error) {
	r := reader{b: data}
	x := &fileIndex{chunks: make([]chunkLengths, r.count()), terms: map[string]*fileTerm{}}
	x.title = r.u32()
	for i := range x.chunks {
		x.chunks[i] = chunkLengths{id: string(r.bytes()), body: r.u32(), heading: r.u32()}
	}
	var name []byte
	for range r.count() {
		name = r.term(name)
		t := x.term(string(name))
		t.title = r.u32()
		last := -1
		for range r.count() {
			gap := r.u32()
			p := filePosting{ordinal: last + int(gap), body: r.u32(), heading: r.u32()}
			if gap == 0 || p.ordinal >= len(x.chunks) {
				r.fail()
				break
			}
			t.postings = append(t.postings, p)
			last = p.ordinal
		}
		if len(t.postings) == 0 && (t.title == 0 || len(x.chunks) == 0) {
			r.fail()
		}
		if r.err != nil {
			break
		}
	}
	if r.err != nil {
		return nil, fmt.Errorf("terms: %w", r.err)
	}
	return x, nil
}

// titled is a file whose index is wanted.
type titled struct {
	id, version int64
	title       string
}

// fileIndexes analyzes files on all cores. The caller bounds how many files it asks for
// at a time.
func (db *DB) fileIndexes(tx *sqlite.Tx, files []titled) ([]*fileIndex, error) {
	ids := make([]int64, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	chunks, err := analyzable(tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*fileIndex, len(files))
	parallel.Each(len(files), func(i int) { out[i] = analyze(db.analyzer, files[i].title, chunks[files[i].id]) })
	return out, nil
}

// analyzable reads what is analyzed of the chunks of files.
func analyzable(tx *sqlite.Tx, files []int64) (map[int64][]state.Chunk, error) {
	list, err := json.Marshal(files)
	if err != nil {
		return nil, err
	}
	out := make(map[int64][]state.Chunk, len(files))
	err = each(tx, func(r row) error {
		var file int64
		var c state.Chunk
		var headings []byte
		err := r.Scan(&file, &c.ID, &headings, &c.Text)
		if err == nil {
			err = json.Unmarshal(headings, &c.Headings)
		}
		out[file] = append(out[file], c)
		return err
	}, `SELECT file, id, headings, text FROM chunks WHERE file IN (SELECT value FROM json_each(?)) ORDER BY file, ordinal`, string(list))
	return out, err
}

// weight is about how many bytes the terms of chunks take.
func weight(chunks []state.Chunk) (n int64) {
	for i := range chunks {
		n += int64(len(chunks[i].Text)) + 16
	}
	return min(n, math.MaxInt32)
}
