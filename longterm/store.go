package longterm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/llm"
)

// Errors of a store, for errors.Is.
var (
	ErrNotFound = errors.New("no such fact")
	ErrInvalid  = errors.New("invalid fact")
)

// Limits of a store.
const (
	MaxDepth = 16      // names of a namespace
	MaxName  = 256     // bytes of a name or a key
	MaxValue = 1 << 20 // bytes of a value as JSON
)

// Namespace is the place of a fact: names from the widest to the narrowest.
type Namespace []string

// separator stands between the names of a stored namespace; names must not contain it.
const separator = "\x1f"

// Path is a namespace as one text, as a [Table] stores it. The path of a namespace is a
// prefix of the paths of all namespaces below it.
func (n Namespace) Path() string {
	if len(n) == 0 {
		return ""
	}
	return strings.Join(n, separator) + separator
}

// ParsePath is the inverse of [Namespace.Path].
func ParsePath(path string) Namespace {
	if path == "" {
		return Namespace{}
	}
	return strings.Split(strings.TrimSuffix(path, separator), separator)
}

func (n Namespace) check() error {
	if len(n) > MaxDepth {
		return fmt.Errorf("%w: a namespace of %d names; the most are %d", ErrInvalid, len(n), MaxDepth)
	}
	for _, name := range n {
		if err := checkName("name of a namespace", name); err != nil {
			return err
		}
	}
	return nil
}

func checkName(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: a %s is empty", ErrInvalid, what)
	case len(name) > MaxName:
		return fmt.Errorf("%w: a %s has %d bytes; the most are %d", ErrInvalid, what, len(name), MaxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: the %s %q is not plain text", ErrInvalid, what, name)
	}
	return nil
}

// Fact is a stored value.
type Fact struct {
	Namespace Namespace
	Key       string
	Value     json.RawMessage
	Created   time.Time // UTC, like the others, to the microsecond
	Updated   time.Time
	Expires   time.Time // zero: never
	Score     float64   // of a search: higher is better; 0 otherwise
}

// Decode stores the value in to, as [json.Unmarshal] does.
func (f Fact) Decode(to any) error { return json.Unmarshal(f.Value, to) }

// Row is a fact as a [Table] keeps it.
type Row struct {
	Fact
	Model  string // of the vector; empty without one
	Vector []float32
	Words  int      // length of the text
	Terms  []string // by which Find finds the row; not set by readers
}

// Totals are sums over rows.
type Totals struct{ Rows, Words int }

// Table keeps rows. Implementations are safe for concurrent use by any number of processes.
// Put, Get and Delete need not know about expiry.
type Table interface {
	// Put adds or replaces the row of a namespace and key. The row that is replaced keeps
	// its Created.
	Put(ctx context.Context, r Row) error
	// Get returns a row, or an error that matches [ErrNotFound].
	Get(ctx context.Context, path, key string) (Row, error)
	// Delete removes a row. One that is not there is no error.
	Delete(ctx context.Context, path, key string) error
	// Scan calls visit with the rows whose path begins with prefix and that have not expired at now, by path and
	// key in byte order. It holds one row at a time and returns the first error of visit.
	Scan(ctx context.Context, prefix string, now time.Time, visit func(Row) error) error
	// Find returns the rows of Scan that have one of the terms, in the same order, and the totals of all rows
	// of Scan. Of more than limit it returns those with the rarest terms, and of these the shortest. It reads no
	// other rows.
	Find(ctx context.Context, prefix string, terms []string, now time.Time, limit int) ([]Row, Totals, error)
	// Sweep deletes the rows that expired before now and returns how many those were.
	Sweep(ctx context.Context, now time.Time) (int, error)
	// Close releases what Open took.
	Close() error
}

// Options configure a [Store]. The zero value searches by words.
type Options struct {
	Embedder llm.Embedder     // makes vectors of values and queries; nil: none
	Clock    func() time.Time // nil: time.Now
}

// Store is a store of facts. It is safe for concurrent use.
type Store struct {
	table Table
	o     Options
}

// New returns a store over a table, which the store closes.
func New(t Table, o Options) *Store {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return &Store{t, o}
}

// Close closes the table.
func (s *Store) Close() error { return s.table.Close() }

func (s *Store) now() time.Time { return s.o.Clock().UTC().Truncate(time.Microsecond) }

// PutOption changes how a fact is stored.
type PutOption func(*Row, time.Time)

// TTL lets a fact expire after d, which is above 0.
func TTL(d time.Duration) PutOption {
	return func(r *Row, now time.Time) { r.Expires = now.Add(d).Truncate(time.Microsecond) }
}

// Put stores a value, which is anything that encoding/json can write, in place of an earlier one. With an
// embedder the text of the value is embedded; if that fails, nothing is stored. Errors match [ErrInvalid] for
// names and values that cannot be stored.
func (s *Store) Put(ctx context.Context, n Namespace, key string, value any, options ...PutOption) error {
	if len(n) == 0 {
		return fmt.Errorf("%w: the namespace is empty", ErrInvalid)
	}
	if err := cmp.Or(n.check(), checkName("key", key)); err != nil {
		return err
	}
	written, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if len(written) > MaxValue {
		return fmt.Errorf("%w: a value of %d bytes; the most are %d", ErrInvalid, len(written), MaxValue)
	}
	now := s.now()
	r := Row{Fact: Fact{Namespace: slices.Clone(n), Key: key, Value: written, Created: now, Updated: now}}
	for _, option := range options {
		option(&r, now)
	}
	if !r.Expires.IsZero() && !r.Expires.After(now) {
		return fmt.Errorf("%w: the time to live is not above 0", ErrInvalid)
	}
	r.Words, r.Terms = indexed(content(r.Fact))
	if s.o.Embedder != nil {
		if r.Vector, err = s.embed(ctx, content(r.Fact), llm.Passage); err != nil {
			return err
		}
		r.Model = s.o.Embedder.Model()
	}
	return s.table.Put(ctx, r)
}

// Get returns a fact, or an error that matches [ErrNotFound].
func (s *Store) Get(ctx context.Context, n Namespace, key string) (Fact, error) {
	r, err := s.table.Get(ctx, n.Path(), key)
	if err == nil && s.expired(r) {
		err = ErrNotFound
	}
	if err != nil {
		return Fact{}, fmt.Errorf("read the fact %s of %s: %w", key, strings.Join(n, "/"), err)
	}
	return r.Fact, nil
}

// Delete removes a fact. One that is not there is no error.
func (s *Store) Delete(ctx context.Context, n Namespace, key string) error {
	return s.table.Delete(ctx, n.Path(), key)
}

// Sweep deletes the facts that have expired and returns how many those were.
func (s *Store) Sweep(ctx context.Context) (int, error) { return s.table.Sweep(ctx, s.now()) }

func (s *Store) expired(r Row) bool { return !r.Expires.IsZero() && !r.Expires.After(s.now()) }

func (s *Store) embed(ctx context.Context, text string, p llm.Purpose) ([]float32, error) {
	out, err := s.o.Embedder.Embed(ctx, []string{cmp.Or(text, " ")}, p)
	if err != nil {
		return nil, fmt.Errorf("embed a fact: %w", err)
	}
	if len(out.Vectors) != 1 {
		return nil, fmt.Errorf("embed a fact: %s gave %d vectors for one text", s.o.Embedder.Model(), len(out.Vectors))
	}
	return out.Vectors[0], nil
}
