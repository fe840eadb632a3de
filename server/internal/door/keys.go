package door

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/tokens"
)

// ErrRevoked is the cause of the end of a request whose token was revoked or has expired.
var ErrRevoked = errors.New("the token was revoked or has expired")

// reloadEvery is how often the folder of tokens is read.
const reloadEvery = 500 * time.Millisecond

// maxSessions is how many people can be logged in at the page.
const maxSessions = 10_000

// Keys are the tokens of a server, and the requests under way with each. It is safe for concurrent use.
type Keys struct {
	folder   tokens.Folder
	clock    func() time.Time
	logger   *slog.Logger
	sessions lru.Cache[string, string] // hash of a token by the id of a session

	mu     sync.Mutex
	known  map[string]*tokens.Token // by hash
	held   map[string]map[*hold]struct{}
	warned string // fault of the folder that was logged last
}

type hold struct{ cancel context.CancelCauseFunc }

// NewKeys reads a folder of tokens.
func NewKeys(folder tokens.Folder, clock func() time.Time, logger *slog.Logger) *Keys {
	k := &Keys{folder: folder, clock: clock, logger: logger, held: map[string]map[*hold]struct{}{}}
	k.reload()
	return k
}

// Watch rereads the folder until ctx ends, and cancels the requests of tokens that were revoked.
func (k *Keys) Watch(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(reloadEvery):
			k.reload()
		}
	}
}

func (k *Keys) reload() {
	list, err := k.folder.List()
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil && err.Error() != k.warned {
		k.warned = err.Error()
		k.logger.Error("tokens cannot be read", "error", err)
	}
	known, now := make(map[string]*tokens.Token, len(list)), k.clock()
	for i := range list {
		if t := &list[i]; !t.Expired(now) {
			known[t.Hash] = t
		}
	}
	k.known = known
	for hash, holds := range k.held {
		if known[hash] == nil {
			for h := range holds {
				h.cancel(ErrRevoked)
			}
		}
	}
}

// find returns the token of a secret or of a session, or nil.
func (k *Keys) find(secret string, session bool) *tokens.Token {
	hash := tokens.Hash(secret)
	if session {
		hash, _ = k.sessions.Get(secret)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if t := k.known[hash]; t != nil && !t.Expired(k.clock()) {
		return t
	}
	return nil
}

// LogIn returns the id of a new session of a token; "" if there is no such token.
func (k *Keys) LogIn(secret string) string {
	t := k.find(secret, false)
	if t == nil {
		return ""
	}
	id := rand.Text()
	k.sessions.Put(id, t.Hash, 0, maxSessions, 0)
	return id
}

// hold returns a context that ends when a token does, and a function that gives it back.
func (k *Keys) hold(ctx context.Context, hash string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	h := &hold{cancel}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held[hash] == nil {
		k.held[hash] = map[*hold]struct{}{}
	}
	k.held[hash][h] = struct{}{}
	if k.known[hash] == nil { // revoked since it was found
		cancel(ErrRevoked)
	}
	return ctx, func() {
		cancel(nil)
		k.mu.Lock()
		defer k.mu.Unlock()
		if delete(k.held[hash], h); len(k.held[hash]) == 0 {
			delete(k.held, hash)
		}
	}
}
