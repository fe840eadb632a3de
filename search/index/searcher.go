package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// LegLexical is the name of the leg that BM25 gives its hits.
const LegLexical = "lexical"

// Searcher searches the union of collections as it was at one moment. It is
// safe for concurrent use, keeps no file open and needs no closing.
type Searcher struct {
	db     *DB
	views  []*view // by root
	parts  []part  // of all views, in their order
	all    totals
	scorer scorer

	held     []string      // languages besides English that chunks are in, ascending
	analyzer text.Analyzer // see Analyzer

	spellings *memo.Cache[spelled, []SimilarTerm] // by word; nil: none are kept
	chunks    *memo.Cache[string, *state.Chunk]   // by the id asked for; see Chunks
}

// keptSpellings is how many words that no chunk holds a searcher remembers, with
// what is searched for instead: the same are asked for again and again.
const keptSpellings = 1024

// A searcher remembers chunks that take keptChunks bytes of memory, at least, and whose texts
// have up to mostKept: the steps of an answer, and the turns of a conversation, read the
// same ones.
const (
	keptChunks = 4 << 20
	mostKept   = 8 << 10

	chunkStruct = 512 // bytes that a chunk takes besides its strings, about
)

// chunkBytes is about how many bytes of memory a chunk takes.
func chunkBytes(c *state.Chunk) int {
	return chunkStruct + len(c.ID) + len(c.Hash) + len(c.Text) + len(c.Source) + len(c.Title)
}

// Searcher returns a searcher over what the index holds of roots now; the order
// of roots does not matter. Where a root was never indexed the error is
// [ErrNotIndexed].
func (db *DB) Searcher(ctx context.Context, roots ...string) (*Searcher, error) {
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	if err := db.publishDue(ctx, roots); err != nil {
		return nil, err
	}
	views, err := db.views(ctx, roots)
	if err != nil {
		return nil, err
	}
	s := &Searcher{db: db, views: views}
	for _, v := range views {
		s.parts = append(s.parts, v.parts...)
		s.all.add(v.all)
	}
	s.scorer = newScorer(db.ranking, s.all)
	s.spellings = memo.New[spelled, []SimilarTerm](keptSpellings)
	s.chunks = memo.NewWeighed[string](keptChunks, chunkBytes)
	s.bind()
	return s, nil
}

// publishDue publishes what is worth it, for processes to come. The search works
// without: it does not wait for who is just at it, nor fail where it fails.
func (db *DB) publishDue(ctx context.Context, roots []string) error {
	if db.ReadOnly() || !db.publishing.TryLock() {
		return nil
	}
	defer db.publishing.Unlock()
	for _, root := range roots {
		err := db.publish(ctx, root, nil, nil)
		if errors.Is(err, ErrNotIndexed) || context.Cause(ctx) != nil {
			return fmt.Errorf("search %q: %w", root, err)
		}
		if err != nil {
			db.log.WarnContext(ctx, "segment cannot be saved", "root", root, "error", err)
		}
	}
	return nil
}

// Docs returns the number of chunks, the N of idf.
func (s *Searcher) Docs() int { return s.all.chunks }

// Files returns the number of documents that have chunks.
func (s *Searcher) Files() int { return s.all.files }

// Documents returns the first documents by root and path, at most so many, as they are
// now, and how many the searcher has.
func (s *Searcher) Documents(ctx context.Context, most int) (first []state.Document, all int, err error) {
	err = s.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		first = nil
		for _, v := range s.views {
			if err := each(tx, func(r row) error {
				var d state.Document
				err := r.Scan(&d.Source, &d.Title)
				first = append(first, d)
				return err
			}, `SELECT source, title FROM files WHERE collection = ? AND chunks > 0 ORDER BY source LIMIT ?`, v.manifest.collection, max(0, most-len(first))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, fmt.Errorf("list documents: %w", err)
	}
	return first, s.all.files, nil
}

// DocFreq returns how many chunks hold an analyzed term in text, heading path
// or title.
func (s *Searcher) DocFreq(term string) int {
	df := 0
	for _, p := range s.parts {
		if e, ok := p.find(term); ok {
			df += e.chunkDF
		}
	}
	chunks, _ := s.deadDF(term)
	return df - chunks
}

// deadDF returns how many chunks and files that hold a term do not count any more.
func (s *Searcher) deadDF(term string) (chunks, files int) {
	for _, v := range s.views {
		if v.minus == nil {
			continue
		}
		if e, ok := v.minus.find(term); ok {
			chunks += e.chunkDF
			files += e.fileDF
		}
	}
	return chunks, files
}

// better orders candidates, best first.
func (s *Searcher) better(a, b candidate) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	}
	return s.compare(a, b)
}

// compare orders candidates of one score: by root, source and place.
func (s *Searcher) compare(a, b candidate) int {
	if a.part == b.part {
		return cmp.Compare(a.chunk, b.chunk)
	}
	p, q := &s.parts[a.part], &s.parts[b.part]
	if p.root != q.root {
		return cmp.Compare(a.part, b.part)
	}
	return strings.Compare(p.source(a.chunk), q.source(b.chunk))
}

// IDF returns the weight of an analyzed term: ln((N−df+0.5)/(df+0.5) + 1). It is
// greatest for terms that no chunk holds, and above 0 for all.
func (s *Searcher) IDF(term string) float64 { return idf(s.all.chunks, s.DocFreq(term)) }

// Analyzer returns what makes terms of any text: those that the documents have
// of its words. See [text.Polyglot].
func (s *Searcher) Analyzer() text.Analyzer { return s.analyzer }

// bind finds out which languages the parts hold.
func (s *Searcher) bind() {
	s.analyzer = s.db.analyzer
	p, ok := s.db.analyzer.(text.Polyglot)
	if !ok {
		return
	}
	for _, lang := range p.Codes() {
		if s.DocFreq(languageMark+lang) > 0 {
			s.held = append(s.held, lang)
		}
	}
	s.analyzer = p.Bound(s.held, s.DocFreq)
}

// fewSpeak is the share of chunks below which a language is taken for a slip: a list of
// names, a quotation.
const fewSpeak = 0.005

// Speaks reports whether chunks are in a language, as far as the index tells: English and
// Vietnamese are one to it.
func (s *Searcher) Speaks(language string) bool {
	if !slices.Contains(s.held, language) {
		others := 0
		for _, lang := range s.held {
			others += s.DocFreq(languageMark + lang)
		}
		return (language == "en" || language == "vi") && others < s.all.chunks
	}
	return float64(s.DocFreq(languageMark+language)) >= fewSpeak*float64(s.all.chunks)
}

// Search returns the k best chunks for q, best first, all of a score above 0.
// The words of q.Text weigh 1, those of boosts their weight; of several weights
// the greatest counts. Boosts whose weight is not above 0 and finite are left
// out. A text without terms finds nothing. What is searched for instead of words
// that no chunk holds, [Searcher.Respelled] tells.
func (s *Searcher) Search(ctx context.Context, q state.Query, k int) (hits []state.Hit, err error) {
	if k = min(k, s.all.chunks); k <= 0 {
		return nil, context.Cause(ctx)
	}
	found := newTop(k, s.better)
	if err := s.best(ctx, s.queryTerms(q), found); err != nil {
		return nil, err
	}
	return s.hits(found.ranked(), LegLexical), nil
}

// hits tells what a leg found.
func (s *Searcher) hits(found []candidate, leg string) []state.Hit {
	if len(found) == 0 {
		return nil
	}
	hits, legs := make([]state.Hit, len(found)), make([]state.Leg, len(found))
	for i, c := range found {
		hit, why := &hits[i], &legs[i]
		hit.Chunk = s.publicID(c)
		why.Name, why.Rank, why.Score = leg, i+1, c.score
		hit.Score, hit.Legs = c.score, legs[i:i+1:i+1]
	}
	return hits
}

// publicID returns the id by which a chunk is known outside. Two roots may hold
// a file of the same name with a chunk at the same place, which has the same
// id; that of the later root gets a mark of its root behind it.
func (s *Searcher) publicID(c candidate) string {
	p := &s.parts[c.part]
	if s.doubled(c) {
		return p.id(c.chunk) + "@" + rootMark(p.root)
	}
	return p.id(c.chunk)
}

// doubled reports whether a root before that of a chunk has one of the same id.
func (s *Searcher) doubled(c candidate) bool {
	root, id := s.parts[c.part].root, ""
	for i := range s.parts[:c.part] {
		p := &s.parts[i]
		if p.root == root {
			break
		}
		if id == "" {
			id = s.parts[c.part].id(c.chunk)
		}
		if at, ok := p.place(id); ok && p.live(at) {
			return true
		}
	}
	return false
}

func rootMark(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:4])
}
