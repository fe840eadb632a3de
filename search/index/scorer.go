package index

// lengths say how much occurrences in a field count by its length: they are
// divided by base + slope·length, which is 1 for a field of average length.
type lengths struct {
	base, slope float64
	empty       bool // no text has this field
}

func newLengths(b float64, terms, texts int) lengths {
	if terms == 0 {
		return lengths{base: 1, empty: true}
	}
	return lengths{base: 1 - b, slope: b * float64(texts) / float64(terms)}
}

// of is the divisor. The conversion keeps compilers from fusing multiplication
// and addition, which rounds otherwise.
func (l lengths) of(length uint32) float64 { return l.base + float64(l.slope*float64(length)) }

// scorer is a [Ranking] over texts of some average lengths.
type scorer struct {
	ranking              Ranking
	body, heading, title lengths // of chunks
	fileBody, fileTitle  lengths // of documents

	shares *shares // of plain postings
}

func newScorer(r Ranking, t totals) scorer {
	return scorer{
		ranking:   r,
		body:      newLengths(r.B, t.body, t.chunks),
		heading:   newLengths(r.B, t.heading, t.chunks),
		title:     newLengths(r.B, t.chunkTitles, t.chunks),
		fileBody:  newLengths(r.B, t.body, t.files),
		fileTitle: newLengths(r.B, t.titles, t.files),
		shares:    new(shares),
	}
}

// norm is occurrences brought to a text of average length.
func norm(tf uint32, l lengths, length uint32) float64 {
	if tf == 0 {
		return 0
	}
	return float64(tf) / l.of(length)
}

// chunkTF is the tf of a chunk: see [Ranking].
func (s *scorer) chunkTF(body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	return norm(body, s.body, bodyLength) +
		float64(s.ranking.Heading*norm(heading, s.heading, headingLength)) +
		float64(s.ranking.Title*norm(title, s.title, titleLength))
}

// fileTF is the tf of a document.
func (s *scorer) fileTF(body, bodyLength, title, titleLength uint32) float64 {
	return norm(body, s.fileBody, bodyLength) + float64(s.ranking.Title*norm(title, s.fileTitle, titleLength))
}

// chunk, inText and file are tf / (tf + K1), of which K1 + 1 times is what a
// term counts; inText is that of a term that is in the text only.
func (s *scorer) chunk(body, bodyLength, heading, headingLength, title, titleLength uint32) float64 {
	if heading == 0 && title == 0 {
		return s.inText(body, bodyLength)
	}
	return saturated(s.chunkTF(body, bodyLength, heading, headingLength, title, titleLength), s.ranking.K1)
}

func (s *scorer) inText(body, length uint32) float64 {
	return inText(body, length, s.ranking.K1, s.body)
}

func inText(body, length uint32, k1 float64, l lengths) float64 {
	tf := float64(body)
	if tf == 0 { // with K1 = 0 it were 0/0
		return 0
	}
	return tf / (tf + float64(k1*l.of(length)))
}

func (s *scorer) file(body, bodyLength, title, titleLength uint32) float64 {
	if title == 0 {
		return inText(body, bodyLength, s.ranking.K1, s.fileBody)
	}
	return saturated(s.fileTF(body, bodyLength, title, titleLength), s.ranking.K1)
}

// saturated turns occurrences into a share of the most they can count for.
func saturated(tf, k1 float64) float64 {
	if tf == 0 {
		return 0
	}
	if tf > maxTF {
		return 1
	}
	return tf / (tf + k1)
}

// maxTF is where counting ends: more occurrences count the same to the last bit.
const maxTF = 1e30

// chunkImpact is what a term of weight 1 gives a chunk by itself, fileImpact what
// it gives all chunks of a document that hold a term. To a document's only chunk
// both are given in one. Conversions keep compilers from fusing.
func (s *scorer) chunkImpact(t *term, in *posting, body, heading, title, titleLength uint32) float64 {
	return float64(t.chunkGain * s.chunk(in.body, body, in.heading, heading, title, titleLength))
}

func (s *scorer) fileImpact(t *term, body, bodyLength, title, titleLength uint32) float64 {
	return float64(s.ranking.Document * float64(t.fileGain*s.file(body, bodyLength, title, titleLength)))
}

// titledImpact is the sum of both for a document of one chunk that holds a term in its
// text and its title, to the last bit: what it has not adds 0.
func (s *scorer) titledImpact(t *term, in *posting, body, title uint32) float64 {
	r := &s.ranking
	chunk := norm(in.body, s.body, body) + float64(r.Title*norm(in.title, s.title, title))
	file := norm(in.body, s.fileBody, body) + float64(r.Title*norm(in.title, s.fileTitle, title))
	return float64(t.chunkGain*saturated(chunk, r.K1)) + float64(r.Document*float64(t.fileGain*saturated(file, r.K1)))
}
