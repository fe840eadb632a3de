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

// TestIntegrationWeaviate runs the commands on the server that scripts/servers/weaviate starts.
func TestIntegrationWeaviate(t *testing.T) {
	server := os.Getenv("RAGFLOW_TEST_WEAVIATE")
	if server == "" {
		t.Skip("no Weaviate: run scripts/servers/weaviate start, and set the variable it writes")
	}
	host, query, _ := strings.Cut(server, "?")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/weaviate", RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "home", "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			e.Setenv("RAGFLOW_INDEX", fmt.Sprintf("%s/Cmd%d?%s", host, time.Now().UnixNano(), query))
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits},
	})
}
