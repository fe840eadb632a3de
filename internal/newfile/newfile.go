// Package newfile writes files that are either complete or as they were before: each is
// written under a name that nobody could prepare, with mode 0600, and renamed. A link that
// stands in the place of the file is replaced, not followed.
package newfile

import (
	"bufio"
	"errors"
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

// WriteBytes writes data, and makes the folder of path where it is missing.
func WriteBytes(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}
