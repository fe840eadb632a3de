package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoBrowser: xdg-open starts without a browser, too, and ends with an error then.
func TestNoBrowser(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		fails  bool
	}{
		"a browser":       {script: "#!/bin/sh\nexit 0\n"},
		"no browser":      {script: "#!/bin/sh\nexit 3\n", fails: true},
		"no such program": {fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("PATH", folder)
			if tc.script != "" {
				if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte(tc.script), 0o700); err != nil { //nolint:gosec // it is run
					t.Fatal(err)
				}
			}
			if err := openBrowser(t.Context(), "http://127.0.0.1:1"); (err != nil) != tc.fails {
				t.Errorf("openBrowser: %v, want an error: %v", err, tc.fails)
			}
		})
	}
}

// TestAddressInUse: a person who starts a second server is told what to do.
func TestAddressInUse(t *testing.T) {
	first, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	addr := first.Addr().String()
	var out, errs strings.Builder
	code := run(t.Context(), []string{"serve", "--addr", addr}, nil, &out, &errs, []string{"RAGFLOW_DATA_DIR=" + t.TempDir()})
	if code != exitFailure || !strings.Contains(errs.String(), addr) || !strings.Contains(errs.String(), "--addr 127.0.0.1:0 takes a free port") {
		t.Errorf("code %d, %s", code, errs.String())
	}
}

// endsOnce collects what is written, and ends a program once its documents are indexed.
type endsOnce struct {
	strings.Builder

	end func()
}

func (e *endsOnce) Write(b []byte) (int, error) {
	if strings.HasPrefix(string(b), "indexed ") {
		defer e.end()
	}
	return e.Builder.Write(b)
}

// TestServeSaysOnce: how to end the server is said once, though it watches its documents, too.
func TestServeSaysOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fern.txt"), []byte("A fern is watered daily."), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	errs := endsOnce{end: cancel}
	run(ctx, []string{"serve", "--docs", dir, "--addr", "127.0.0.1:0"}, nil, new(strings.Builder), &errs, []string{"RAGFLOW_DATA_DIR=" + t.TempDir()})
	if got := errs.String(); !strings.Contains(got, "the index is kept") || strings.Count(got, "Ctrl-C") != 1 {
		t.Errorf("it said:\n%s", got)
	}
}
