package index

import (
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"example.com/ragflow/internal/sqlite"
)

// codebooks are those of a database. It is safe for concurrent use.
type codebooks struct {
	mu      sync.Mutex
	byID    map[int64]*codebook
	newest  *codebook // what new texts are packed with; nil: there is none
	known   bool      // that newest is it
	settled bool      // no other is tried by this process

	chunkers map[int64]string // by row of cutters, which never change: see cutBy
}

// get returns a codebook by its row.
func (c *codebooks) get(tx *sqlite.Tx, id int64) (*codebook, error) {
	c.mu.Lock()
	b := c.byID[id]
	c.mu.Unlock()
	if b != nil {
		return b, nil
	}
	var data []byte
	err := tx.QueryRow(`SELECT words FROM codebooks WHERE id = ?`, id).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: there is no codebook %d", errPacked, id)
	}
	if err != nil {
		return nil, err
	}
	if b, err = decodeCodebook(data); err != nil {
		return nil, err
	}
	b.id.Store(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[int64]*codebook{}
	}
	c.byID[id] = b
	return b, nil
}

// cutBy returns the chunker that a row of cutters names.
func (c *codebooks) cutBy(tx *sqlite.Tx, id int64) (string, error) {
	c.mu.Lock()
	by, known := c.chunkers[id]
	c.mu.Unlock()
	if known {
		return by, nil
	}
	if err := tx.QueryRow(`SELECT cut_by FROM cutters WHERE id = ?`, id).Scan(&by); err != nil {
		return "", fmt.Errorf("what cut a file, row %d: %w", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.chunkers == nil {
		c.chunkers = map[int64]string{}
	}
	c.chunkers[id] = by
	return by, nil
}

// text returns the text of a row, as its column and that of its codebook hold it.
func (c *codebooks) text(tx *sqlite.Tx, book int64, column any) (string, error) {
	switch v := column.(type) {
	case string:
		if book == 0 {
			return v, nil
		}
	case []byte:
		b, err := c.get(tx, book)
		if err != nil {
			return "", err
		}
		return b.unpack(v)
	}
	return "", fmt.Errorf("%w: %T of codebook %d", errPacked, column, book)
}

// choose returns the codebook to pack texts with: the newest of the database, or
// one made of these where that packs them much better; nil for none. The one that
// is made is the newest from now on, and has no id before what it packs is saved.
func (c *codebooks) choose(read func(func(*sqlite.Tx) error) error, texts []string) (*codebook, error) {
	size := 0
	for _, s := range texts {
		size += len(s)
	}
	c.mu.Lock()
	newest, known, settled := c.newest, c.known, c.settled
	c.mu.Unlock()
	if !known {
		if err := read(func(tx *sqlite.Tx) error {
			var id, n int64
			err := tx.QueryRow(`SELECT coalesce(max(id), 0), count(*) FROM codebooks`).Scan(&id, &n)
			settled = n >= maxCodebooks
			if err == nil && id > 0 {
				newest, err = c.get(tx, id)
			}
			return err
		}); err != nil {
			return nil, err
		}
		c.mu.Lock()
		c.newest, c.known, c.settled = newest, true, settled
		c.mu.Unlock()
	}
	if settled || size < trainBytes {
		return newest, nil
	}
	was := 1.0
	if newest != nil {
		was = newest.ratio(texts)
	}
	if was <= poorRatio {
		return newest, nil
	}
	made := trainCodebook(texts)
	if made == nil || made.ratio(texts) > was*(1-1.0/betterBy) {
		c.mu.Lock()
		c.settled = true
		c.mu.Unlock()
		return newest, nil
	}
	c.mu.Lock()
	c.newest = made
	c.mu.Unlock()
	return made, nil
}

// save returns the row of a codebook, which it makes where there is none; 0 for none.
func (b *codebook) save(tx *sqlite.Tx) (id int64, err error) {
	if b == nil {
		return 0, nil
	}
	if id = b.id.Load(); id == 0 {
		err = tx.QueryRow(`INSERT INTO codebooks(words) VALUES(?) RETURNING id`, b.encode()).Scan(&id)
	}
	return id, err
}

// saved notes the row of a codebook that choose made.
func (c *codebooks) saved(b *codebook, id int64) {
	if b == nil || !b.id.CompareAndSwap(0, id) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID == nil {
		c.byID = map[int64]*codebook{}
	}
	c.byID[id] = b
	c.settled = len(c.byID) >= maxCodebooks
}

// sampleBytes is how much text ratio packs.
const sampleBytes = 64 << 10

// ratio is the part of their bytes that texts are packed to, told by some of
// them.
func (b *codebook) ratio(texts []string) float64 {
	var packed []byte
	before, after := 0, 0
	for i := range texts {
		s := texts[i*7919%len(texts)] // from here and there
		s = s[:min(len(s), 4<<10)]
		packed = b.pack(packed[:0], s)
		before, after = before+len(s), after+len(packed)
		if before >= sampleBytes {
			break
		}
	}
	return float64(after) / float64(max(1, before))
}
