package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
)

// Commands on threads work on a server as they do on a file.
func TestPostgresIntegration(t *testing.T) {
	address := os.Getenv("RAGFLOW_TEST_POSTGRES")
	if address == "" {
		t.Skip("needs a PostgreSQL server: scripts/servers/postgres start ENV_FILE, then . ENV_FILE")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
	}
	schema := fmt.Sprintf("commands_%d", os.Getpid())
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+schema+` CASCADE`); err != nil {
			t.Error(err)
		}
	})
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "home", "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			e.Setenv("RAGFLOW_STORE", u.String())
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits, "sql": func(ts *testscript.TestScript, _ bool, args []string) {
			conn, err := pgx.Connect(t.Context(), u.String())
			ts.Check(err)
			defer func() { _ = conn.Close(t.Context()) }()
			rows, err := conn.Query(t.Context(), args[0])
			ts.Check(err)
			found, err := pgx.CollectRows(rows, pgx.RowToMap)
			ts.Check(err)
			if got := fmt.Sprint(found); got != args[1] {
				ts.Fatalf("%s\n got %s\nwant %s", args[0], got, args[1])
			}
		}},
	})
}
