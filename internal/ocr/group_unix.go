//go:build unix

package ocr

import (
	"os/exec"
	"syscall"
)

// inGroup makes the end of a command that of all processes that it started.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}
