package golden

import (
	"os"
	"path/filepath"
	"testing"
)

// Public returns the path of a file or folder of the public corpora, which are not in the repository:
// RAGFLOW_DATA names their folder. It skips the test if the variable is not set or the file does not exist.
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
