package graphtest

import (
	"context"
	"encoding/json"
	"testing"

	"example.com/ragflow/graph"
)

// deleter is a store that deletes threads; it is no part of [graph.Store].
type deleter interface {
	Delete(ctx context.Context, threads ...string) error
}

// langGraphClauses are those of langgraph-checkpoint-conformance 0.0.2 that no other topic has,
// under their names. A checkpoint is a commit here, its channel values the fold of all deltas, a
// namespace the path of a delta, and a write a pending result. The table in README.md has all.
func langGraphClauses() []clause {
	deletes := clause{"delete_thread_removes_checkpoints, _removes_writes, _removes_all_namespaces, _preserves_other_threads, _nonexistent_noop, prune_delete_all", deleteThread}
	return append(append(putClauses(), listClauses()...), deletes)
}

type values map[string]any

// put commits values; nil removes one. It returns the commit.
func (w *writer) put(v values, change func(*graph.Commit)) graph.CommitID {
	w.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		w.t.Fatal(err)
	}
	d := delta("n", 0)
	d.Body = body
	b := batch(d)
	if change != nil {
		change(&b.Commit)
	}
	return w.commit(b)
}

// fold returns the values of thread t after a commit; 0: after the newest.
func fold(t *testing.T, s graph.Store, at graph.CommitID) values {
	t.Helper()
	out := values{}
	_, deltas := load(t, s, "t", at)
	for _, d := range deltas {
		if d.Path != "" {
			continue
		}
		if err := json.Unmarshal(d.Body, &out); err != nil {
			t.Fatal(err)
		}
	}
	for k, v := range out {
		if v == nil {
			delete(out, k)
		}
	}
	return out
}

// in returns the bodies of the newest commit's deltas at a path.
func in(t *testing.T, s graph.Store, thread, path string) (bodies []string) {
	t.Helper()
	for _, d := range walk(t, s, thread, 0)[0].Deltas {
		if d.Path == path {
			bodies = append(bodies, string(d.Body))
		}
	}
	return bodies
}

// twoPaths commits one delta at the root and one in a subgraph.
func (w *writer) twoPaths() graph.CommitID {
	w.t.Helper()
	child := delta("child", 1)
	child.Path = "sub/a#1"
	return w.commit(batch(delta("root", 0), child))
}

func putClauses() []clause {
	return []clause{
		{"put_preserves_channel_values", func(t *testing.T, s graph.Store) {
			want := values{"str": "hello", "int": 42.0, "list": []any{1.0, 2.0, 3.0}, "dict": map[string]any{"nested": true}}
			id := hold(t, s, "t").put(want, nil)
			wantEqual(t, "values", fold(t, s, id), want)
		}},
		{"put_preserves_metadata, put_preserves_run_id, get_tuple_metadata", func(t *testing.T, s graph.Store) {
			custom := []graph.Detail{{Key: "custom_key", Value: "custom_value"}}
			hold(t, s, "t").put(nil, func(c *graph.Commit) {
				c.Source, c.Step, c.Run, c.Deltas[0].Notes.Details = graph.SourceLoop, 3, "run 1", custom
			})
			c := walk(t, s, "t", 0)[0]
			wantEqual(t, "metadata", []any{c.Source, c.Step, c.Run, c.Deltas[0].Notes.Details}, []any{graph.SourceLoop, 3, "run 1", custom})
		}},
		{"put_root_namespace, put_child_namespace, put_default_namespace, get_tuple_respects_namespace", func(t *testing.T, s graph.Store) {
			hold(t, s, "t").twoPaths()
			wantEqual(t, "root", in(t, s, "t", ""), []string{`{"by":"root"}`})
			wantEqual(t, "child", in(t, s, "t", "sub/a#1"), []string{`{"by":"child"}`})
		}},
		{"put_multiple_checkpoints_same_thread, get_tuple_specific_checkpoint_id, get_tuple_latest_when_no_checkpoint_id", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for i := range 3 {
				w.put(values{"n": i}, nil)
			}
			for i, c := range walk(t, s, "t", 0) {
				wantEqual(t, "values", fold(t, s, c.ID), values{"n": float64(2 - i)})
			}
			wantEqual(t, "newest", fold(t, s, 0), values{"n": 2.0})
		}},
		{"put_incremental_channel_update, put_new_channel_added, put_channel_removed", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			first := w.put(values{"a": "v1", "b": "v2"}, nil)
			second := w.put(values{"a": "v1_updated"}, nil)
			third := w.put(values{"c": "new_channel"}, nil)
			fourth := w.put(values{"b": nil}, nil)
			for at, want := range map[graph.CommitID]values{
				first:  {"a": "v1", "b": "v2"},
				second: {"a": "v1_updated", "b": "v2"},
				third:  {"a": "v1_updated", "b": "v2", "c": "new_channel"},
				fourth: {"a": "v1_updated", "c": "new_channel"},
			} {
				wantEqual(t, "values", fold(t, s, at), want)
			}
		}},
		{"put_writes_multiple_writes_same_task, put_writes_multiple_tasks, put_writes_special_channels", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			two, failed := result("a", 0), result("b", 1)
			two.Delta.Body = []byte(`{"one":1,"two":2}`)
			failed.Delta.Body, failed.Delta.Error = nil, "something went wrong"
			w.pend(two)
			w.pend(failed)
			wantEqual(t, "pending", pendingOf(t, s, "t"), []graph.TaskResult{two, failed})
		}},
	}
}

func listClauses() []clause {
	// filled has four commits, by turns of an input and a step.
	filled := func(t *testing.T, s graph.Store) (ids []graph.CommitID) {
		t.Helper()
		w := hold(t, s, "t")
		for i := range 4 {
			ids = append(ids, w.put(nil, func(c *graph.Commit) {
				c.Step = i
				if i%2 == 0 {
					c.Source = graph.SourceInput
				}
				c.Deltas[0].Notes.Details = []graph.Detail{{Key: "score", Value: string(rune('0' + i))}}
			}))
		}
		return ids
	}
	// list is what a caller does: it takes up to limit commits that it wants.
	list := func(t *testing.T, s graph.Store, from graph.CommitID, limit int, wanted func(graph.Commit) bool) (ids []graph.CommitID) {
		t.Helper()
		for c, err := range s.Walk(t.Context(), "t", from) {
			if err != nil {
				t.Fatal(err)
			}
			if wanted == nil || wanted(c) {
				ids = append(ids, c.ID)
			}
			if len(ids) == limit {
				break
			}
		}
		return ids
	}
	return []clause{
		{"list_by_namespace, list_multiple_namespaces", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.put(nil, nil)
			id := w.twoPaths()
			child := func(c graph.Commit) bool { return c.Deltas[len(c.Deltas)-1].Path != "" }
			wantEqual(t, "child", list(t, s, 0, 9, child), []graph.CommitID{id})
		}},
		{"list_metadata_filter_single_key, list_metadata_filter_step, list_metadata_filter_multiple_keys, list_metadata_filter_no_match, " +
			"list_metadata_custom_keys, list_combined_thread_and_filter", func(t *testing.T, s graph.Store) {
			ids := filled(t, s)
			filter := func(source graph.Source, step int, score string) []graph.CommitID {
				return list(t, s, 0, 9, func(c graph.Commit) bool {
					return (source == "" || c.Source == source) && (step < 0 || c.Step == step) && (score == "" || c.Deltas[0].Notes.Details[0].Value == score)
				})
			}
			wantEqual(t, "source", filter(graph.SourceInput, -1, ""), []graph.CommitID{ids[2], ids[0]})
			wantEqual(t, "step", filter("", 1, ""), []graph.CommitID{ids[1]})
			wantEqual(t, "source and step", filter(graph.SourceInput, 2, ""), []graph.CommitID{ids[2]})
			wantEqual(t, "nothing", filter(graph.SourceUpdate, 99, ""), nil)
			wantEqual(t, "custom key", filter("", -1, "3"), []graph.CommitID{ids[3]})
		}},
		{"list_before, list_limit, list_limit_plus_before", func(t *testing.T, s graph.Store) {
			ids := filled(t, s)
			before := walk(t, s, "t", ids[2])[0].Parent
			wantEqual(t, "before", list(t, s, before, 9, nil), []graph.CommitID{ids[1], ids[0]})
			wantEqual(t, "limit", list(t, s, 0, 2, nil), []graph.CommitID{ids[3], ids[2]})
			wantEqual(t, "limit and before", list(t, s, before, 1, nil), []graph.CommitID{ids[1]})
		}},
	}
}

// deleteThread is five clauses at once.
func deleteThread(t *testing.T, s graph.Store) {
	d, ok := s.(deleter)
	if !ok {
		t.Skip("the store deletes nothing")
	}
	for _, name := range []string{"t", "other"} {
		w := hold(t, s, name)
		w.twoPaths()
		w.pend(result("n", 0))
		w.release()
	}
	if err := d.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Head(t.Context(), "t")
	wantError(t, "Head", err, graph.ErrNotFound)
	wantEqual(t, "pending", pendingOf(t, s, "t"), nil)
	wantEqual(t, "bodies of the other", len(in(t, s, "other", "sub/a#1")), 1)
	wantEqual(t, "pending of the other", len(pendingOf(t, s, "other")), 1)
	wantError(t, "Delete again", d.Delete(t.Context(), "t"), graph.ErrNotFound) // no error upstream
}
