package door

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/tokens"
)

// Principal is who asks.
type Principal struct {
	tokens.Token      // Owner is whose threads these are: "" for all of them
	Local        bool // a program of this machine, which needs no token
	Fresh        bool // wants no answer from the cache
}

// Choose returns the collections of a request: those that it names, without any those of the token,
// or none, which is the default one. A collection that the token may not use does not exist for it.
func (p *Principal) Choose(names ...string) ([]string, error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	if len(names) == 0 {
		return p.Collections, nil
	}
	for _, n := range names {
		if !p.Uses(n) {
			return nil, fmt.Errorf("collection %q: %w", n, ingest.ErrNoCollection)
		}
	}
	return names, nil
}

// fresh reports whether a request must not be answered from a cache. no-store says nothing about that, and LangGraph's
// client sends it with each stream.
func fresh(h http.Header) bool {
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		if strings.EqualFold(strings.TrimSpace(directive), "no-cache") {
			return true
		}
	}
	return false
}

type principalKey struct{}

// With returns a context for calls of a principal.
func With(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(graph.OwnedBy(ctx, p.Owner), principalKey{}, p)
}

// Of returns the principal of a request that passed the gate.
func Of(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// CookieName is the cookie of a person who has logged in at the page.
const CookieName = "ragflow_session"

// credential returns the secret that a request carries, and whether it is the id of a session.
func credential(r *http.Request) (secret string, session bool) {
	if scheme, rest, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(rest), false
	}
	for _, name := range []string{"X-Api-Key", "Api-Key"} {
		if v := r.Header.Get(name); v != "" {
			return v, false
		}
	}
	if c, err := r.Cookie(CookieName); err == nil {
		return c.Value, true
	}
	return "", false
}
