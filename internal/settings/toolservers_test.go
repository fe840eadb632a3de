package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/agent/mcp"
	"example.com/ragflow/longterm"
)

func TestToolServers(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []mcp.Config // nil: refused
	}{
		{"files=mcp-files --root=/srv A=b /x", []mcp.Config{{Name: "files", Command: []string{"mcp-files", "--root=/srv", "A=b", "/x"}}}},
		{
			"web=https://localhost:8931/mcp allow=search allow=a,b\nfiles=/bin/files", []mcp.Config{
				{Name: "web", URL: "https://localhost:8931/mcp", Only: []string{"search", "a", "b"}, Allow: []string{"search", "a", "b"}},
				{Name: "files", Command: []string{"/bin/files"}},
			},
		},
		{"mcp-files /srv", nil},
		{"files=", nil},
		{"files=./mcp-files", nil}, // of the working folder, whose ever that is
		{"files=../bin/mcp-files", nil},
		{"files=a files=b", nil},
		{"a_b=c", nil},
		{"web=http://user:secret@host/", nil},
		{"web=file:///etc/passwd", nil},
		{"web=http://host/ argument", nil},
		{"allow=x", nil},
	} {
		var got []mcp.Config
		if ok := toolServers(&got)(tt.text); ok != (tt.want != nil) {
			t.Errorf("%q: allowed is %v", tt.text, ok)
		} else if ok && cmp.Diff(tt.want, got) != "" {
			t.Errorf("%q: %s", tt.text, cmp.Diff(tt.want, got))
		}
	}
}

// In the file a server is a line, and a file of a project sets it only once it is trusted.
func TestToolServersOfFile(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "project", projectDir, configName)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("mcp_servers:\n  files: mcp-files /srv allow=read\n  web: http://localhost/mcp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in := Input{Dir: filepath.Join(home, "project"), Env: map[string]string{"XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "SMART_LLM_MODEL": "x"}}
	s, _, err := Load(in)
	if err != nil || len(s.Models.Servers) > 0 {
		t.Fatalf("%+v, %v", s.Models.Servers, err)
	}
	if err := s.CheckTrust(); err == nil || !strings.Contains(err.Error(), "sets mcp_servers, and you have not trusted this file") {
		t.Errorf("got %v", err)
	}
	if _, err := s.Trust(); err != nil {
		t.Fatal(err)
	}
	if s, _, err = Load(in); err != nil || len(s.Models.Servers) != 2 || s.Models.Servers[0].Command[1] != "/srv" || s.Models.Servers[1].URL != "http://localhost/mcp" {
		t.Errorf("%+v, %v", s.Models.Servers, err)
	}
}

// Facts lie beside the threads: in the data folder, or on the server of RAGFLOW_STORE.
func TestMemoryBesideThreads(t *testing.T) {
	dir := t.TempDir()
	s := &Settings{Models: &Models{}}
	s.Config.DataDir = dir
	facts, err := s.OpenMemory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := facts.Put(t.Context(), longterm.Namespace{"me"}, "a", "b"); err != nil {
		t.Error(err)
	}
	if err := facts.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, MemoryFile)); err != nil {
		t.Error(err)
	}
	if server := os.Getenv("RAGFLOW_TEST_POSTGRES"); server != "" {
		s.Models.store = server
		facts, err := s.OpenMemory(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		place := longterm.Namespace{"test", t.Name()}
		if err := errors.Join(facts.Put(t.Context(), place, "a", "b"), facts.Delete(t.Context(), place, "a"), facts.Close()); err != nil {
			t.Error(err)
		}
	}
	s.Models.store = "postgres://ann:planted@127.0.0.1:1/app"
	if _, err := s.OpenMemory(t.Context()); err == nil || strings.Contains(err.Error(), "planted") {
		t.Errorf("got %v", err)
	}
}
