package langgraph

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/longterm"
	"example.com/ragflow/server/internal/door"
)

func (s *service) storeRoutes() []door.Route {
	return []door.Route{
		onFacts(s, "PUT /store/items", putItem), onFacts(s, "GET /store/items", getItem), onFacts(s, "DELETE /store/items", deleteItem),
		onFacts(s, "POST /store/items/search", searchItems), onFacts(s, "POST /store/namespaces", namespaces),
	}
}

// facts are those of one owner. They are where an agent of the owner remembers them.
type facts struct {
	*longterm.Store

	home longterm.Namespace // of all namespaces of the owner
}

func (f facts) within(n longterm.Namespace) longterm.Namespace { return slices.Concat(f.home, n) }

func onFacts[Q any](s *service, pattern string, do func(c *call, f facts, q *Q) (any, error)) door.Route {
	return on(pattern, func(c *call, q *Q) (any, error) {
		if s.facts == nil {
			return nil, door.Errorf(http.StatusNotImplemented, "this server keeps no facts: no memory is configured")
		}
		f := facts{Store: s.facts}
		if owner := graph.OwnerOf(c.Context()); owner != "" {
			f.home = longterm.Namespace{"owners", owner}
		}
		out, err := do(c, f, q)
		if errors.Is(err, longterm.ErrInvalid) {
			err = invalid("%v", err)
		}
		return out, err
	})
}

type itemRequest struct {
	Namespace longterm.Namespace `json:"namespace"`
	Key       string             `json:"key"`
	Value     map[string]any     `json:"value"`
	Index     any                `json:"index"` // every value can be found
	TTL       float64            `json:"ttl"`   // minutes
}

func putItem(c *call, f facts, q *itemRequest) (any, error) {
	if q.Index != nil {
		return nil, unsupported("index")
	}
	var options []longterm.PutOption
	if q.TTL > 0 {
		options = append(options, longterm.TTL(time.Duration(q.TTL*float64(time.Minute))))
	}
	return door.Nothing{}, f.Put(c.Context(), f.within(q.Namespace), q.Key, q.Value, options...)
}

// item is a fact as clients know it.
func (f facts) item(x longterm.Fact) map[string]any {
	return map[string]any{
		"namespace": x.Namespace[len(f.home):], "key": x.Key, "value": x.Value, "created_at": stamp(x.Created), "updated_at": stamp(x.Updated),
	}
}

func getItem(c *call, f facts, _ *none) (any, error) {
	var n longterm.Namespace
	for _, part := range c.URL.Query()["namespace"] {
		n = append(n, strings.Split(part, ".")...)
	}
	x, err := f.Get(c.Context(), f.within(n), c.URL.Query().Get("key"))
	if errors.Is(err, longterm.ErrNotFound) {
		return nil, nil //nolint:nilnil // null is the answer
	}
	if err != nil {
		return nil, err
	}
	return f.item(x), nil
}

func deleteItem(c *call, f facts, q *itemRequest) (any, error) {
	return door.Nothing{}, f.Delete(c.Context(), f.within(q.Namespace), q.Key)
}

type itemQuery struct {
	pageQuery

	Prefix     longterm.Namespace `json:"namespace_prefix"`
	Filter     map[string]any     `json:"filter"`
	Query      string             `json:"query"`
	RefreshTTL *bool              `json:"refresh_ttl"` // reading never lengthens the life of a fact
}

func searchItems(c *call, f facts, q *itemQuery) (any, error) {
	list, err := f.Search(c.Context(), f.within(q.Prefix), longterm.Query{Text: q.Query, Where: q.Filter, Limit: q.Limit, Offset: q.Offset})
	items := []any{}
	for _, x := range list {
		one := f.item(x)
		one["score"] = nil
		if q.Query != "" {
			one["score"] = x.Score
		}
		items = append(items, one)
	}
	return map[string]any{"items": items}, err
}

type namespaceQuery struct {
	pageQuery

	Prefix   longterm.Namespace `json:"prefix"`
	Suffix   longterm.Namespace `json:"suffix"`
	MaxDepth int                `json:"max_depth"`
}

const (
	maxFacts      = 10_000 // that a list of namespaces is made from
	minNamespaces = 100    // that a client gets
)

func namespaces(c *call, f facts, q *namespaceQuery) (any, error) {
	found, err := f.Search(c.Context(), f.within(q.Prefix), longterm.Query{Limit: maxFacts})
	var list []longterm.Namespace
	for _, x := range found {
		n := x.Namespace[len(f.home):]
		if len(n) < len(q.Suffix) || !slices.Equal(n[len(n)-len(q.Suffix):], q.Suffix) {
			continue
		}
		if q.MaxDepth > 0 {
			n = n[:min(len(n), q.MaxDepth)]
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b longterm.Namespace) int { return strings.Compare(a.Path(), b.Path()) })
	list = slices.CompactFunc(list, func(a, b longterm.Namespace) bool { return a.Path() == b.Path() })
	q.Limit = max(q.Limit, minNamespaces)
	return map[string]any{"namespaces": page(list, q.pageQuery)}, err
}
