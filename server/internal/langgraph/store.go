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
		call("PUT /store/items", s.ofFacts(s.putItem)), call("GET /store/items", s.ofFacts(s.getItem)),
		call("DELETE /store/items", s.ofFacts(s.deleteItem)), call("POST /store/items/search", s.ofFacts(s.searchItems)),
		call("POST /store/namespaces", s.ofFacts(s.namespaces)),
	}
}

func (s *service) ofFacts(f handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		if s.facts == nil {
			return nil, failed(http.StatusNotImplemented, "this server keeps no facts: no memory is configured")
		}
		out, err := f(w, r)
		if errors.Is(err, longterm.ErrInvalid) {
			err = failed(http.StatusUnprocessableEntity, "%v", err)
		}
		return out, err
	}
}

// within returns where the owner of a request keeps the facts of a namespace. Those of an owner are where
// an agent remembers them.
func within(r *http.Request, n longterm.Namespace) longterm.Namespace {
	if owner := graph.OwnerOf(r.Context()); owner != "" {
		return append(longterm.Namespace{"owners", owner}, n...)
	}
	return n
}

type itemRequest struct {
	Namespace longterm.Namespace `json:"namespace"`
	Key       string             `json:"key"`
	Value     map[string]any     `json:"value"`
	Index     any                `json:"index"` // every value can be found
	TTL       float64            `json:"ttl"`   // minutes
}

func (s *service) putItem(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[itemRequest](w, r)
	if err != nil {
		return nil, err
	}
	if q.Index != nil {
		return nil, unsupported("index")
	}
	var options []longterm.PutOption
	if q.TTL > 0 {
		options = append(options, longterm.TTL(time.Duration(q.TTL*float64(time.Minute))))
	}
	return nothing{}, s.facts.Put(r.Context(), within(r, q.Namespace), q.Key, q.Value, options...)
}

// item is a fact as clients know it.
func item(r *http.Request, f longterm.Fact) map[string]any {
	return map[string]any{
		"namespace": f.Namespace[len(within(r, nil)):], "key": f.Key, "value": f.Value, "created_at": stamp(f.Created), "updated_at": stamp(f.Updated),
	}
}

func (s *service) getItem(_ http.ResponseWriter, r *http.Request) (any, error) {
	var n longterm.Namespace
	for _, part := range r.URL.Query()["namespace"] {
		n = append(n, strings.Split(part, ".")...)
	}
	f, err := s.facts.Get(r.Context(), within(r, n), r.URL.Query().Get("key"))
	if errors.Is(err, longterm.ErrNotFound) {
		return nil, nil //nolint:nilnil // null is the answer
	}
	if err != nil {
		return nil, err
	}
	return item(r, f), nil
}

func (s *service) deleteItem(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[itemRequest](w, r)
	if err != nil {
		return nil, err
	}
	return nothing{}, s.facts.Delete(r.Context(), within(r, q.Namespace), q.Key)
}

type itemQuery struct {
	Prefix     longterm.Namespace `json:"namespace_prefix"`
	Filter     map[string]any     `json:"filter"`
	Query      string             `json:"query"`
	Limit      int                `json:"limit"`
	Offset     int                `json:"offset"`
	RefreshTTL *bool              `json:"refresh_ttl"` // reading never lengthens the life of a fact
}

func (s *service) searchItems(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[itemQuery](w, r)
	if err != nil {
		return nil, err
	}
	found, err := s.facts.Search(r.Context(), within(r, q.Prefix), longterm.Query{Text: q.Query, Where: q.Filter, Limit: q.Limit, Offset: q.Offset})
	items := []any{}
	for _, f := range found {
		one := item(r, f)
		one["score"] = nil
		if q.Query != "" {
			one["score"] = f.Score
		}
		items = append(items, one)
	}
	return map[string]any{"items": items}, err
}

type namespaceQuery struct {
	Prefix   longterm.Namespace `json:"prefix"`
	Suffix   longterm.Namespace `json:"suffix"`
	MaxDepth int                `json:"max_depth"`
	Limit    int                `json:"limit"`
	Offset   int                `json:"offset"`
}

// maxFacts is how many facts a list of namespaces is made from.
const maxFacts = 10_000

func (s *service) namespaces(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[namespaceQuery](w, r)
	if err != nil {
		return nil, err
	}
	found, err := s.facts.Search(r.Context(), within(r, q.Prefix), longterm.Query{Limit: maxFacts})
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var list []longterm.Namespace
	for _, f := range found {
		n := f.Namespace[len(within(r, nil)):]
		if len(n) < len(q.Suffix) || !slices.Equal(n[len(n)-len(q.Suffix):], q.Suffix) {
			continue
		}
		if q.MaxDepth > 0 {
			n = n[:min(len(n), q.MaxDepth)]
		}
		if !seen[n.Path()] {
			seen[n.Path()] = true
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b longterm.Namespace) int { return strings.Compare(a.Path(), b.Path()) })
	rows := make([]any, len(list))
	for i, n := range list {
		rows[i] = n
	}
	return map[string]any{"namespaces": page(rows, q.Offset, max(q.Limit, 100))}, nil
}
