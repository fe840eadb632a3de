//go:build unix

package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/ragflow/internal/settings"
)

// TestTrustAsked asks at a terminal what commands elsewhere refuse: anything but yes is no,
// and a yes is remembered.
func TestTrustAsked(t *testing.T) {
	dir := chatFolder(t)
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("instructions.txt", "Be brief. {context}\n")
	write(".env", "RAGFLOW_SYSTEM_PROMPT=instructions.txt\n")
	ask := func(answer string) *terminalTest {
		t.Helper()
		s := startIn(t, dir, 240, 30, nil, "search", "--docs", "docs", "--data-dir", "data", "volume")
		if answer != "" {
			s.expect(`(?s)have not trusted:\n  \S+\.env:1  RAGFLOW_SYSTEM_PROMPT\n.*Trust them as they are now\? \[y/N\]`)
			s.send(answer)
		}
		return s
	}
	for _, answer := range []string{"\r", "n\r", "maybe\r", "\x04"} {
		s := ask(answer)
		s.exit(exitUsage)
		if !strings.Contains(s.screen.Text(), "you have not trusted this file") {
			t.Errorf("after %q the screen is\n%s", answer, s.screen.Text())
		}
	}
	ask("yes\r").exit(exitOK)
	ask("").exit(exitOK)
	write(".env", "RAGFLOW_SYSTEM_PROMPT=instructions.txt # changed\n")
	ask("n\r").exit(exitUsage)
}

// TestDataFolderModes uses everything that writes to a data folder: folders are for their
// owner only, and so are files.
func TestDataFolderModes(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes")
	}
	t.Setenv("RAG_ENABLE_CACHING", "true")
	dir := chatFolder(t)
	p := program{t, dir, filepath.Join(dir, "data")}
	for _, args := range [][]string{
		{"ask", "--docs", "docs", "--thread", "t", "What is a volume?"},
		{"feedback", "up", "t"},
		{"index", "--collection", "c", "docs"},
	} {
		p.do(args...)
	}
	s := startIn(t, dir, 80, 24, nil, "chat", "--docs", "docs", "--data-dir", "data")
	s.prompt("")
	s.send("/help\r")
	s.prompt("/quit")
	s.send("\x04")
	s.exit(exitOK)
	files := 0
	err := filepath.WalkDir(p.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = fs.ModeDir | 0o700
		} else {
			files++
		}
		if err == nil && info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"index.db", settings.ThreadsFile, settings.QueryLog, settings.CacheFile, "feedback.jsonl", settings.ChatHistory, "promoted", "collections/c/index.db"} {
		if !present(p.data, name) {
			t.Errorf("%s is missing: the test does not use it", name)
		}
	}
	t.Logf("%d files", files)
}

// TestSettingsInAPipe does not wait for somebody who writes into it.
func TestSettingsInAPipe(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := syscall.Mkfifo(filepath.Join(dir, ".env"), 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	var errs bytes.Buffer
	if code := run(t.Context(), []string{"config"}, nil, io.Discard, &errs, nil); code != exitUsage || !strings.Contains(errs.String(), ".env is no regular file") {
		t.Errorf("exit code %d, %s", code, errs.String())
	}
}
