package chat

import "golang.org/x/sys/windows"

// hush has keys wait unseen in the queue of the console; Ctrl-C is still a
// signal.
func hush(fd int) error {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &mode); err != nil {
		return err
	}
	mode = mode&^(windows.ENABLE_ECHO_INPUT|windows.ENABLE_LINE_INPUT) | windows.ENABLE_PROCESSED_INPUT
	return windows.SetConsoleMode(windows.Handle(fd), mode)
}
