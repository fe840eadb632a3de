package folder

import (
	"fmt"
	"os"
	"path/filepath"
)

// Resolve returns the name of a root: the absolute path of an existing folder or file, without symbolic
// links. The error wraps ErrNoPath, fs.ErrNotExist or another error of the file system.
func Resolve(path string) (string, error) {
	if path == "" { // filepath.Abs would take it for the working folder
		return "", fmt.Errorf("open documents %q: %w", path, ErrNoPath)
	}
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err == nil {
		_, err = os.Stat(abs)
	}
	if err != nil {
		return "", fmt.Errorf("open documents %q: %w", path, Reason(err))
	}
	return abs, nil
}

// Locate returns the path of a source of a root: below a folder, or the root itself if that is a single file.
// A missing root counts as a folder.
func Locate(root, source string) string {
	if filepath.Base(root) == source && isFile(root) {
		return root
	}
	return filepath.Join(root, filepath.FromSlash(source))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
