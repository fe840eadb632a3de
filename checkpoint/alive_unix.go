//go:build unix

package checkpoint

import (
	"errors"
	"syscall"
)

// processAlive tells whether a process exists. One of another user counts.
func processAlive(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
