//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package chat

import "golang.org/x/sys/unix"

// hush has keys wait unseen in the queue of the terminal, as they were typed.
// Ctrl-C is still a signal, and does not empty the queue.
func hush(fd int) error {
	mode, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return err
	}
	mode.Iflag &^= unix.ICRNL
	mode.Lflag = mode.Lflag&^(unix.ECHO|unix.ICANON|unix.IEXTEN) | unix.ISIG | unix.NOFLSH
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, setTermios, mode)
}
