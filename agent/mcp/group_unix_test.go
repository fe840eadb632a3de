//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
	"testing"
)

// A command that is apart gets no Ctrl-C of the terminal: it leads a group of processes of its own.
func TestApart(t *testing.T) {
	command := exec.CommandContext(t.Context(), "sleep", "10")
	apart(command)
	if err := command.Start(); err != nil {
		t.Skip(err)
	}
	if group, err := syscall.Getpgid(command.Process.Pid); err != nil || group != command.Process.Pid {
		t.Errorf("group %d of process %d, %v", group, command.Process.Pid, err)
	}
	_ = command.Process.Kill()
	_ = command.Wait()
}
