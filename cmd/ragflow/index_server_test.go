package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestIntegrationServer runs the commands on the servers that scripts/servers/weaviate and
// scripts/servers/pgvector start.
func TestIntegrationServer(t *testing.T) {
	name := fmt.Sprintf("Cmd%d", time.Now().UnixNano())
	host, query, _ := strings.Cut(os.Getenv("RAGFLOW_TEST_WEAVIATE"), "?")
	for _, s := range []struct{ script, variable, address, down string }{
		{"weaviate", "RAGFLOW_TEST_WEAVIATE", host + "/" + name + "?" + query, "weaviate://127.0.0.1:1"},
		{"pgvector", "RAGFLOW_TEST_PGVECTOR", os.Getenv("RAGFLOW_TEST_PGVECTOR") + "&search_path=" + name, "postgres://ragflow:secret@127.0.0.1:1/db"},
	} {
		t.Run(s.script, func(t *testing.T) {
			if os.Getenv(s.variable) == "" {
				t.Skipf("no server: run scripts/servers/%s start, and set the variable it writes", s.script)
			}
			testscript.Run(t, testscript.Params{
				Dir: "testdata/server", RequireExplicitExec: true,
				Setup: func(e *testscript.Env) error {
					e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
					e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "home", "data"))
					e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
					e.Setenv("RAGFLOW_INDEX", s.address)
					e.Setenv("DOWN", s.down)
					return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits},
			})
		})
	}
}
