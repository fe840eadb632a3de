//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package lineedit

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA // leaves what was typed ahead in its queue
)
