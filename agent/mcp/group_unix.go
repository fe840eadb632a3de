//go:build unix

package mcp

import (
	"os/exec"
	"syscall"
)

// apart keeps the Ctrl-C of a terminal, which this program may handle, from ending the command.
func apart(command *exec.Cmd) { command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
