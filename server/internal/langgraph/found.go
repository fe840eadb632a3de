package langgraph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/server/internal/door"
)

// found is a thread and the graph that it belongs to.
type found struct {
	untyped.Runner
	graph.ThreadInfo

	graph string // that has used the thread or, while none has, the first of the store
	used  bool
}

// blank reports whether a thread was created and nothing else.
func (t *found) blank() bool { return t.Inputs == 0 && t.Bytes == 0 && t.First == t.Head }

// of returns a thread of a store.
func (s *service) of(info graph.ThreadInfo, in threadStore) *found {
	name := info.Metadata["graph_id"]
	if g := s.graphs[name]; g != nil && in.has(g) {
		return &found{g, info, name, true}
	}
	return &found{s.graphs[in.graph], info, in.graph, false}
}

func (s *service) find(ctx context.Context, thread string) (*found, error) {
	for _, in := range s.stores {
		info, err := in.Info(ctx, thread)
		if err == nil {
			return s.of(info, in), nil
		}
		if !errors.Is(err, graph.ErrNotFound) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("thread %q: %w", thread, graph.ErrNotFound)
}

// create makes a thread by a commit that changes nothing, so that any graph can continue it.
func (s *service) create(ctx context.Context, thread string, metadata map[string]any) (*found, error) {
	if err := graph.CheckThread(thread); err != nil {
		return nil, err
	}
	store := s.graphs[s.names[0]].Store()
	if name, ok := metadata["graph_id"].(string); ok && s.graphs[name] != nil {
		store = s.graphs[name].Store()
	}
	lease, err := store.Acquire(ctx, thread, graph.AcquireOptions{})
	if err != nil {
		return nil, err
	}
	if lease.Head == 0 {
		var b graph.Batch
		b.Source, b.Status, b.Run, b.Time = graph.SourceUpdate, graph.Completed, newID(), time.Now()
		b.Deltas = []graph.Delta{{Notes: graph.Notes{Metadata: packed(metadata)}}}
		_, err = store.Commit(ctx, lease, b)
	}
	if err = errors.Join(err, store.Release(ctx, lease)); err != nil {
		return nil, err
	}
	return s.find(ctx, thread)
}

// moved returns a thread that no graph has used in the store of a graph.
func (s *service) moved(ctx context.Context, t *found, name string) (*found, error) {
	if !t.blank() {
		return nil, door.Errorf(http.StatusConflict, "the thread is one of the graph %q", t.graph)
	}
	if err := s.remove(ctx, t.Thread); err != nil {
		return nil, err
	}
	return s.create(ctx, t.Thread, merged(unpacked(t.Metadata), map[string]any{"graph_id": name}))
}

func (s *service) remove(ctx context.Context, thread string) error {
	t, err := s.find(ctx, thread)
	if err != nil {
		return err
	}
	store, ok := t.Store().(interface {
		Delete(ctx context.Context, threads ...string) error
	})
	if !ok {
		return unsupported("the store")
	}
	if err := s.runs.forget(ctx, thread); err != nil {
		return err
	}
	return store.Delete(ctx, thread)
}

const marked = "json:"

// packed is metadata as threads and runs keep it: a text as itself, another value as JSON behind a mark.
func packed(metadata map[string]any) map[string]string {
	out := make(map[string]string, len(metadata))
	for k, v := range metadata {
		text, ok := v.(string)
		if !ok || strings.HasPrefix(text, marked) {
			body, _ := json.Marshal(v) // it was decoded from JSON
			text = marked + string(body)
		}
		out[k] = text
	}
	return out
}

// unpacked is the inverse of packed.
func unpacked(metadata map[string]string) map[string]any {
	out := make(map[string]any, len(metadata))
	for k, text := range metadata {
		out[k] = text
		if body, ok := strings.CutPrefix(text, marked); ok {
			var v any
			if json.Unmarshal([]byte(body), &v) == nil {
				out[k] = v
			}
		}
	}
	return out
}
