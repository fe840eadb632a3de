//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lineedit

import (
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// makeRaw has keys arrive one by one, unechoed and without signals. Unlike
// [term.MakeRaw] it leaves output as it is, so that "\n" still begins a line.
func makeRaw(fd int) (*term.State, error) {
	before, err := term.GetState(fd)
	if err != nil {
		return nil, err
	}
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return nil, err
	}
	mode.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	mode.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	mode.Cflag = mode.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return before, unix.IoctlSetTermios(fd, setTermios, mode)
}

// enableOutput needs to do nothing: terminals here understand sequences.
func enableOutput(int) func() { return func() {} }
