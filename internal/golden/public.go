package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Public is the path of a file or folder of the public corpora, which are not part of
// the repository: RAGFLOW_DATA names their folder. The test is skipped where it is not
// set, or has no such file.
func Public(tb testing.TB, elem ...string) string {
	tb.Helper()
	root := os.Getenv("RAGFLOW_DATA")
	if root == "" {
		tb.Skip("reads public corpora; RAGFLOW_DATA names their folder")
	}
	path := filepath.Join(append([]string{root}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skip("no such corpus: ", err)
	}
	return path
}
