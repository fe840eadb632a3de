package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/door"
)

func (s *service) stateRoutes() []door.Route {
	return []door.Route{
		onThread(s, "GET /threads/{thread}/state", getState), onThread(s, "GET /threads/{thread}/state/{checkpoint}", getState),
		onThread(s, "POST /threads/{thread}/state/checkpoint", getState), onThread(s, "POST /threads/{thread}/state", updateState),
		onThread(s, "GET /threads/{thread}/history", history), onThread(s, "POST /threads/{thread}/history", history),
	}
}

// place is a commit. Clients name it by its id, as a checkpoint, or as a configuration; 0 is none.
type place graph.CommitID

func (p *place) UnmarshalJSON(body []byte) (err error) {
	var named struct {
		Namespace    string `json:"checkpoint_ns"`
		ID           string `json:"checkpoint_id"`
		Configurable place  `json:"configurable"`
	}
	if json.Unmarshal(body, &named.ID) != nil {
		err = json.Unmarshal(body, &named)
	}
	if named.Namespace != "" {
		return unsupported("checkpoint_ns")
	}
	if *p = named.Configurable; err == nil && named.ID != "" {
		*p, err = placeOf(named.ID)
	}
	return err
}

// placeOf is the inverse of commitText.
func placeOf(id string) (place, error) {
	if id == "" {
		return 0, nil
	}
	at, err := strconv.ParseInt(id, 10, 64)
	if err != nil || at <= 0 {
		return 0, door.Errorf(http.StatusNotFound, "there is no checkpoint %q", id)
	}
	return place(at), nil
}

type stateQuery struct {
	Checkpoint place `json:"checkpoint"`
	Subgraphs  bool  `json:"subgraphs"`
}

func getState(c *call, t *found, q *stateQuery) (any, error) {
	at, err := placeOf(c.PathValue("checkpoint"))
	if at = cmp.Or(at, q.Checkpoint); err == nil && at == 0 && t.blank() {
		return noState(), nil
	}
	if err != nil {
		return nil, err
	}
	m, err := momentAt(c.Context(), t, cmp.Or(graph.CommitID(at), t.Head))
	if err != nil {
		return nil, err
	}
	return m.shown(t.Thread), nil
}

type historyQuery struct {
	Limit      int             `json:"limit"`
	Before     place           `json:"before"`
	Checkpoint place           `json:"checkpoint"`
	Metadata   json.RawMessage `json:"metadata"`
}

func history(c *call, t *found, q *historyQuery) (any, error) {
	if !isNull(q.Metadata) && string(q.Metadata) != "{}" {
		return nil, unsupported("metadata")
	}
	query := c.URL.Query() // of GET
	if n := query.Get("limit"); n != "" {
		var err error
		if q.Limit, err = strconv.Atoi(n); err != nil {
			return nil, invalid("limit: %q is no number", n)
		}
	}
	before, err := placeOf(query.Get("before"))
	if err != nil {
		return nil, err
	}
	list, err := moments(c.Context(), t, graph.CommitID(cmp.Or(before, q.Before)), min(max(q.Limit, 1), graph.MaxPage))
	out := []any{}
	for _, m := range list {
		out = append(out, m.shown(t.Thread))
	}
	return out, err
}

type stateUpdate struct {
	Values       json.RawMessage `json:"values"`
	AsNode       string          `json:"as_node"`
	Checkpoint   place           `json:"checkpoint"`
	CheckpointID place           `json:"checkpoint_id"`
}

func updateState(c *call, t *found, q *stateUpdate) (any, error) {
	changes, err := updates(q.Values)
	if err != nil {
		return nil, err
	}
	e := untyped.Edit{Thread: t.Thread, As: q.AsNode, From: graph.CommitID(cmp.Or(q.CheckpointID, q.Checkpoint)), Updates: changes}
	_, at, err := t.Update(c.Context(), e)
	if err != nil && strings.Contains(err.Error(), "unknown node") {
		return nil, door.Errorf(http.StatusBadRequest, "as_node: there is no node %q", q.AsNode)
	}
	made := checkpoint(t.Thread, at)
	return map[string]any{"checkpoint": made, "configurable": made, "checkpoint_id": commitText(at)}, err
}

// updates are the updates in a body: an object, a list of objects, or null, which changes nothing.
func updates(body json.RawMessage) (list []json.RawMessage, err error) {
	switch {
	case isNull(body):
		return []json.RawMessage{[]byte("{}")}, nil
	case json.Unmarshal(body, &list) == nil:
		return list, nil
	case body[0] != '{':
		return nil, invalid("values: neither an object nor a list of objects")
	}
	return []json.RawMessage{body}, nil
}

// moment is the state after a commit, with the commits that are seen before and after it.
type moment struct {
	graph.Moment[json.RawMessage]

	parent graph.CommitID // 0: none
	later  *graph.Commit  // nil: it is the newest
}

// hidden reports whether a commit is no checkpoint: the one that made the thread, and one whose state
// the next commit only closes.
func hidden(c graph.Commit, next *graph.Commit) bool {
	made := c.Source == graph.SourceUpdate && c.Parent == 0 && c.BodyBytes() == 0
	return made || next != nil && next.Source == graph.SourceClose && next.Run == c.Run && next.Step == c.Step && c.Source != graph.SourceClose
}

// moments returns up to n moments of a thread before a commit, newest first; 0 is all. The newest of all has the whole state,
// and the others what [untyped.Runner.History] has.
func moments(ctx context.Context, t *found, before graph.CommitID, n int) ([]moment, error) {
	out, err := visible(ctx, t, before, nil, n)
	if err == nil && before == 0 && len(out) > 0 {
		out[0].State, err = t.StateAt(ctx, t.Thread, out[0].Commit.ID)
	}
	return out, err
}

// visible returns moments as the history has them, without those that are no checkpoint. later is the commit before
// which they are; nil if it does not matter.
func visible(ctx context.Context, t *found, before graph.CommitID, later *graph.Commit, n int) (out []moment, err error) {
	for len(out) <= n { // one more knows the parent of the last one
		some, err := t.History(ctx, t.Thread, before, n+2)
		if err != nil || len(some) == 0 {
			return out, err
		}
		for i := range some {
			c := &some[i].Commit
			if !hidden(*c, later) {
				if len(out) > 0 {
					out[len(out)-1].parent = c.ID
				}
				out = append(out, moment{Moment: some[i], later: later})
			}
			later, before = c, c.ID
		}
	}
	return out[:n], nil
}

// momentAt returns the moment of one commit.
func momentAt(ctx context.Context, t *found, at graph.CommitID) (m moment, err error) {
	if m.Commit, err = commitAt(ctx, t, t.Thread, at); err != nil {
		return m, err
	}
	older, err := visible(ctx, t, at, &m.Commit, 1)
	if err != nil {
		return m, err
	}
	for _, parent := range older {
		m.parent = parent.Commit.ID
	}
	m.State, err = t.StateAt(ctx, t.Thread, at)
	return m, err
}

// shown is a moment as clients know a state.
func (m *moment) shown(thread string) map[string]any {
	c := m.Commit
	open := questions(c)
	tasks := []any{}
	for _, node := range c.Frontier {
		t := map[string]any{
			"id": taskID(c.Run, c.Step+1, "", node), "name": node, "path": []string{"__pregel_pull", node}, "error": nil,
			"interrupts": interrupts(askedBy(open, node)), "checkpoint": nil, "state": nil, "result": m.result(node),
		}
		if c.Source == graph.SourceClose && len(open) == 0 && c.Error != "" {
			t["error"] = c.Error
		}
		tasks = append(tasks, t)
	}
	out := noState()
	out["values"], out["next"], out["tasks"], out["interrupts"] = valuesOf(m.State), append([]string{}, c.Frontier...), tasks, interrupts(open)
	out["metadata"] = map[string]any{"source": sourceOf(c.Source), "step": c.Step, "parents": struct{}{}, "run_id": c.Run, "thread_id": thread}
	out["created_at"], out["checkpoint"], out["checkpoint_id"] = stamp(c.Time), checkpoint(thread, c.ID), commitText(c.ID)
	if m.parent != 0 {
		out["parent_checkpoint"], out["parent_checkpoint_id"] = checkpoint(thread, m.parent), commitText(m.parent)
	}
	return out
}

// result is the update of a node that the next commit saved; nil if there is none.
func (m *moment) result(node string) any {
	if m.later == nil || m.later.Run != m.Commit.Run || m.later.Source != graph.SourceLoop {
		return nil
	}
	for _, d := range m.later.Deltas {
		if d.Path == "" && d.Node == node && d.Error == "" {
			return bodyOf(d)
		}
	}
	return nil
}

// sourceOf is what clients call the cause of a commit.
func sourceOf(s graph.Source) string {
	switch s {
	case graph.SourceInput, graph.SourceLoop, graph.SourceFork:
		return string(s)
	case graph.SourceClose:
		return string(graph.SourceLoop)
	default:
		return string(graph.SourceUpdate)
	}
}

// noState is the state of a thread without a run.
func noState() map[string]any {
	return map[string]any{
		"values": struct{}{}, "next": []string{}, "tasks": []any{}, "metadata": nil, "created_at": nil, "checkpoint": nil,
		"parent_checkpoint": nil, "interrupts": []any{}, "checkpoint_id": nil, "parent_checkpoint_id": nil,
	}
}
