package lineedit

import (
	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

// makeRaw has keys arrive one by one, as the sequences of a terminal.
func makeRaw(fd int) (*term.State, error) { return term.MakeRaw(fd) }

// enableOutput has a console understand sequences. The function it returns
// puts the console back.
func enableOutput(fd int) func() {
	handle := windows.Handle(fd)
	var mode uint32
	if windows.GetConsoleMode(handle, &mode) != nil {
		return func() {}
	}
	if windows.SetConsoleMode(handle, mode|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		return func() {}
	}
	return func() { _ = windows.SetConsoleMode(handle, mode) }
}
