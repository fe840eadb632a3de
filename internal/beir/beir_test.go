package beir_test

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/beir"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name, ".gz") {
		packed := gzip.NewWriter(f)
		_, err = packed.Write([]byte(text))
		if err == nil {
			err = packed.Close()
		}
	} else {
		_, err = f.WriteString(text)
	}
	if err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return path
}

func TestRecords(t *testing.T) {
	path := write(t, "corpus.jsonl.gz", "{\"_id\": \"d1\", \"title\": \"A\", \"text\": \"a\"}\n\n{\"_id\": 7, \"text\": \"b\"}\n{broken\n")
	var got []beir.Record
	var failed error
	for r, err := range beir.Records(path) {
		if failed = err; err == nil {
			got = append(got, r)
		}
	}
	want := []beir.Record{{ID: "d1", Title: "A", Text: "a"}, {ID: "7", Text: "b"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	if failed == nil || !strings.Contains(failed.Error(), "corpus.jsonl.gz:4: ") {
		t.Errorf("the broken line gives %v, want its place", failed)
	}
	for r, err := range beir.Records(path) { // a loop may end early
		if r.ID != "d1" || err != nil {
			t.Errorf("the first record is %q, %v", r.ID, err)
		}
		break
	}
}

func TestQueries(t *testing.T) {
	queries := write(t, "queries.jsonl", "{\"_id\": \"q1\", \"text\": \"one\"}\n{\"_id\": \"q2\", \"text\": \"two\"}\n")
	qrels := write(t, "qrels.tsv", "query-id\tcorpus-id\tscore\nq2\ta page\t2\nq2\tother\t0\nq1\tother\t0\n")
	got, err := beir.Queries(queries, qrels)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]beir.Query{{ID: "q2", Text: "two", Gains: map[string]int{"a page": 2}}}, got); diff != "" {
		t.Errorf("queries (-want +got):\n%s", diff)
	}
	if all, err := beir.Queries(queries, ""); err != nil || len(all) != 2 {
		t.Errorf("%d queries without judgements, %v; want 2", len(all), err)
	}
	if _, err := beir.Queries(queries, write(t, "qrels.tsv", "q1 d1 1\n")); err == nil {
		t.Error("a line without tabs is read")
	}
}
