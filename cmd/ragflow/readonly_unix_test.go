//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadOnlyFolder runs commands on a data folder that may be read and not
// written. Root may write everywhere, so for root the program runs as nobody.
func TestReadOnlyFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes; left out with -short")
	}
	t.Parallel()
	dir := t.TempDir()
	p := program{t, dir, filepath.Join(dir, "data")}
	library(t, dir, 0)
	p.do("ask", "--docs", "docs", "--thread", "herbs", "How often should I water herb 1?")
	exe := copyProgram(t, dir)
	readable(t, dir)
	t.Cleanup(func() { _ = os.Chmod(p.data, 0o700) })
	run := func(args ...string) (code int, stdout, stderr string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), exe, args...)
		cmd.Args[0] = "ragflow" // by which testscript.Main knows it
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "RAGFLOW_DATA_DIR="+p.data, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if os.Geteuid() == 0 {
			const nobody = 65534
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		var out, told bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &told
		if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
			t.Skip("this program cannot be run as another user: ", err)
		}
		return cmd.ProcessState.ExitCode(), out.String(), told.String()
	}
	for _, tt := range []struct{ args, want string }{
		{"threads list", "herbs"},
		{"threads show herbs", "Water herb 1 every"},
		{"threads export herbs", `"herbs"`},
		{"threads verify", "1 thread"},
		{"trace --json last", `"answer": "`},
		{"search watering", "herb-"},
		{"search --docs docs watering", "herb-"},
		{"explain watering", "water"},
		{"index stats", "40 indexed"},
		{"doctor", "it can only be read"},
	} {
		code, out, told := run(strings.Fields(tt.args)...)
		if code != 0 || !strings.Contains(out, tt.want) {
			t.Errorf("ragflow %s: code %d, %q is not in\n%s%s", tt.args, code, tt.want, out, told)
		}
	}
	for _, args := range [][]string{
		{"ask", "--thread", "herbs", "And herb 2?"},
		{"chat"},
		{"index", "docs"},
		{"threads", "delete", "--yes", "herbs"},
		{"threads", "prune", "herbs", "--keep-last", "1"},
	} {
		code, out, told := run(args...)
		if code != exitFailure || out != "" || !strings.Contains(told, "cannot be written") && !strings.Contains(told, "reading only") || !strings.Contains(told, "--data-dir") {
			t.Errorf("ragflow %q: code %d\n%s%s", args, code, out, told)
		}
	}
}

// copyProgram copies this program to a folder in which everybody may run it.
func copyProgram(t *testing.T, dir string) string {
	t.Helper()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(own)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(filepath.Join(dir, "ragflow.exe"), os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return to.Name()
}

// readable lets everybody read what is in dir, and nobody write the data.
func readable(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		mode := os.FileMode(0o444)
		if d.IsDir() || d.Name() == "ragflow.exe" {
			mode = 0o555
		}
		if path == dir {
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
}
