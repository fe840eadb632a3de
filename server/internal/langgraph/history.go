package langgraph

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/address"
)

func rootOf(at string) string { return address.Root(at) }

// place names a checkpoint: as its id, as a checkpoint, or as a configuration.
type place struct {
	Thread       string          `json:"thread_id"`
	Namespace    string          `json:"checkpoint_ns"`
	ID           string          `json:"checkpoint_id"`
	Map          json.RawMessage `json:"checkpoint_map"`
	Configurable *place          `json:"configurable"`
}

func (p *place) UnmarshalJSON(body []byte) error {
	if json.Unmarshal(body, &p.ID) == nil {
		return nil
	}
	type plain place
	return json.Unmarshal(body, (*plain)(p))
}

// commit returns the commit of a place; 0 if it names none.
func (p *place) commit() (graph.CommitID, error) {
	switch {
	case p == nil:
		return 0, nil
	case p.Configurable != nil:
		return p.Configurable.commit()
	case p.Namespace != "":
		return 0, unsupported("checkpoint_ns")
	case p.ID == "":
		return 0, nil
	}
	return commitOf(p.ID)
}

type stateQuery struct {
	Checkpoint *place `json:"checkpoint"`
	Subgraphs  bool   `json:"subgraphs"`
}

func (s *service) getState(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[stateQuery](w, r)
	if err != nil {
		return nil, err
	}
	if id := r.PathValue("checkpoint"); id != "" {
		q.Checkpoint = &place{ID: id}
	}
	at, err := q.Checkpoint.commit()
	if err != nil {
		return nil, err
	}
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	if at != 0 {
		m, err := momentAt(r.Context(), t, t.Thread, at)
		if err != nil {
			return nil, err
		}
		return m.shown(t.Thread), nil
	}
	page, err := moments(r.Context(), t, t.Thread, 0, 1)
	if err != nil {
		return nil, err
	}
	if len(page) == 0 {
		return noState(), nil
	}
	return page[0].shown(t.Thread), nil
}

type historyQuery struct {
	Limit      int             `json:"limit"`
	Before     *place          `json:"before"`
	Checkpoint *place          `json:"checkpoint"`
	Metadata   json.RawMessage `json:"metadata"`
}

func (s *service) history(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[historyQuery](w, r)
	if err != nil {
		return nil, err
	}
	if len(q.Metadata) > 0 && string(q.Metadata) != "null" && string(q.Metadata) != "{}" {
		return nil, unsupported("metadata")
	}
	if n := r.URL.Query().Get("limit"); n != "" && r.Method == http.MethodGet {
		if q.Limit, err = strconv.Atoi(n); err != nil {
			return nil, failed(http.StatusUnprocessableEntity, "limit: %q is no number", n)
		}
	}
	if b := r.URL.Query().Get("before"); b != "" && r.Method == http.MethodGet {
		q.Before = &place{ID: b}
	}
	before, err := q.Before.commit()
	if err != nil {
		return nil, err
	}
	if _, err := q.Checkpoint.commit(); err != nil {
		return nil, err
	}
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	page, err := moments(r.Context(), t, t.Thread, before, min(max(q.Limit, 1), graph.MaxPage))
	out := []any{}
	for i := range page {
		out = append(out, page[i].shown(t.Thread))
	}
	return out, err
}

type stateUpdate struct {
	Values       json.RawMessage `json:"values"`
	AsNode       string          `json:"as_node"`
	Checkpoint   *place          `json:"checkpoint"`
	CheckpointID string          `json:"checkpoint_id"`
}

func (s *service) updateState(w http.ResponseWriter, r *http.Request) (any, error) {
	q, err := read[stateUpdate](w, r)
	if err != nil {
		return nil, err
	}
	if q.CheckpointID != "" {
		q.Checkpoint = &place{ID: q.CheckpointID}
	}
	from, err := q.Checkpoint.commit()
	if err != nil {
		return nil, err
	}
	t, err := s.find(r.Context(), r.PathValue("thread"))
	if err != nil {
		return nil, err
	}
	e := untyped.Edit{Thread: t.Thread, As: q.AsNode, From: from}
	if e.Updates, err = updates(q.Values); err != nil {
		return nil, err
	}
	_, at, err := t.Update(r.Context(), e)
	if err != nil && strings.Contains(err.Error(), "unknown node") {
		return nil, failed(http.StatusBadRequest, "as_node: there is no node %q", q.AsNode)
	}
	c := checkpoint(t.Thread, at)
	return map[string]any{"checkpoint": c, "configurable": c, "checkpoint_id": commitText(at)}, err
}

// updates are the updates in a body: an object, a list of objects, or null, which changes nothing.
func updates(body json.RawMessage) (list []json.RawMessage, err error) {
	switch {
	case len(body) == 0 || string(body) == "null":
		return []json.RawMessage{[]byte("{}")}, nil
	case json.Unmarshal(body, &list) == nil:
		return list, nil
	case body[0] != '{':
		return nil, errors.New("values: neither an object nor a list of objects")
	}
	return []json.RawMessage{body}, nil
}
