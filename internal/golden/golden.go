// Package golden compares test results with reviewed files.
//
//	golden.Assert(t, "testdata/rag.mmd", []byte(draw.Mermaid(plan.Shape())))
//
// Run the tests with -update to rewrite the files, then read the diff.
package golden

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files") //nolint:gochecknoglobals // flags are registered once a process

// Assert fails the test if got differs from the file at path, which is relative to the package's folder. CRLF
// in the file is read as LF. With -update it writes the file and its folder instead.
func Assert(tb testing.TB, path string, got []byte) {
	tb.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			tb.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("%v (run the test with -update to write it)", err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		tb.Errorf("%s differs (-want +got); if that is right, run the test with -update:\n%s", path, diff)
	}
}
