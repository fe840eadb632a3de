package lineedit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostEntries is how many entries a history keeps; its file is shortened to
// them when it holds twice as many.
const mostEntries = 1000

// History is what was typed before, oldest first. The zero History remembers
// within the process only. It is used by one goroutine; several processes may
// share a file, and each adds to it.
type History struct {
	path    string
	entries []string
}

// OpenHistory reads a history from a file, which need not exist yet. The file is
// kept readable by its owner alone.
func OpenHistory(path string) (*History, error) {
	h := &History{path: path}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read history: %w", err)
	}
	for l := range strings.Lines(string(data)) {
		if entry := decodeEntry(strings.TrimRight(l, "\r\n")); strings.TrimSpace(entry) != "" {
			h.entries = append(h.entries, entry)
		}
	}
	if len(h.entries) > 2*mostEntries {
		h.shorten()
		err = h.rewrite()
	}
	h.shorten()
	return h, err
}

// Add appends an entry, unless it is blank or repeats the last one. The entry
// is remembered even where the file cannot be written.
func (h *History) Add(text string) error {
	if strings.TrimSpace(text) == "" || len(h.entries) > 0 && h.entries[len(h.entries)-1] == text {
		return nil
	}
	h.entries = append(h.entries, text)
	h.shorten()
	if h.path == "" {
		return nil
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	_, err = f.WriteString(encodeEntry(text) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("keep history: %w", err)
	}
	return nil
}

func (h *History) shorten() {
	if n := len(h.entries) - mostEntries; n > 0 {
		h.entries = h.entries[n:]
	}
}

// rewrite replaces the file by the entries kept.
func (h *History) rewrite() (err error) {
	f, err := os.CreateTemp(filepath.Dir(h.path), ".history-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("shorten history: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("shorten history: %w", errors.Join(err, os.Remove(f.Name())))
		}
	}()
	var b strings.Builder
	for _, e := range h.entries {
		b.WriteString(encodeEntry(e) + "\n")
	}
	_, err = f.WriteString(b.String())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), h.path)
}

// encodeEntry puts an entry on one line.
func encodeEntry(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(s)
}

func decodeEntry(s string) string {
	return clean(strings.NewReplacer(`\\`, `\`, `\n`, "\n").Replace(s))
}
