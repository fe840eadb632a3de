package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// embeddingServer embeds texts by their letters, for any model but "broken".
func embeddingServer(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model string
			Input []string
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || request.Model == "broken" {
			http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
			return
		}
		type item struct {
			Object    string    `json:"object"`
			Index     int       `json:"index"`
			Embedding []float64 `json:"embedding"`
		}
		reply := struct {
			Object string         `json:"object"`
			Model  string         `json:"model"`
			Data   []item         `json:"data"`
			Usage  map[string]int `json:"usage"`
		}{Object: "list", Model: request.Model, Usage: map[string]int{"prompt_tokens": 1, "total_tokens": 1}}
		for i, text := range request.Input {
			v := make([]float64, 26)
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					v[c-'a']++
				}
			}
			reply.Data = append(reply.Data, item{"embedding", i, v})
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// A session with an embedding model, from the first index to another model.
func TestDenseSession(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"oregano.md": "Dry oregano for ten days.", "mint.md": "Mint needs a pot."} {
		if err := os.WriteFile(filepath.Join(docs, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	url := embeddingServer(t)
	for _, step := range []struct {
		name, model, args string
		code              int
		stdout, stderr    []string // parts of them, in any order
	}{
		{
			name: "the model is not there", model: "broken", args: "index " + docs,
			stdout: []string{"indexed 2 files"},
			stderr: []string{`search by meaning is incomplete, 2 of 2 passages without a vector`, `does not know the model "broken"`},
		},
		{name: "index", model: "letters", args: "index " + docs, stdout: []string{"indexed 0 files (2 unchanged)", "embedded 2 passages with letters"}},
		{name: "by meaning", model: "letters", args: "search --leg dense --top-k 1 oregano", stdout: []string{"oregano.md:1"}},
		{name: "by both", model: "letters", args: "search --json oregano", stdout: []string{`"name": "dense"`, `"name": "lexical"`, `"share": 0.3`, `"share": 0.7`}},
		{
			name: "another model", model: "signs", args: "search oregano",
			stdout: []string{"oregano.md:1"},
			stderr: []string{"made by letters (26 dimensions)", "but signs is configured", "ragflow index --rebuild"},
		},
		{
			name: "another model, by meaning alone", model: "signs", args: "search --leg dense oregano", code: exitFailure,
			stderr: []string{"made by letters (26 dimensions)", "hint: make the vectors again: ragflow index --rebuild"},
		},
		{
			name: "index with another model", model: "signs", args: "index " + docs,
			stdout: []string{"2 unchanged"}, stderr: []string{"search by meaning is left out: embed with signs", "but signs is configured"},
		},
		{
			name: "a switch that fails", model: "broken", args: "index --rebuild", code: exitFailure,
			stderr: []string{`does not know the model "broken"`},
		},
		{name: "the old model goes on", model: "letters", args: "search --leg dense --top-k 1 oregano", stdout: []string{"oregano.md:1"}},
		{name: "reindex", model: "signs", args: "index --rebuild", stdout: []string{"embedded 2 passages with signs; 2 passages of 2 found by meaning"}},
		{name: "reindex again", model: "signs", args: "index --rebuild --json", stdout: []string{`"embedded": 0`, `"missing": 0`}},
		{name: "the new model", model: "signs", args: "search --leg dense --top-k 1 mint", stdout: []string{"mint.md:1"}},
	} {
		t.Run(step.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			env := []string{
				"HOME=" + dir, "RAGFLOW_DATA_DIR=" + filepath.Join(dir, "data"),
				"EMBEDDING_MODEL=" + step.model, "EMBEDDING_BASE_URL=" + url,
			}
			code := run(t.Context(), strings.Fields(step.args), strings.NewReader(""), &stdout, &stderr, env)
			if code != step.code {
				t.Errorf("exit code %d, want %d", code, step.code)
			}
			for _, want := range step.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("%q is not on standard output", want)
				}
			}
			for _, want := range step.stderr {
				if !strings.Contains(stderr.String(), want) {
					t.Errorf("%q is not on standard error", want)
				}
			}
			if len(step.stderr) == 0 && stderr.Len() > 0 || t.Failed() {
				t.Errorf("standard output:\n%s\nstandard error:\n%s", &stdout, &stderr)
			}
		})
	}
}
