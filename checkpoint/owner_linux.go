package checkpoint

import (
	"errors"
	"os"
	"syscall"
)

// bootAndNamespace returns the id of the boot and the namespace of process ids,
// which each container has for itself.
func bootAndNamespace() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return string(boot) + namespace
}

// processExists reports whether a process exists, of any user.
func processExists(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
