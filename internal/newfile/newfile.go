// Package newfile writes files that are either complete or as they were before: each is
// written under a name that nobody could prepare, with mode 0600, and renamed. A link with
// the name of the file is replaced, not followed. Append adds to a file and follows no
// link either.
package newfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write calls write with the new content of path.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	buffered := bufio.NewWriter(f)
	if err = write(buffered); err == nil {
		err = errors.Join(buffered.Flush(), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// WriteBytes writes data, and makes the folder of path if it is missing.
func WriteBytes(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ErrNotRegular is the error of a path that is a link, a device or a folder.
var ErrNotRegular = errors.New("not a regular file")

// Append adds data to the end of a file in one write, and makes the file if it is missing. The
// error matches [ErrNotRegular] if the path is no regular file.
func Append(path string, data []byte) (err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	name := filepath.Base(path)
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	f, err := root.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
