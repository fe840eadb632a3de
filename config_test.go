package ragflow_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

func TestCollectionName(t *testing.T) {
	dir := t.TempDir()
	if _, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, Collection: "../x"}); !errors.Is(err, ingest.ErrCollectionName) {
		t.Errorf("open: %v", err)
	}
}

func TestDictionaryFile(t *testing.T) { // Q05
	dir := t.TempDir()
	write := func(name, content string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	docs := write("time.md", "# Holiday\n\nEverybody has 26 days of holiday.\n")
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Dictionary: filepath.Join(dir, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	bad := write("bad.txt", "leave\n")
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Dictionary: bad}); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a bad file: %v, want the line", err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}, Dictionary: write("good.txt", "leave: holiday, time off\n")})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	reply, err := a.Ask(t.Context(), ragflow.Question{Text: "How much leave is there?"})
	if err != nil || len(reply.Retrieved) == 0 || reply.Retrieved[0].Source != "time.md" {
		t.Errorf("found %+v, %v, want the page that says holiday", reply, err)
	}
}

func TestRetrievalIsChecked(t *testing.T) {
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Preset: "best"}); err == nil || !strings.Contains(err.Error(), `preset "best" is not one of balanced,`) {
		t.Errorf("unknown preset: %v", err)
	}
}

// TestConfigOfAssistant is that of Open, with the defaults.
func TestConfigOfAssistant(t *testing.T) {
	t.Parallel()
	a, err := ragflow.Open(t.Context(), ragflow.Config{Settings: ragflow.Settings{TopK: 7}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	if c := a.Config(); c.Settings.TopK != 7 || c.Workers == 0 || c.Clock == nil {
		t.Errorf("%+v", c)
	}
}
