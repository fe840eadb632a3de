// Package cache keeps values for a limited time in a SQLite file or a PostgreSQL database. The least
// recently used ones make room if all have too many bytes.
//
// A cache never fails its caller: without its database there are no values, and the logger gets one
// warning. Keys are hashes of what a value depends on, so that a value is found only while all of that
// is the same.
package cache

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"log/slog"
	"maps"
	"sync"
	"time"

	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// Defaults of [Options].
const (
	DefaultTTL      = time.Hour
	DefaultMaxBytes = 256 << 20
)

// Limits.
const (
	maxBody    = 1 << 20                // bytes of a value; a larger one is not kept
	maxPending = 256                    // uses that are not written yet
	patience   = 250 * time.Millisecond // for a lock of another process
	slowest    = time.Second            // of a change, and of all that a server does; then it is given up
	pause      = 30 * time.Second       // until a server that failed is asked again
)

// Options configure a [Cache]. The zero value is usable.
type Options struct {
	TTL      time.Duration    // a value is not returned after this time; 0: DefaultTTL
	MaxBytes int64            // of all values; 0: DefaultMaxBytes
	Keys     *seal.Keys       // encrypt values; nil: they are plain
	Logger   *slog.Logger     // gets a warning when the database cannot be used; may be nil
	Clock    func() time.Time // nil: time.Now
}

// Key names a value.
type Key [sha256.Size]byte

// Value is what is kept.
type Value struct {
	Key  Key
	Near Key       // names values that are alike; zero: none
	Run  string    // the run that made it
	Made time.Time // set by Put
	Body []byte
}

// Outcome says how a value was looked for.
type Outcome string

// The outcomes.
const (
	Hit     Outcome = "hit"     // by its key
	Similar Outcome = "similar" // by its near key
	Miss    Outcome = "miss"

	Found    Outcome = "found" // what a search found
	NotFound Outcome = "not found"
)

// Cache is a cache. It is safe for concurrent use, and several processes may use one place.
type Cache struct {
	place  Place
	o      Options
	sealer *seal.Sealer // nil without keys

	mu     sync.Mutex
	db     database  // nil before the first use
	off    bool      // the file cannot be used, or the cache is closed
	told   bool      // the logger got its warning
	failed time.Time // when the server last failed
	counts map[Outcome]int64
	used   map[Key]time.Time // uses that are not written
	added  int64             // bytes since the last prune
	pruned time.Time
}

// Open makes a cache at a place, which is opened, or made, when it is first used. The caller closes the
// cache.
func Open(p Place, o Options) *Cache {
	o.TTL, o.MaxBytes = cmp.Or(o.TTL, DefaultTTL), cmp.Or(o.MaxBytes, DefaultMaxBytes)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	c := &Cache{place: p, o: o, counts: map[Outcome]int64{}, used: map[Key]time.Time{}}
	if o.Keys != nil {
		c.sealer = seal.New(*o.Keys)
	}
	return c
}

// Key returns the key of a value that depends on these parts. With Options.Keys nobody without the
// current one can find out whether a value depends on a part that they guess.
func (c *Cache) Key(parts ...string) Key {
	h := c.hash()
	for _, p := range parts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p)))) // never fails
		_, _ = h.Write([]byte(p))
	}
	return Key(h.Sum(nil))
}

func (c *Cache) hash() hash.Hash {
	if c.o.Keys != nil && c.o.Keys.Key != nil {
		if secret, err := c.o.Keys.Key(c.o.Keys.Current); err == nil { // else no value can be encrypted
			return hmac.New(sha256.New, secret)
		}
	}
	return sha256.New()
}

// Get returns the value of a key.
func (c *Cache) Get(ctx context.Context, key Key) (v Value, ok bool) {
	found := c.find(ctx, byKey, key[:])
	if len(found) == 0 {
		return v, false
	}
	return found[0], true
}

// Near returns up to four values of a near key, the newest first.
func (c *Cache) Near(ctx context.Context, near Key) []Value {
	return c.find(ctx, byNear, near[:])
}

// find returns the values of a statement that are not too old and can be read.
func (c *Cache) find(ctx context.Context, statement string, arg any) (out []Value) {
	db := c.open(ctx)
	if db == nil {
		return nil
	}
	now := c.o.Clock()
	err := db.read(ctx, statement, []any{arg}, func() { out = nil }, func(scan func(...any) error) error {
		var v Value
		var key, near []byte
		var made int64
		if err := scan(&key, &near, &v.Run, &made, &v.Body); err != nil {
			return err
		}
		copy(v.Key[:], key)
		copy(v.Near[:], near)
		v.Made = time.UnixMicro(made).UTC()
		if age := now.Sub(v.Made); age >= 0 && age < c.o.TTL && c.reveal(&v) {
			out = append(out, v)
		}
		return nil
	})
	if c.fails(ctx, err) {
		return nil
	}
	return out
}

// reveal decrypts a value, and reports whether it can be read.
func (c *Cache) reveal(v *Value) bool {
	if c.sealer == nil {
		return len(v.Body) == 0 || v.Body[0] != seal.Mark
	}
	body, err := c.sealer.Open(place(v.Key), v.Body)
	v.Body = body
	return err == nil
}

// place is where a sealed value belongs.
func place(k Key) string { return "cache " + hex.EncodeToString(k[:]) }

// Count counts a look-up. A value that was used is kept longer.
func (c *Cache) Count(ctx context.Context, o Outcome, used Key) {
	c.mu.Lock()
	c.counts[o]++
	if used != (Key{}) {
		c.used[used] = c.o.Clock()
	}
	full := len(c.used) >= maxPending
	c.mu.Unlock()
	if full {
		c.write(ctx, func(statementFunc) error { return nil })
	}
}

// Put keeps a value in place of the one with its key.
func (c *Cache) Put(ctx context.Context, v Value) {
	body := v.Body
	if c.sealer != nil {
		var err error
		if body, err = c.sealer.Seal(place(v.Key), body); err != nil {
			c.fails(ctx, err)
			return
		}
	}
	if len(body) > maxBody || int64(len(body)) > c.o.MaxBytes {
		return
	}
	now := c.o.Clock().UnixMicro()
	var near []byte
	if v.Near != (Key{}) {
		near = v.Near[:]
	}
	c.write(ctx, func(do statementFunc) error {
		return do(insert, v.Key[:], near, v.Run, now, len(body)+overhead, body)
	})
	c.prune(ctx, int64(len(body)+overhead))
}

// Forget deletes the value that a run made.
func (c *Cache) Forget(ctx context.Context, run string) {
	c.write(ctx, func(do statementFunc) error { return do(deleteRun, run) })
}

// Close writes what was counted and closes the database.
func (c *Cache) Close() {
	ctx := context.Background()
	c.mu.Lock()
	pending, opened := len(c.counts)+len(c.used) > 0, c.db != nil
	c.mu.Unlock()
	if opened && pending {
		c.write(ctx, func(statementFunc) error { return nil })
	}
	c.shut()
}

// open returns the database; nil if it cannot be used.
func (c *Cache) open(ctx context.Context) database {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off || !c.failed.IsZero() && c.o.Clock().Sub(c.failed).Abs() < pause {
		return nil
	}
	if c.db != nil {
		return c.db
	}
	ctx = context.WithoutCancel(ctx)
	db, err := c.place.open(ctx, false)
	if err == nil && c.sealer != nil {
		if err = db.remove(ctx, deletePlain, []byte{seal.Mark}); err != nil {
			db.close()
		}
	}
	if err != nil {
		c.giveUp(ctx, err)
		return nil
	}
	c.db = db
	return db
}

// write changes the database, and adds what was counted since the last change.
func (c *Cache) write(ctx context.Context, change func(statementFunc) error) {
	db := c.open(ctx)
	if db == nil {
		return
	}
	c.mu.Lock()
	counts, used := maps.Clone(c.counts), maps.Clone(c.used)
	clear(c.counts)
	clear(c.used)
	c.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	c.fails(ctx, db.write(ctx, func(do statementFunc) error {
		if err := save(do, counts, used); err != nil {
			return err
		}
		return change(do)
	}))
}

// prune deletes what is too old or too much, once in a while.
func (c *Cache) prune(ctx context.Context, added int64) {
	now := c.o.Clock()
	c.mu.Lock()
	db := c.db
	c.added += added
	due := db != nil && (c.added > c.o.MaxBytes/16 || now.Sub(c.pruned).Abs() >= time.Minute)
	if due {
		c.added, c.pruned = 0, now
	}
	c.mu.Unlock()
	if due {
		ctx = context.WithoutCancel(ctx)
		limited, cancel := context.WithTimeout(ctx, slowest)
		defer cancel()
		c.fails(ctx, db.remove(limited, prune, now.Add(-c.o.TTL).UnixMicro(), now.UnixMicro(), c.o.MaxBytes-c.o.MaxBytes/16))
	}
}

// fails reports whether there is an error. A file that cannot be used is used no more, a server not for a while.
func (c *Cache) fails(ctx context.Context, err error) bool {
	passing := ctx.Err() != nil // the caller has left
	if c.place.Postgres == nil {
		passing = errors.Is(err, sqlite.ErrLocked) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	}
	if err == nil || passing {
		return err != nil
	}
	c.mu.Lock()
	c.giveUp(ctx, err)
	off := c.off
	c.mu.Unlock()
	if off {
		c.shut()
	}
	return true
}

// giveUp stops using the database, and says so once. The caller holds mu.
func (c *Cache) giveUp(ctx context.Context, err error) {
	silent := c.told || c.off
	c.failed, c.told = c.o.Clock(), true
	if c.place.Postgres == nil {
		c.off = true
	}
	switch {
	case silent:
	case c.off:
		c.o.Logger.WarnContext(ctx, "nothing is answered from the cache until the program starts again", "error", err)
	default:
		c.o.Logger.WarnContext(ctx, "nothing is answered from the cache while its database fails", "error", err)
	}
}

// shut closes the database for good.
func (c *Cache) shut() {
	c.mu.Lock()
	db := c.db
	c.db, c.off = nil, true
	c.mu.Unlock()
	if db != nil {
		db.close()
	}
}
