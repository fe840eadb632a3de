package checkpoint

import (
	"database/sql"
	"errors"
	"sync"

	"example.com/ragflow/graph"
)

// holding is what this process remembers of a lease it was given, to spare
// looking it up for every commit. Rows never change their ids, so the statements
// that use it need only check that lease and head still are what they were.
type holding struct {
	token, thread int64
	run           string // that the last commit belongs to; "" where it is not known
	runID         int64
	pending       bool // it may have pending results
}

// maxHoldings bounds the memory that leases take which nobody released.
const maxHoldings = 4096

// holdings are those of the leases that live. Only what was saved is kept.
type holdings struct {
	mu sync.Mutex
	of map[string]holding
}

func (h *holdings) get(l graph.Lease) (holding, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	got, ok := h.of[l.Thread]
	return got, ok && got.token == l.Token
}

func (h *holdings) put(thread string, v holding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.of == nil || len(h.of) >= maxHoldings {
		h.of = map[string]holding{}
	}
	h.of[thread] = v
}

func (h *holdings) drop(thread string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.of, thread)
}

// holding returns what is known of a lease, which the caller must still check;
// one that was lost is superseded.
func (w *write) holding(l graph.Lease) (holding, error) {
	if h, ok := w.holdings.get(l); ok {
		return h, nil
	}
	h := holding{token: l.Token, pending: true}
	err := w.QueryRow(`SELECT id FROM threads WHERE name = ? AND token = ? AND until IS NOT NULL`, l.Thread, l.Token).Scan(&h.thread)
	if errors.Is(err, sql.ErrNoRows) {
		err = superseded(l)
	}
	return h, err
}
