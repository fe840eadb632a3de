package main

import (
	"context"
	"os/exec"
	"runtime"
)

// openBrowser shows an address in the browser of the person, by the program that the system has for it, and returns
// once that program has ended. On a machine without a browser the program starts, and ends with an error.
func openBrowser(ctx context.Context, url string) error {
	command := map[string][]string{
		"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"},
	}[runtime.GOOS]
	if command == nil {
		command = []string{"xdg-open"}
	}
	return exec.CommandContext(ctx, command[0], append(command[1:], url)...).Run() //nolint:gosec,wrapcheck // the address is ours; the caller says what it was for
}
