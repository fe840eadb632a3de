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
	run := func(statement string) error {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, address)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, statement)
		return err
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/postgres", RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "home", "data"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "home", "config"))
			schema := pgx.Identifier{fmt.Sprintf("commands_%d_%s", os.Getpid(), filepath.Base(e.WorkDir))} // one for each script
			e.Defer(func() {
				if err := run(`DROP SCHEMA IF EXISTS ` + schema.Sanitize() + ` CASCADE`); err != nil {
					t.Error(err)
				}
			})
			q := u.Query()
			q.Set("search_path", schema[0])
			own := *u
			own.RawQuery = q.Encode()
			e.Setenv("STORE", own.String())
			e.Setenv("RAGFLOW_STORE", own.String()+"&pool_max_conns=4")
			return os.Mkdir(filepath.Join(e.WorkDir, "home"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits, "sql": func(ts *testscript.TestScript, _ bool, args []string) {
			conn, err := pgx.Connect(t.Context(), ts.Getenv("STORE"))
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
