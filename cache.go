package ragflow

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/cache"
	"example.com/ragflow/internal/rank"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Cache configures the cache of answers and of what searches found. Only the first question of a
// thread is answered from it, and only while everything that the answer depends on is as it was: the
// documents and their index, the settings, the models, the owner of the thread. An answer is not kept
// if it was declined, if the run had a warning, or if an agent gave it. The turn of such a question is
// saved as any other, and Reply.Cached is set. A database that cannot be used is a warning.
type Cache struct {
	On bool // keep answers
	// Results keeps what [Assistant.Search] found, until the index or the configuration changes. A search
	// from the cache has SearchReply.Cached; one with a warning is not kept.
	Results bool
	// Database opens a PostgreSQL database for both, which several servers with the same program and one index
	// then share; the Assistant closes it. Nil: cache.db in DataDir, or memory without one.
	Database func(context.Context) (*sql.DB, error)
	TTL      time.Duration // how long a value is kept; 0: an hour
	MaxBytes int64         // of all values; 0: 256 MiB. The least recently used ones make room
	// Similar is the least cosine, from 0.9 to 1, of a question that gets the answer to a similar one. The two
	// must have the same words in the same order, too, but for endings, articles and the like, because vectors do not
	// tell a question from its opposite. 0: only the same question gets it. It needs Models.Embedder, or a processor
	// that the built-in model is fast on.
	Similar float64
	// Models tells apart what has the same name: the addresses of the models, and whatever else their answers depend on.
	Models string
}

// check refuses what makes no sense.
func (c Cache) check() error {
	if c.TTL < 0 || c.MaxBytes < 0 || c.Similar != 0 && !(c.Similar >= minSimilar && c.Similar <= 1) {
		return fmt.Errorf("cache: time and bytes must not be negative, and the similarity is 0 or from %v to 1", minSimilar)
	}
	return nil
}

// minSimilar is the least cosine of two questions with one answer.
const minSimilar = 0.9

// cacheFile is in the data folder.
const cacheFile = "cache.db"

// openCache opens the cache of answers, unless there is none.
func (a *Assistant) openCache() {
	c := a.config
	if !c.Cache.On && !c.Cache.Results || c.ForgetThreads || c.ReadOnly {
		return
	}
	place := cache.Place{Path: ":memory:", Postgres: c.Cache.Database}
	if c.DataDir != "" {
		place.Path = filepath.Join(c.DataDir, cacheFile)
	}
	scope, err := c.cacheScope()
	if err != nil {
		c.Logger.Warn("nothing is answered from the cache", "error", err)
		return
	}
	a.cacheScope = scope
	a.cache = cache.Open(place, cache.Options{TTL: c.Cache.TTL, MaxBytes: c.Cache.MaxBytes, Keys: c.sealKeys(), Logger: c.Logger, Clock: c.Clock})
	switch {
	case c.Cache.Similar == 0 || !c.Cache.On:
	case a.embedder != nil:
		a.alike = a.embedder
	case a.reading != nil:
		a.alike = a.reading.model
	case meaning.Fast():
		a.alike = &questions{Embedder: builtIn{}}
	default:
		c.Logger.Warn("similar questions are not recognised, because the built-in model is too slow on this processor and no embedding model is configured")
	}
}

// cacheScope returns what every answer depends on beside its question and the documents. Without a fast processor the
// built-in model is not used.
func (c Config) cacheScope() (string, error) {
	program, err := c.programSum()
	if err != nil {
		return "", err
	}
	scope := []any{flowVersion, program, meaning.Fast(), c.Cache.Models, c.Retrieval, c.Dense, c.Preset}
	for _, name := range slices.Sorted(maps.Keys(c.Models.Tasks)) {
		t := c.Models.Tasks[name]
		scope = append(scope, name, t.Model(), t.Temperature, t.Tokens)
	}
	if e := c.Models.Embedder; e != nil {
		scope = append(scope, "embedder", e.Model())
	}
	if r := c.Models.Reranker; r != nil {
		scope = append(scope, "reranker", r.Model())
	}
	for _, path := range []string{c.Dictionary, c.Prompts} {
		if path == "" {
			continue
		}
		texts, err := contents(path)
		if err != nil {
			return "", err
		}
		scope = append(scope, texts)
	}
	out, err := json.Marshal(scope)
	return string(out), err
}

// programSum returns what changes with the program: its size and time, or its content if several machines compare it.
func (c Config) programSum() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	if c.Cache.Database == nil {
		info, err := f.Stat()
		if err != nil {
			return "", err
		}
		return fmt.Sprint(info.Size(), info.ModTime()), nil
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// contents returns the texts of a file, or of those in a folder, by name.
func contents(path string) (map[string]string, error) {
	out, paths := map[string]string{}, []string{path}
	if entries, err := os.ReadDir(path); err == nil {
		paths = nil
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				paths = append(paths, filepath.Join(path, e.Name()))
			}
		}
	}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		out[p] = string(text)
	}
	return out, nil
}

// contentOf returns how passages of a snapshot are found.
func contentOf(ctx context.Context, s search.Snapshot, o search.Options) string {
	how, err := json.Marshal([]any{o.Dense, o.Retrieval, o.ListDepth})
	if err != nil || o.Embedder == nil {
		return fmt.Sprint(string(how), err)
	}
	v, err := s.Vectors(ctx, o.Dense.Spec(o.Embedder.Model())) // which the first search needs, too
	if err != nil {
		return fmt.Sprint(string(how), err)
	}
	return fmt.Sprint(string(how), v.Len(), v.Missing())
}

// cachedAnswer is a turn as the cache keeps it.
type cachedAnswer struct {
	Turn   state.Turn      `json:"turn"`
	Recent *state.Exchange `json:"recent"`
	Files  []string        `json:"files"`  // a chunk of each file that was compared with its index entry
	Vector []float32       `json:"vector"` // of the question; nil without Cache.Similar
}

// cacheable reports whether the answer to the question of a state depends on that question alone.
func cacheable(s state.State) bool {
	return len(s.Messages) == 1 && s.Summary == "" && len(s.Recent) == 0
}

// cacheKeys returns the key of the answer to a question, and that of the answers to similar questions.
func (a *Assistant) cacheKeys(ctx context.Context, t *turn, thread, query string, f state.Filter) (key, near cache.Key, ok bool) {
	chat, err := a.config.chat(t.settings)
	name := ""
	if chat != nil {
		name = chat.Model()
	}
	owner := graph.OwnerOf(ctx)
	if info, err2 := a.store.Info(ctx, thread); err2 == nil && owner == "" {
		owner = info.Owner
	}
	how, err2 := json.Marshal([]any{t.settings, f})
	if errors.Join(err, err2) != nil {
		return key, near, false
	}
	scope := []string{a.cacheScope, t.content, owner, name, string(how)}
	key = a.cache.Key(append(slices.Clone(scope), "same", query)...)
	if a.alike != nil {
		near = a.cache.Key(append(scope, "similar", questionWords(query))...)
	}
	return key, near, true
}

// recalling returns the node pre_retrieval of a turn over the documents that pass a filter, which takes
// the whole turn from the cache if it can.
func (a *Assistant) recalling(t *turn, f state.Filter) nodes.Node {
	plan := t.nodes[nodes.PreRetrievalID]
	if a.cache == nil || !a.config.Cache.On || t.researcher != nil {
		return plan
	}
	return func(ctx context.Context, s state.State) (state.Update, error) {
		if !cacheable(s) {
			return plan(ctx, s)
		}
		key, near, ok := a.cacheKeys(ctx, t, graph.Info(ctx).Thread, s.Turn.Query, f)
		if !ok {
			return plan(ctx, s)
		}
		if v, ok := a.cache.Get(ctx, key); ok {
			if u, ok := t.recall(ctx, v, s, 1); ok {
				a.cache.Count(ctx, cache.Hit, v.Key)
				return u, nil
			}
		} else if u, v, ok := a.recallSimilar(ctx, t, near, s); ok {
			a.cache.Count(ctx, cache.Similar, v.Key)
			return u, nil
		}
		a.cache.Count(ctx, cache.Miss, cache.Key{})
		return plan(ctx, s)
	}
}

// recallSimilar returns the turn of a similar question.
func (a *Assistant) recallSimilar(ctx context.Context, t *turn, near cache.Key, s state.State) (u state.Update, v cache.Value, ok bool) {
	if a.alike == nil {
		return u, v, false
	}
	for _, v := range a.cache.Near(ctx, near) {
		asked, err := a.alike.Embed(ctx, []string{s.Turn.Query}, llm.Query)
		var kept cachedAnswer
		if err = errors.Join(err, json.Unmarshal(v.Body, &kept)); err != nil || len(asked.Vectors) != 1 {
			return u, v, false
		}
		similarity := rank.CosineOf(asked.Vectors[0], kept.Vector)
		if similarity < a.config.Cache.Similar {
			continue
		}
		if u, ok = t.recall(ctx, v, s, similarity); ok {
			return u, v, true
		}
	}
	return u, v, false
}

// recall returns the turn that a value holds, unless a file that it rests on is not the one that was indexed.
func (t *turn) recall(ctx context.Context, v cache.Value, s state.State, similarity float64) (u state.Update, ok bool) {
	var kept cachedAnswer
	if err := json.Unmarshal(v.Body, &kept); err != nil {
		return u, false
	}
	chunks, err := t.chunks.Chunks(ctx, kept.Files)
	if err != nil || len(chunks) != len(kept.Files) {
		return u, false
	}
	for _, l := range t.libraries {
		if l.Differs(chunks) {
			return u, false
		}
	}
	kept.Turn.Cached = &state.Cached{Run: v.Run, Time: v.Made, Question: kept.Turn.Query, Similarity: similarity}
	kept.Turn.Query, kept.Recent.Question = s.Turn.Query, s.Turn.Query
	graph.Note(ctx, "from the cache", v.Made.Format(time.RFC3339)+", run "+v.Run)
	if kept.Turn.Cached.Question != s.Turn.Query {
		graph.Note(ctx, "asked then", kept.Turn.Cached.Question)
		graph.Note(ctx, "cosine", fmt.Sprintf("%.3f", similarity))
	}
	return state.Update{NewTurn: &kept.Turn, Recent: kept.Recent}, true
}

// skippedCached is why a node did nothing.
const skippedCached = "Skipped (the answer is from the cache)"

// unlessCached returns a node that does its work unless the turn is from the cache. generate then gives
// the answer of that turn.
func (a *Assistant) unlessCached(id string, node nodes.Node) nodes.Node {
	switch id {
	case nodes.RetrievalID, nodes.CheckAndRefineID, nodes.PostRetrievalID, nodes.GenerateID:
	default:
		return node
	}
	return func(ctx context.Context, s state.State) (u state.Update, err error) {
		if s.Turn.Cached == nil {
			return node(ctx, s)
		}
		graph.Skip(ctx, skippedCached)
		if id == nodes.GenerateID {
			u.Messages = []state.MessageOp{{Put: &state.Message{
				ID: a.config.NewID(), Role: state.AI, Content: s.Turn.Answer, Time: a.config.Clock().UTC(), Citations: s.Turn.Citations,
			}}}
		}
		return u, nil
	}
}

// keep puts the turn of a run that completed into the cache, if the same question would get the same answer.
func (a *Assistant) keep(ctx context.Context, r *request, durable []graph.Event[state.State], reply *Reply) {
	last := durable[len(durable)-1].State
	turn, t := last.Turn, r.turn
	switch {
	case a.cache == nil || !a.config.Cache.On || r.researcher != nil || r.graph.Resume || t.newest() != t:
		return // it changed under way, or is not known from its beginning
	case turn.Cached != nil || turn.Abstained || turn.Route != state.RouteSearch || len(reply.Warnings) > 0 || len(last.Recent) != 1:
		return
	case !cacheable(durable[0].State):
		return
	}
	files, ok := compared(ctx, t, durable)
	if !ok {
		return
	}
	key, near, ok := a.cacheKeys(ctx, t, r.graph.Thread, turn.Query, last.Scope.Filter)
	if !ok {
		return
	}
	kept := cachedAnswer{Turn: turn, Recent: &last.Recent[0], Files: files}
	if a.alike != nil {
		asked, err := a.alike.Embed(ctx, []string{turn.Query}, llm.Query)
		if err != nil || len(asked.Vectors) != 1 {
			return
		}
		kept.Vector = asked.Vectors[0]
	}
	if body, err := json.Marshal(kept); err == nil {
		a.cache.Put(ctx, cache.Value{Key: key, Near: near, Run: reply.RunID, Body: body})
	}
}

// compared returns a chunk of each file that the retrievals of a run compared with the index. ok is
// false if one is a promoted answer, which depends on other files, or if a call of a model failed.
func compared(ctx context.Context, t *turn, durable []graph.Event[state.State]) (ids []string, ok bool) {
	for _, e := range durable {
		for _, task := range e.Tasks {
			if slices.ContainsFunc(task.Notes.Spent(), func(c graph.Call) bool { return c.Error != "" }) {
				return nil, false
			}
			if task.Node != nodes.RetrievalID {
				continue
			}
			best, err := t.best(ctx, e.State.Turn.Hits, e.State.Turn.Ranking)
			if err != nil || slices.ContainsFunc(best, isPromoted) {
				return nil, false
			}
			for _, c := range best {
				if !slices.Contains(ids, c.ID) {
					ids = append(ids, c.ID)
				}
			}
		}
	}
	return ids, true
}
