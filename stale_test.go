package ragflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
)

// TestChangedWithoutTrace edits a file whose size and time stay. It is answered from as it is
// now, in one turn, by the process that indexed it and by the next.
func TestChangedWithoutTrace(t *testing.T) {
	const question = "When is the pool open?"
	for _, tt := range []struct{ name, page, metadata string }{
		{name: "pool.md", page: "# Pool\n\nThe pool is open from May to September.\n"},
		{name: "pool.html", page: "<html><title>Pool</title><body><h1>Pool</h1><p>The pool is open from May to September.</p></body></html>"},
		{name: "pool.txt", page: "The pool is open from May to September.\n", metadata: "title: Pool\n"},
	} {
		for _, next := range []string{"same process", "next process"} {
			t.Run(tt.name+" "+next, func(t *testing.T) {
				config := ragflow.Config{Docs: pages(t, map[string]string{tt.name: tt.page, "bees.md": "# Bees\n\nThe bees are fed in October.\n"}), DataDir: t.TempDir()}
				path, old := filepath.Join(config.Docs[0], tt.name), time.Now().Add(-time.Hour)
				save := func(text string) {
					t.Helper()
					write(t, path, text)
					if err := os.Chtimes(path, old, old); err != nil {
						t.Fatal(err)
					}
				}
				save(tt.page)
				if tt.metadata != "" {
					write(t, path+".meta.yaml", tt.metadata)
					if err := os.Chtimes(path+".meta.yaml", old, old); err != nil {
						t.Fatal(err)
					}
				}
				a := open(t, config)
				if r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: "t", Trace: true}); err != nil || !strings.Contains(r.Answer, "May") || strings.Contains(r.FlowTraceMD, "changed since indexed") {
					t.Fatalf("%+v, %v", r, err)
				}
				save(strings.Replace(tt.page, "May", "Jan", 1))
				if next == "next process" {
					a = open(t, config)
				}
				var told strings.Builder
				r := streamed(t, a, ragflow.Question{Text: question, Thread: "t", Trace: true}, func(e ragflow.Event) {
					if e.Kind == ragflow.Withdrawn {
						t.Error("text was withdrawn")
					}
					told.WriteString(e.Text)
				})
				if !strings.Contains(r.Answer, "Jan") || told.String() != r.Answer || len(r.Citations) == 0 || r.Citations[0].Changed {
					t.Errorf("answer %q, told %q, citations %+v", r.Answer, told.String(), r.Citations)
				}
				if !strings.Contains(r.FlowTraceMD, "changed since indexed: "+tt.name) {
					t.Errorf("the trace does not say what was read again:\n%s", r.FlowTraceMD)
				}
				thread, err := a.Threads().Thread(t.Context(), "t")
				if err != nil || thread.Turns != 2 {
					t.Errorf("%+v, %v", thread, err)
				}
			})
		}
	}
}

// TestDeletedSinceIndexed: a file that was deleted while the program runs is not answered from.
func TestDeletedSinceIndexed(t *testing.T) {
	config := ragflow.Config{Docs: pages(t, map[string]string{"gate.md": "# Gate\n\nThe code of the gate is 4471.\n", "bees.md": "# Bees\n\nThe bees are fed in October.\n"})}
	a := open(t, config)
	q := ragflow.Question{Text: "What is the code of the gate?"}
	if r, err := a.Ask(t.Context(), q); err != nil || !strings.Contains(r.Answer, "4471") {
		t.Fatalf("%+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(config.Docs[0], "gate.md")); err != nil {
		t.Fatal(err)
	}
	if r, err := a.Ask(t.Context(), q); err != nil || strings.Contains(r.Answer, "4471") {
		t.Fatalf("%+v, %v", r, err)
	}
}
