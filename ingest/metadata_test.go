package ingest_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/ingest"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestMetadataKeepsKinds is C12 and C13: what documents say of themselves comes back from the index with its
// kinds, and is filtered by ranges.
func TestMetadataKeepsKinds(t *testing.T) {
	t.Parallel()
	docs := t.TempDir()
	for name, content := range map[string]string{
		"retry.md": "---\npattern_id: P-07\nconfidence: 0.92\nsuccess_rate: 1.50\nusage_count: 40\nlast_used: 2024-05-01\ntags: [net, 7, true]\n" +
			"active: true\nquoted: \"7\"\nhex: 0x1F\nowner: {name: Ann, level: 3}\nnothing:\n---\n# Retry\n\nA failed call is tried again after a pause.\n",
		"cache.md":           "---\nconfidence: 0.4\nusage_count: 9\nlast_used: 2023-01-31\n---\n# Cache\n\nA failed call is answered from what was kept.\n",
		"plain.md":           "# Plain\n\nA failed call is reported.\n",
		"plain.md.meta.json": `{"usage_count": 100, "tags": ["net"], "big": 12345678901234567890}`,
	} {
		write(t, filepath.Join(docs, name), content)
	}
	want := map[string]string{
		"retry.md": `{"active":true,"confidence":0.92,"hex":"0x1F","last_used":"2024-05-01","owner":{"level":3,"name":"Ann"},"pattern_id":"P-07","quoted":"7","success_rate":1.50,"tags":["net",7,true],"usage_count":40}`,
		"cache.md": `{"confidence":0.4,"last_used":"2023-01-31","usage_count":9}`,
		"plain.md": `{"big":12345678901234567890,"tags":["net"],"usage_count":100}`,
	}
	l := open(t, t.TempDir(), ingest.Options{Docs: []string{docs}})
	syncAll(t, l)
	snapshot, err := l.index.Snapshot(t.Context(), l.View().Roots...)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := search.New(t.Context(), snapshot, search.Options{})
	if err != nil {
		t.Fatal(err)
	}
	filtered := func(conditions ...string) map[string]string {
		t.Helper()
		var f state.Filter
		for _, c := range conditions {
			if err := f.Add(c); err != nil {
				t.Fatal(err)
			}
		}
		l, err := engine.List(t.Context(), state.Query{Text: "failed call", Weight: 1}, search.Request{Filter: f})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, h := range l.Hits {
			said, err := json.Marshal(h.Chunk.Metadata)
			if err != nil {
				t.Fatal(err)
			}
			out[h.Chunk.Source] = string(said)
		}
		return out
	}
	if d := cmp.Diff(want, filtered()); d != "" {
		t.Error(d)
	}
	for condition, source := range map[string]string{
		"confidence>0.5": "retry.md", "success_rate=1.50": "retry.md", "usage_count<10": "cache.md", "usage_count>=100": "plain.md",
		"last_used<2024": "cache.md", "tags=7": "retry.md", "active=true": "retry.md", "quoted>=7": "retry.md",
	} {
		got := filtered(condition)
		if _, ok := got[source]; !ok || len(got) != 1 {
			t.Errorf("%s finds %v, want %s alone", condition, got, source)
		}
	}
}
