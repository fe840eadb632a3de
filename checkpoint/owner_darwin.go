package checkpoint

import (
	"errors"
	"syscall"
)

// bootAndNamespace returns the id of the boot. All processes share one namespace.
func bootAndNamespace() string {
	boot, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}

// processExists reports whether a process exists, of any user.
func processExists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
