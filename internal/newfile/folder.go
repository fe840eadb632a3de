package newfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrOutside is the error of a folder that leads out of the one it is in.
var ErrOutside = errors.New("leads out of this folder through a link, and nothing is written there")

// OutsideError names a folder that leads elsewhere. It matches [ErrOutside].
func OutsideError(dir string) error { return fmt.Errorf("%s %w", dir, ErrOutside) }

// CheckFolder refuses a folder to write to that is named by a path relative to base and lies
// outside of base: a link that came with base may lead there. The error matches [ErrOutside].
func CheckFolder(base, dir string) error {
	if filepath.IsLocal(dir) && !Inside(base, filepath.Join(base, dir)) {
		return OutsideError(dir)
	}
	return nil
}

// Inside reports whether a path, or the folder in front of its first wildcard, lies in a folder
// once symbolic links are followed.
func Inside(folder, path string) bool {
	if i := strings.IndexAny(path, "*?[{"); i >= 0 {
		path = filepath.Dir(path[:i] + "x")
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = filepath.EvalSymlinks(existing(path))
	}
	if err != nil {
		return false
	}
	below, err := filepath.Rel(folder, target)
	return err == nil && filepath.IsLocal(below)
}

// existing is the nearest folder upward that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}
