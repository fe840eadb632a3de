package checkpoint

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// bootAndNamespace returns the id of the boot. All processes share one namespace.
func bootAndNamespace() string {
	boot, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return boot
}

// processExists reports whether a process of any user exists and is no zombie.
func processExists(pid int) bool {
	const zombie = 5 // SZOMB of <sys/proc.h>
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) && (err != nil || info.Proc.P_stat != zombie)
}
