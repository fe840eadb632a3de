package index

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
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
	terms     *termCache                          // nil: none are kept, and all parts are searched as large ones
	chunks    *memo.Cache[string, *state.Chunk]   // by the id asked for; see Chunks
}

// keptSpellings is how many words that no chunk holds a searcher remembers, with
// what is searched for instead: the same are asked for again and again.
const keptSpellings = 1024

// A searcher remembers at least keptChunks chunks, whose texts have up to mostKept
// bytes: the steps of an answer, and the turns of a conversation, read the same ones.
const (
	keptChunks = 512
	mostKept   = 8 << 10
)

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
	s.terms = newTermCache(len(s.parts), keptImpacts)
	s.spellings = memo.New[spelled, []SimilarTerm](keptSpellings)
	s.chunks = memo.New[string, *state.Chunk](keptChunks)
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
	if t := s.terms.find(term); t != nil {
		return t.chunkDF
	}
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
func (s *Searcher) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	if k = min(k, s.all.chunks); k <= 0 {
		return nil, context.Cause(ctx)
	}
	found := borrowTop(k, s.better)
	defer found.giveBack()
	terms := s.queryTerms(q)
	if err := s.best(ctx, terms, found); err != nil {
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
	part, l := -1, (*layout)(nil) // of a small part of the first root, whose ids are known outside as they are
	for i, c := range found {
		if c.part != part {
			part, l = c.part, nil
			if s.dense(part) && s.parts[part].root == s.parts[0].root {
				l = s.layoutOf(part)
			}
		}
		hit, why := &hits[i], &legs[i]
		if l != nil {
			hit.Chunk = l.id(s.parts[part].segment, c.chunk)
		} else {
			hit.Chunk = s.publicID(c)
		}
		why.Name, why.Rank, why.Score = leg, i+1, c.score
		hit.Score, hit.Legs = c.score, legs[i:i+1:i+1]
	}
	return hits
}

// publicID returns the id by which a chunk is known outside. Two roots may hold
// a file of the same name with a chunk at the same place, which has the same
// id; that of the later root gets a mark of its root behind it.
func (s *Searcher) publicID(c candidate) string {
	if s.doubled(c) {
		return s.rawID(c) + "@" + rootMark(s.parts[c.part].root)
	}
	return s.rawID(c)
}

// rawID is the id of a chunk, of small parts without a copy.
func (s *Searcher) rawID(c candidate) string {
	p := &s.parts[c.part]
	if !s.dense(c.part) {
		return p.id(c.chunk)
	}
	return s.layoutOf(c.part).id(p.segment, c.chunk)
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

// Chunks returns chunks by id, in the order asked for. Left out are ids that the
// searcher does not know, and chunks that changed or went since it was made. What
// they hold is shared and not to be written to.
func (s *Searcher) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	found, current, err := s.chunksOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	out := make([]state.Chunk, 0, len(ids))
	for _, id := range ids {
		if c, ok := found[id]; ok {
			out = append(out, *c)
			if current && len(c.Text) <= mostKept {
				s.chunks.Get(id, func() *state.Chunk { return c })
			}
		}
	}
	return out, nil
}

// chunksOf reads chunks by the ids asked for, and tells whether the index is as it was when
// the searcher was made. What is more than one statement reads, two connections read side
// by side.
func (s *Searcher) chunksOf(ctx context.Context, ids []string) (found map[string]*state.Chunk, current bool, err error) {
	if len(ids) <= idsAtOnce || runtime.GOMAXPROCS(0) == 1 {
		return s.readChunks(ctx, ids)
	}
	known := 0
	for _, id := range ids {
		if _, ok := s.chunks.Find(id); ok {
			known++
		}
	}
	if len(ids)-known <= idsAtOnce {
		return s.readChunks(ctx, ids)
	}
	var (
		wg     sync.WaitGroup
		others map[string]*state.Chunk
		still  bool
		fault  error
	)
	wg.Go(func() { others, still, fault = s.readChunks(ctx, ids[len(ids)/2:]) })
	found, current, err = s.readChunks(ctx, ids[:len(ids)/2])
	wg.Wait()
	maps.Copy(found, others)
	return found, current && still, cmp.Or(err, fault)
}

func (s *Searcher) readChunks(ctx context.Context, ids []string) (found map[string]*state.Chunk, current bool, err error) {
	found = make(map[string]*state.Chunk, len(ids))
	if s.recall(ids, found); len(s.views) == 1 && len(ids)-len(found) <= idsAtOnce { // as most often
		if err := s.db.sql.ReadOnce(ctx, func(tx *sqlite.Tx) (err error) {
			if len(found) == len(ids) {
				current, err = s.current(tx)
			} else {
				current, err = s.views[0].read(tx, &s.db.books, ids, found)
			}
			return err
		}); err != nil || current {
			return found, current, err
		}
	}
	err = s.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		clear(found)
		if current, err = s.current(tx); err != nil {
			return err
		}
		if current {
			s.recall(ids, found)
		}
		for _, v := range s.views {
			if _, err := v.read(tx, &s.db.books, ids, found); err != nil {
				return err
			}
		}
		return nil
	})
	return found, current, err
}

// current reports whether the index is as it was when the searcher was made, so
// that the chunks it remembers are those that the tables hold.
func (s *Searcher) current(tx *sqlite.Tx) (bool, error) {
	for _, v := range s.views {
		var generation int64
		err := tx.QueryRow(`SELECT generation FROM collections WHERE id = ?`, v.manifest.collection).Scan(&generation)
		if errors.Is(err, sql.ErrNoRows) || err == nil && generation != v.manifest.generation {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// recall puts the chunks that are remembered into found.
func (s *Searcher) recall(ids []string, found map[string]*state.Chunk) {
	for _, id := range ids {
		if c, ok := s.chunks.Find(id); ok {
			found[id] = c
		}
	}
}

// read reads, of the ids that no view before held, those that this one holds, and tells
// whether it saw that the collection is as it was; where it reads none it sees nothing.
func (v *view) read(tx *sqlite.Tx, books *codebooks, ids []string, found map[string]*state.Chunk) (current bool, err error) {
	type asked struct{ bare, id string }
	var list []asked // by the id in this collection
	for _, id := range ids {
		if _, ok := found[id]; ok {
			continue
		}
		bare, mark, marked := strings.Cut(id, "@")
		if !marked || rootMark(v.root) == mark {
			if list == nil {
				list = make([]asked, 0, len(ids)-len(found))
			}
			list = append(list, asked{bare, id})
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	slices.SortFunc(list, func(a, b asked) int { return strings.Compare(a.bare, b.bare) })
	wanted := make([]string, 0, len(list))
	for i, a := range list {
		if i == 0 || a.bare != list[i-1].bare {
			wanted = append(wanted, a.bare)
		}
	}
	chunks, generation, err := books.chunksByID(tx, v.manifest.collection, v.root, wanted, v.maxRev)
	for _, c := range chunks {
		bare := c.ID
		i, _ := slices.BinarySearchFunc(list, bare, func(a asked, bare string) int { return strings.Compare(a.bare, bare) })
		for ; i < len(list) && list[i].bare == bare; i++ {
			if c.ID != list[i].id { // as another root's chunk is called, too
				renamed := *c
				c = &renamed
				c.ID = list[i].id
			}
			found[c.ID] = c
		}
	}
	return len(chunks) > 0 && generation == v.manifest.generation, err
}
