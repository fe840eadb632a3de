package index

import (
	"maps"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search"
)

// builder merges the inverted indexes of files, in the order of their sources, into a segment.
type builder struct {
	s     segment
	terms map[string]*termPostings
}

// termPostings are the postings of a term so far, as appendPosting writes them.
type termPostings struct {
	data []byte
	last uint32 // chunk of the last posting
}

func (t *termPostings) append(p posting) {
	t.data = appendPosting(t.data, t.last, p)
	t.last = p.chunk
}

func newBuilder() *builder { return &builder{terms: map[string]*termPostings{}} }

// add adds the index of one file. A file without chunks is ignored.
func (b *builder) add(f segmentFile, x *fileTerms) {
	if len(x.chunks) == 0 {
		return
	}
	s := &b.s
	for _, c := range x.chunks {
		s.IDs = append(s.IDs, c.id...)
		s.ChunkFile = append(s.ChunkFile, uint32(len(s.Files)))
		s.ChunkBody, s.ChunkHeading = append(s.ChunkBody, c.body), append(s.ChunkHeading, c.heading)
		s.IDEnd = append(s.IDEnd, uint32(len(s.IDs)))
	}
	f.Chunk, f.Title = uint32(s.Totals.Chunks), x.title
	for _, c := range x.chunks {
		f.Body += c.body
	}
	s.Files = append(s.Files, f)
	s.Totals.add(s.totalsOf(len(s.Files)-1), 1)
	for name, t := range x.terms {
		to := b.terms[name]
		if to == nil {
			to = &termPostings{}
			b.terms[strings.Clone(name)] = to // the name may be a part of the text
		}
		title := t.title // counted in the posting of the first chunk
		if title > 0 && (len(t.postings) == 0 || t.postings[0].chunk > 0) {
			to.append(posting{chunk: f.Chunk, title: title})
			title = 0
		}
		for _, p := range t.postings {
			to.append(posting{chunk: f.Chunk + p.chunk, body: p.body, heading: p.heading, title: title})
			title = 0
		}
	}
}

// finish returns the segment. The builder must not be used afterwards.
func (b *builder) finish() (*segment, error) {
	s := &b.s
	s.made = newScorer(search.DefaultRanking(), s.Totals)
	var list []posting
	var bounds []bound
	for _, name := range slices.Sorted(maps.Keys(b.terms)) {
		list = readPostings(list[:0], 0, b.terms[name].data)
		var chunks, files int
		bounds, chunks, files = s.measure(bounds[:0], list)
		before := uint32(0)
		for from := 0; from < len(list); from += blockSize {
			to := min(from+blockSize, len(list))
			var highest bound
			for i := from; i < to; i++ {
				s.Postings = appendPosting(s.Postings, before, list[i])
				before = list[i].chunk
				highest = bound{max(highest.Chunk, bounds[i].Chunk), max(highest.File, bounds[i].File)}
			}
			s.BlockLast, s.PostingsEnd = append(s.BlockLast, before), append(s.PostingsEnd, uint32(len(s.Postings)))
			s.MaxChunkTF = append(s.MaxChunkTF, math.Float32bits(highest.Chunk))
			s.MaxFileTF = append(s.MaxFileTF, math.Float32bits(highest.File))
		}
		s.Names = append(s.Names, name...)
		s.NameEnd, s.BlockEnd = append(s.NameEnd, uint32(len(s.Names))), append(s.BlockEnd, uint32(len(s.BlockLast)))
		s.TermChunks, s.TermFiles = append(s.TermChunks, uint32(chunks)), append(s.TermFiles, uint32(files))
	}
	if len(s.Postings)+len(s.Names)+len(s.IDs) > maxSegment {
		return nil, errTooLarge
	}
	return s, nil
}

// measure appends the bounds of the postings of a term, and counts the chunks and files
// that hold the term in any field.
func (s *segment) measure(out []bound, list []posting) (bounds []bound, chunks, files int) {
	for from := 0; from < len(list); {
		file := s.fileOf(int(list[from].chunk))
		occurrences, to := uint32(0), from
		for to < len(list) && s.fileOf(int(list[to].chunk)) == file {
			occurrences += list[to].body
			to++
		}
		f, title := &s.Files[file], list[from].title
		whole := roundUp(s.made.fileTF(occurrences, f.Body, title, f.Title))
		for _, p := range list[from:to] {
			tf := s.made.chunkTF(p.body, s.ChunkBody[p.chunk], p.heading, s.ChunkHeading[p.chunk], title, f.Title)
			out = append(out, bound{roundUp(tf), whole})
		}
		files++
		if title > 0 { // all chunks hold it
			first, end := s.chunksOf(file)
			chunks += end - first
		} else {
			chunks += to - from
		}
		from = to
	}
	return out, chunks, files
}
