package index

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// DefaultPassageTokens is where a passage is cut before it is embedded. Most
// small models read 512 tokens of their own, which are shorter than ours.
const DefaultPassageTokens = 400

// Embedder says what makes the vectors of a dense leg. Two that differ make
// vectors that must not be compared, so a collection has one at a time. The
// provider is no part of it: one model gives the same vectors everywhere.
type Embedder struct {
	Model     string // see [ModelName]
	Dimension int    // numbers in a vector; 0: not known yet, any is right
	Prefix    string // stands before each passage, as "passage: " for models that want it
	Tokens    int    // of a passage that are embedded; 0: DefaultPassageTokens
}

// ModelName makes the name of a model independent of who serves it: in lower case,
// of a file its name without folder and ending, and without the tag "latest". The
// publisher stays, for models of two publishers are different models; only "openai/",
// which routers put before the names of OpenAI's own models, goes.
func ModelName(name string) string {
	name = strings.ToLower(strings.TrimSpace(strings.ReplaceAll(name, `\`, "/")))
	if strings.HasSuffix(name, ".gguf") || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") {
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	name = strings.TrimPrefix(name, "openai/")
	return strings.TrimSuffix(strings.TrimSuffix(name, ":latest"), ".gguf")
}

// String names the embedder for people.
func (e Embedder) String() string {
	var with []string
	if e.Dimension > 0 {
		with = append(with, strconv.Itoa(e.Dimension)+" dimensions")
	}
	if e.Prefix != "" {
		with = append(with, fmt.Sprintf("prefix %q", e.Prefix))
	}
	if e.Tokens > 0 && e.Tokens != DefaultPassageTokens {
		with = append(with, strconv.Itoa(e.Tokens)+" tokens a passage")
	}
	if len(with) == 0 {
		return e.Model
	}
	return e.Model + " (" + strings.Join(with, ", ") + ")"
}

func (e Embedder) withDefaults() (Embedder, error) {
	e.Model = ModelName(e.Model)
	if e.Tokens == 0 {
		e.Tokens = DefaultPassageTokens
	}
	switch {
	case e.Model == "":
		return e, errors.New("an embedder without a model")
	case e.Dimension < 0 || e.Dimension > maxDimension:
		return e, fmt.Errorf("embedder %s: the dimension is not within 0 and %d", e.Model, maxDimension)
	case e.Tokens < 0:
		return e, fmt.Errorf("embedder %s: %d tokens a passage", e.Model, e.Tokens)
	}
	return e, nil
}

// maxDimension bounds vectors, so that damage does not ask for all memory.
const maxDimension = 1 << 16

// fits reports whether vectors that stored made can be compared with those of e.
func (e Embedder) fits(stored Embedder) bool {
	if e.Dimension == 0 {
		e.Dimension = stored.Dimension
	}
	return e == stored
}

// ErrEmbedderChanged tells that a collection's vectors were made by another
// embedder than the one given. The error is an [*EmbedderError].
var ErrEmbedderChanged = errors.New("made by another embedder")

// EmbedderError names both embedders. It matches [ErrEmbedderChanged].
type EmbedderError struct {
	Root   string   // of the collection
	Stored Embedder // made its vectors
	Given  Embedder // is to be used now
}

// Error names both, and the command to run.
func (e *EmbedderError) Error() string {
	return fmt.Sprintf("the vectors of %s were made by %s, but %s is configured; make them anew with: ragflow index --rebuild",
		e.Root, e.Stored, e.Given)
}

// Is matches ErrEmbedderChanged.
func (*EmbedderError) Is(target error) bool { return target == ErrEmbedderChanged }

// DimensionError tells that a model gave vectors of another length than before.
type DimensionError struct {
	Model     string
	Got, Want int
}

// Error tells both lengths.
func (e *DimensionError) Error() string {
	return fmt.Sprintf("%s gave a vector of %d dimensions instead of %d", e.Model, e.Got, e.Want)
}

// Passage is what is embedded of a chunk: title and headings, then its text,
// without the prefix and not yet cut.
func Passage(c state.Chunk) string {
	path := c.Headings
	if c.Title != "" && (len(path) == 0 || path[0] != c.Title) {
		path = append([]string{c.Title}, path...)
	}
	if len(path) == 0 {
		return c.Text
	}
	return strings.Join(path, " › ") + "\n" + c.Text
}

// passage is what is embedded of a chunk, in the form of e.
func (e Embedder) passage(c state.Chunk) string {
	p := strings.ToValidUTF8(Passage(c), "\uFFFD")
	if len(p) > e.Tokens { // a token has at least one byte; to count takes time
		p = text.Trim(p, e.Tokens)
	}
	return e.Prefix + p
}

// key names the text that is embedded of a chunk, within an embedder.
type key [sha256.Size]byte

// passageKey is made of all that [Passage] is made of, the text being given by
// its hash.
func passageKey(title string, headings []byte, hash string) key {
	h := sha256.New()
	for _, field := range [][]byte{[]byte(title), headings, []byte(hash)} {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write(field)
	}
	return key(h.Sum(nil))
}

// Embedder returns what made the vectors of root; found is false where it has
// none.
func (db *DB) Embedder(ctx context.Context, root string) (e Embedder, found bool, err error) {
	err = db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		_, e, found, err = collectionEmbedder(tx, root)
		return err
	})
	if err != nil {
		return e, false, fmt.Errorf("embedder of %q: %w", root, err)
	}
	return e, found, nil
}

func collectionEmbedder(tx *sqlite.Tx, root string) (id int64, e Embedder, found bool, err error) {
	err = tx.QueryRow(`SELECT e.id, e.model, e.dimension, e.prefix, e.tokens
		FROM collections c JOIN embedders e ON e.id = c.embedder WHERE c.root = ?`, root).
		Scan(&id, &e.Model, &e.Dimension, &e.Prefix, &e.Tokens)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, e, false, nil
	}
	return id, e, err == nil, err
}

// knownEmbedder finds the row of e; where its dimension is not known, the one
// that came last. The id is 0 where there is none.
func knownEmbedder(tx *sqlite.Tx, e Embedder) (id int64, known Embedder, err error) {
	known = e
	err = tx.QueryRow(`SELECT id, dimension FROM embedders WHERE model = ? AND prefix = ? AND tokens = ?
		AND (dimension = ?4 OR ?4 = 0) ORDER BY id DESC LIMIT 1`, e.Model, e.Prefix, e.Tokens, e.Dimension).
		Scan(&id, &known.Dimension)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, e, nil
	}
	return id, known, err
}

// registerEmbedder returns the id of e, which must know its dimension.
func registerEmbedder(tx *sqlite.Tx, e Embedder) (id int64, err error) {
	if _, err := tx.Exec(`INSERT INTO embedders(model, dimension, prefix, tokens) VALUES(?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		e.Model, e.Dimension, e.Prefix, e.Tokens); err != nil {
		return 0, err
	}
	id, _, err = knownEmbedder(tx, e)
	return id, err
}

// adopt makes e the embedder of collections: of all of
// roots, or of those that have none.
func adopt(tx *sqlite.Tx, e Embedder, roots []string, all bool) (id int64, err error) {
	if id, err = registerEmbedder(tx, e); err != nil {
		return 0, err
	}
	for _, root := range roots {
		if _, err := tx.Exec(`UPDATE collections SET embedder = ?1 WHERE root = ?2 AND (?3 OR embedder IS NULL)`,
			id, root, all); err != nil {
			return 0, err
		}
	}
	return id, nil
}

// need is a text without a vector.
type need struct {
	key key
	rev int64 // a chunk that holds it
}

// needs lists the texts of collections that the embedder of a row has no vectors
// for, each once, in order of root, source and place. all counts the chunks.
func needs(tx *sqlite.Tx, embedder int64, roots []string) (list []need, all int, err error) {
	have, err := keys(tx, embedder)
	if err != nil {
		return nil, 0, err
	}
	for _, root := range slices.Sorted(slices.Values(roots)) {
		err := eachChunk(tx, root, func(_ string, rev int64, k key) error {
			all++
			if _, ok := have[k]; !ok {
				have[k] = 0
				list = append(list, need{k, rev})
			}
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return list, all, nil
}

// keys lists what an embedder has vectors for, with their rows.
func keys(tx *sqlite.Tx, embedder int64) (map[key]int64, error) {
	out := map[key]int64{}
	err := each(tx, func(rows row) error {
		var k sql.RawBytes
		var id int64
		if err := rows.Scan(&k, &id); err != nil {
			return err
		}
		if len(k) != len(key{}) {
			return fmt.Errorf("the key of vector %d has %d bytes", id, len(k))
		}
		out[key(k)] = id
		return nil
	}, `SELECT key, id FROM vectors WHERE embedder = ?`, embedder)
	return out, err
}

// eachChunk calls f for each chunk of root, by source and position, with the key of
// its passage.
func eachChunk(tx *sqlite.Tx, root string, f func(id string, rev int64, k key) error) error {
	return each(tx, func(rows row) error {
		var id, title, hash string
		var rev int64
		var headings sql.RawBytes
		if err := rows.Scan(&id, &rev, &title, &headings, &hash); err != nil {
			return err
		}
		return f(id, rev, passageKey(title, headings, hash))
	}, `SELECT c.id, c.rev, f.title, c.headings, c.hash FROM chunks c JOIN files f ON f.id = c.file
		JOIN collections o ON o.id = c.collection WHERE o.root = ? ORDER BY f.source, c.ordinal`, root)
}

// passages reads the texts to embed. Chunks that changed or went meanwhile are
// left out.
func (e Embedder) passages(tx *sqlite.Tx, list []need) (texts []string, kept []need, err error) {
	for _, n := range list {
		var c state.Chunk
		var headings []byte
		err := tx.QueryRow(`SELECT f.title, c.headings, c.hash, c.text FROM chunks c JOIN files f ON f.id = c.file WHERE c.rev = ?`, n.rev).
			Scan(&c.Title, &headings, &c.Hash, &c.Text)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err == nil {
			err = json.Unmarshal(headings, &c.Headings)
		}
		if err != nil {
			return nil, nil, err
		}
		if passageKey(c.Title, headings, c.Hash) == n.key {
			texts, kept = append(texts, e.passage(c)), append(kept, n)
		}
	}
	return texts, kept, nil
}
