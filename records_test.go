package ragflow_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/search"
)

// records yields records, and then an error where there is one.
func records(all []ingest.Record, err error) iter.Seq2[ingest.Record, error] {
	return func(yield func(ingest.Record, error) bool) {
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
		if err != nil {
			yield(ingest.Record{}, err)
		}
	}
}

// TestIndexRecords makes a collection, interrupts it, goes on and changes it.
func TestIndexRecords(t *testing.T) {
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	all := []ingest.Record{
		{ID: "d 1", Title: "Volumes", Text: "A volume keeps data."}, {ID: "d2", Text: "Ports are published."}, {ID: "d3", Title: "Birds and worms"},
	}
	broken := errors.New("line 4 is broken")
	if _, err := a.Library().PutRecords(t.Context(), "corpus", 3, records(all, broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want that of the sequence", err)
	}
	report, err := a.Library().PutRecords(t.Context(), "corpus", 3, records(all, nil))
	if err != nil || report.Files != 3 || report.Added != 3 {
		t.Fatalf("%+v, %v; want three files", report, err)
	}
	for query, want := range map[string]string{"volumes": "d 1", "published port": "d2", "worms": "d3"} {
		reply, err := a.Search(t.Context(), query, ragflow.SearchOptions{Request: search.Request{K: 5}})
		if err != nil || len(reply.Hits) != 1 || reply.Hits[0].Source != want {
			t.Errorf("%s: %+v, %v; want %s alone", query, reply, err, want)
		}
	}
	all[1].Text = "Ports are opened."
	report, err = a.Library().PutRecords(t.Context(), "corpus", 2, records(all[:2], nil))
	if err != nil || report.Unchanged != 1 || report.Changed != 1 || report.Removed != 1 || report.Files != 2 {
		t.Errorf("%+v, %v; want one unchanged, one changed, one removed", report, err)
	}
}

// TestIndexRecordsInterrupted keeps what was done before the end of a context.
func TestIndexRecordsInterrupted(t *testing.T) {
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var all []ingest.Record
	for i := range 2500 {
		all = append(all, ingest.Record{ID: strconv.Itoa(i), Text: fmt.Sprintf("document number %d", i)})
	}
	ctx, cancel := context.WithCancel(t.Context())
	taken := 0
	_, err = a.Library().PutRecords(ctx, "corpus", len(all), func(yield func(ingest.Record, error) bool) {
		for _, r := range all {
			if taken++; taken == 2200 {
				cancel()
			}
			if !yield(r, nil) {
				return
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want the end of the context", err)
	}
	report, err := a.Library().PutRecords(t.Context(), "corpus", len(all), records(slices.Clone(all), nil))
	if err != nil || report.Added != 500 || report.Unchanged != 2000 {
		t.Errorf("%+v, %v; want to go on with the rest", report, err)
	}
}
