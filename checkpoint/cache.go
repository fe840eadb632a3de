package checkpoint

import (
	"encoding/json"
	"sync"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// kind is a row of the table kinds: what a commit has in common with many others. A graph has a few
// for each of its nodes.
type kind struct {
	graph, source, status, frontier, path, node string
	rank                                        int
}

func kindOf(c graph.Commit) (kind, error) {
	k := kind{graph: c.Fingerprint, source: string(c.Source), status: string(c.Status)}
	if len(c.Deltas) > 0 {
		k.path, k.node, k.rank = c.Deltas[0].Path, c.Deltas[0].Node, c.Deltas[0].Rank
	}
	if len(c.Frontier) == 0 {
		return k, nil
	}
	text, err := json.Marshal(c.Frontier)
	k.frontier = string(text)
	return k, err
}

// maxCached bounds each map of a cache.
const maxCached = 4096

// cache keeps what this process wrote and never changes, whatever other processes do: the ids of
// kinds, and the run and the status of the commit that was added last to a thread. Only what was
// committed is kept.
type cache struct {
	mu    sync.Mutex
	kinds map[kind]int64
	heads map[string]writtenHead // by the name of the thread
}

// writtenHead is the last commit of a thread, and the newest lease that found or wrote it.
type writtenHead struct {
	token, thread int64
	at            graph.CommitID
	run           string
	status        graph.Status
}

// taken keeps that a new lease of a thread begins at the last commit, if this process wrote it.
func (c *cache) taken(l graph.Lease, thread int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.heads[l.Thread]
	if ok && h.at == l.Head && h.thread == thread {
		h.token = l.Token
		c.heads[l.Thread] = h
	}
}

// head returns the commit before another one that is written under a lease, if this process wrote it.
func (c *cache) head(l graph.Lease, parent graph.CommitID) (writtenHead, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.heads[l.Thread]
	return h, ok && h.token == l.Token && h.at == parent
}

// saved keeps what a committed entry tells.
func (c *cache) saved(l graph.Lease, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kinds == nil || len(c.kinds) >= maxCached {
		c.kinds = map[kind]int64{}
	}
	c.kinds[e.kind] = e.kindID
	if c.heads == nil || len(c.heads) >= maxCached {
		c.heads = map[string]writtenHead{}
	}
	c.heads[l.Thread] = writtenHead{l.Token, e.thread, e.ID, e.Run, e.Status}
}

// kindID returns the id of a kind, which it adds if it is new.
func (c *cache) kindID(tx *sqlite.Tx, k kind) (id int64, err error) {
	c.mu.Lock()
	id = c.kinds[k]
	c.mu.Unlock()
	if id != 0 {
		return id, nil
	}
	if err := tx.Do(`INSERT INTO kinds(graph, source, status, frontier, path, node, rank) VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		k.graph, k.source, k.status, k.frontier, k.path, k.node, k.rank); err != nil {
		return 0, err
	}
	return id, tx.QueryRow(`SELECT id FROM kinds WHERE graph = ? AND source = ? AND status = ? AND frontier = ? AND path = ? AND node = ? AND rank = ?`,
		k.graph, k.source, k.status, k.frontier, k.path, k.node, k.rank).Scan(&id)
}
