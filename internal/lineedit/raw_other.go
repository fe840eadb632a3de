//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package lineedit

import (
	"errors"

	"golang.org/x/term"
)

// makeRaw is not known here; callers read plain lines instead.
func makeRaw(int) (*term.State, error) { return nil, errors.ErrUnsupported }

func enableOutput(int) func() { return func() {} }
