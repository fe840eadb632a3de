package graphtest

import (
	"encoding/json"
	"strings"
	"testing"

	"example.com/ragflow/graph"
)

// bodies are JSON texts that must come back byte for byte.
func bodies() map[string]string {
	long := strings.Repeat("All work and no play makes a dull thread. ", 40)
	quoted, _ := json.Marshal(long) // a string always encodes
	return map[string]string{
		"null":                  `null`,
		"scalar":                `true`,
		"short string":          `"x"`,
		"empty string":          `""`,
		"white space":           " {\n\t\"a\" : [ 1 , 2 ]\r\n} ",
		"numbers as written":    `[1e2,100,1.0,-0,0.1e-7,12345678901234567890123456789,1E+400]`,
		"equal names":           `{"a":1,"a":2}`,
		"long string":           `{"text":` + string(quoted) + `}`,
		"NUL":                   `"\u0000"`,
		"Unicode":               `"żółć, 日本語, ภาษาไทย, 🦀"`,
		"long Unicode":          `"` + strings.Repeat("日本語 🦀 ", 60) + `"`,
		"escaped as web pages":  `"\u003cb\u003e ` + strings.Repeat("\\u0026", 60) + `"`,
		"not escaped":           `"<b> & ` + strings.Repeat("</b>", 80) + `"`,
		"escapes of many kinds": `"` + strings.Repeat(`\"\\\/\b\f\n\r\t\u00e9`, 20) + `"`,
		"half of a surrogate":   `"\ud800 ` + strings.Repeat("x", 300) + `"`,
		"line separators":       "\"\u2028\u2029" + strings.Repeat("x", 300) + `"`,
		"backslash at the end":  `{"a":"` + strings.Repeat("x", 300) + `\\","b":"\\"}`,
		"nested":                strings.Repeat(`[{"a":`, 200) + `"x"` + strings.Repeat(`}]`, 200),
		"one megabyte":          `{"big":"` + strings.Repeat("0123456789abcdef", 1<<16) + `"}`,
	}
}

func contentClauses() []clause {
	var clauses []clause
	for name, body := range bodies() {
		clauses = append(clauses, clause{"body: " + name, func(t *testing.T, s graph.Store) { keepsBody(t, s, body) }})
	}
	clauses = append(clauses, []clause{
		{"an empty body comes back as nil", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch(graph.Delta{Node: "a", Body: []byte{}}, graph.Delta{Node: "b", Rank: 1}))
			_, deltas := load(t, s, "t", 0)
			wantEqual(t, "deltas", deltas, []graph.Delta{{Node: "a"}, {Node: "b", Rank: 1}})
		}},
		{"bodies that are not JSON in UTF-8 are refused", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for _, body := range []string{" ", "{", "nil", `{"a":1}{"b":2}`, "\"\xff\"", "\"\xed\xa0\x80\"", "\"\x01\"", "\"\x00\"", "\x00", "\xef\xbb\xbf{}"} {
				d := delta("n", 0)
				d.Body = []byte(body)
				if _, err := s.Commit(t.Context(), w.lease, batch(d)); err == nil {
					t.Errorf("body %q was accepted", body)
				}
				if _, err := s.Commit(t.Context(), w.lease, withSnapshot(batch(), body)); err == nil {
					t.Errorf("snapshot %q was accepted", body)
				}
			}
			_, err := s.Head(t.Context(), "t")
			wantError(t, "Head", err, graph.ErrNotFound)
		}},
		{"names that are not UTF-8 are refused", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			bad := "\xff"
			for name, change := range map[string]func(*graph.Batch){
				"run":         func(b *graph.Batch) { b.Run = bad },
				"source":      func(b *graph.Batch) { b.Source = graph.Source(bad) },
				"status":      func(b *graph.Batch) { b.Status = graph.Status(bad) },
				"fingerprint": func(b *graph.Batch) { b.Fingerprint = bad },
				"frontier":    func(b *graph.Batch) { b.Frontier = []string{"ok", bad} },
				"node":        func(b *graph.Batch) { b.Deltas[0].Node = bad },
				"path":        func(b *graph.Batch) { b.Deltas[0].Path = bad },
			} {
				b := batch(delta("n", 0))
				change(&b)
				if _, err := s.Commit(t.Context(), w.lease, b); err == nil {
					t.Errorf("%s was accepted", name)
				}
			}
			if _, err := s.Acquire(t.Context(), bad, graph.AcquireOptions{Owner: "a", TTL: long}); err == nil {
				t.Error("thread was accepted")
			}
		}},
		{"error texts are kept, broken bytes replaced", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			d := graph.Delta{Node: "n", Error: "bad \xff byte\nand a line " + strings.Repeat("x", 5000)}
			b := batch(d)
			b.Error = "bad \xff byte"
			w.commit(b)
			c := walk(t, s, "t", 0)[0]
			wantEqual(t, "error", c.Error, "bad \uFFFD byte")
			wantEqual(t, "delta's error", c.Deltas[0].Error, strings.ReplaceAll(d.Error, "\xff", "\uFFFD"))
		}},
		{"unusual names", func(t *testing.T, s graph.Store) {
			for _, name := range []string{" ", "a b", "'; DROP TABLE threads; --", "日本語", "\x01", "a\nb", strings.Repeat("n", 5000), "%s", "\\", "\""} {
				w := hold(t, s, name)
				b := batch(graph.Delta{Node: name, Path: name, Body: []byte(`1`)})
				b.Run, b.Fingerprint, b.Frontier = name, name, []string{name, name}
				id := w.commit(b)
				want := b.Commit
				want.ID, want.Thread = id, name
				wantEqual(t, "commits", walk(t, s, name, 0), []graph.Commit{want})
			}
		}},
		{"names differ by case and form", func(t *testing.T, s graph.Store) {
			for _, name := range []string{"Thread", "thread", "e\u0301", "\u00e9", "1", "1.0", "01"} {
				w := hold(t, s, name)
				w.commit(batch())
			}
		}},
	}...)
	return clauses
}

// keepsBody saves a body as a delta, as a result and as a snapshot, twice.
func keepsBody(t *testing.T, s graph.Store, body string) {
	t.Helper()
	w := hold(t, s, "t")
	d := graph.Delta{Node: "n", Body: []byte(body)}
	w.pend(graph.TaskResult{Run: "run", Step: 1, Attempt: 1, Delta: d})
	check := func(what string, got []byte) {
		t.Helper()
		if string(got) != body {
			t.Errorf("%s = %.200q, want %.200q", what, got, body)
		}
	}
	check("pending", pendingOf(t, s, "t")[0].Delta.Body)
	w.commit(batch(d))
	w.commit(batch(d))
	_, deltas := load(t, s, "t", 0)
	check("first delta", deltas[0].Body)
	check("second delta", deltas[1].Body)
	check("walked", walk(t, s, "t", 0)[0].Deltas[0].Body)
	w.commit(withSnapshot(batch(), body))
	snapshot, _ := load(t, s, "t", 0)
	check("snapshot", snapshot.Body)
}
