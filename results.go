package ragflow

import (
	"context"
	"encoding/json"

	"example.com/ragflow/internal/cache"
)

// cachedResults is what a search found, as the cache keeps it.
type cachedResults struct {
	Reply  *SearchReply `json:"reply"`
	Hashes []string     `json:"hashes"` // of the files of the hits, which have no JSON
}

// resultsKey returns the key of what a search of the indexes of b finds. ok is false if results are not kept.
func (a *Assistant) resultsKey(b *bound, query string, o SearchOptions) (key cache.Key, ok bool) {
	if a.cache == nil || !a.config.Cache.Results {
		return key, false
	}
	how, err := json.Marshal([]any{o.Request, o.Plain})
	return a.cache.Key(a.cacheScope, b.content, "search", string(how), query), err == nil
}

// recallResults returns what was found before.
func (a *Assistant) recallResults(ctx context.Context, key cache.Key) (*SearchReply, bool) {
	v, ok := a.cache.Get(ctx, key)
	var kept cachedResults
	if !ok || json.Unmarshal(v.Body, &kept) != nil || kept.Reply == nil || len(kept.Hashes) != len(kept.Reply.Hits) {
		a.cache.Count(ctx, cache.NotFound, cache.Key{})
		return nil, false
	}
	a.cache.Count(ctx, cache.Found, key)
	for i := range kept.Reply.Hits {
		h := &kept.Reply.Hits[i]
		h.Chunk.Metadata, h.FileHash = h.Metadata, kept.Hashes[i]
	}
	kept.Reply.Cached = &v.Made
	return kept.Reply, true
}

// keepResults keeps what a search found, unless something failed.
func (a *Assistant) keepResults(ctx context.Context, key cache.Key, r *SearchReply) {
	if len(r.Warnings) > 0 {
		return
	}
	kept := cachedResults{Reply: r}
	for i := range r.Hits {
		kept.Hashes = append(kept.Hashes, r.Hits[i].FileHash)
	}
	if body, err := json.Marshal(kept); err == nil {
		a.cache.Put(ctx, cache.Value{Key: key, Body: body})
	}
}
