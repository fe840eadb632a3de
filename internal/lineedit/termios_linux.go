package lineedit

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS // leaves what was typed ahead in its queue
)
