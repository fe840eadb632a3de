package checkpoint

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.com/ragflow/internal/sqlite"
)

// maxNames bounds each direction of the cache. A program has a few dozen
// names; only a hostile one has more.
const maxNames = 4096

// names caches the table of the same name. Its rows never change, so neither
// do cached ones; only saved rows are cached.
type names struct {
	mu    sync.RWMutex
	ids   map[string]int64
	texts map[int64]string
}

func (n *names) id(name string) (int64, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	id, ok := n.ids[name]
	return id, ok
}

func (n *names) text(id int64) (string, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	text, ok := n.texts[id]
	return text, ok
}

func (n *names) keep(name string, id int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil || len(n.ids) >= maxNames {
		n.ids, n.texts = map[string]int64{}, map[int64]string{}
	}
	n.ids[name], n.texts[id] = id, name
}

// write is one attempt to save something: a transaction, and the names that it
// added, which may be cached once it was saved.
type write struct {
	*sqlite.Tx
	names *names
	fresh map[string]int64

	holdings *holdings
	sealer   *sealer // nil: nothing is sealed
}

// name returns the id of a name, adding it where it is new; nil for "".
func (w *write) name(name string) (any, error) {
	if name == "" {
		return nil, nil // nil is the SQL NULL that stands for ""
	}
	if id, ok := w.names.id(name); ok {
		return id, nil
	}
	if id, ok := w.fresh[name]; ok {
		return id, nil
	}
	if _, err := w.Exec(`INSERT INTO names(name) VALUES(?) ON CONFLICT DO NOTHING`, name); err != nil {
		return nil, err
	}
	var id int64
	if err := w.QueryRow(`SELECT id FROM names WHERE name = ?`, name).Scan(&id); err != nil {
		return nil, err
	}
	if w.fresh == nil {
		w.fresh = map[string]int64{}
	}
	w.fresh[name] = id
	return id, nil
}

func (w *write) saved() {
	for name, id := range w.fresh {
		w.names.keep(name, id)
	}
}

// nameOf returns the name with an id, "" for NULL.
func (s *SQLite) nameOf(tx *sqlite.Tx, id sql.NullInt64) (string, error) {
	if !id.Valid {
		return "", nil
	}
	if name, ok := s.names.text(id.Int64); ok {
		return name, nil
	}
	var name string
	err := tx.QueryRow(`SELECT name FROM names WHERE id = ?`, id.Int64).Scan(&name)
	if err != nil {
		return "", fmt.Errorf("name %d: %w", id.Int64, err)
	}
	s.names.keep(name, id.Int64)
	return name, nil
}

// runKey is a run as the table runs keeps it: UUIDs in their usual form as 16
// bytes, all else as text.
func runKey(run string) any {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(run) != len(form) {
		return run
	}
	for i := range len(run) {
		if dash := form[i] == '-'; dash != (run[i] == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(run[i])) {
			return run
		}
	}
	key, err := hex.DecodeString(strings.ReplaceAll(run, "-", ""))
	if err != nil {
		return run // unreachable: every digit was looked at
	}
	return key
}

// runOf undoes runKey.
func runOf(key any) (string, error) {
	switch key := key.(type) {
	case string:
		return key, nil
	case []byte:
		if len(key) == 16 {
			h := hex.EncodeToString(key)
			return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-"), nil
		}
	}
	return "", errors.New("broken run id")
}
