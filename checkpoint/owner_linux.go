package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
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

// processExists reports whether a process of any user exists and can still run. One that ended
// keeps its id as a zombie until its parent has waited for it, which may be never.
func processExists(pid int) bool {
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && !isZombie(pid)
}

// isZombie reports whether all threads of a process have ended. The state of the process alone is
// that of its first thread, which may end before the others.
func isZombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, found := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" ")) // the name before it may contain anything
	if err != nil || !found || len(state) == 0 || state[0] != 'Z' {
		return false
	}
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	return err == nil && len(threads) <= 1
}
