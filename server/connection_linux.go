package server

import (
	"net"

	"golang.org/x/sys/unix"
)

// limitSilence ends a connection whose client acknowledges nothing of what was sent.
func limitSilence(c *net.TCPConn) {
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
		}) // else the limits of the system hold
	}
}
