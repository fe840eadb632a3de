//go:build !linux && !darwin && !freebsd && !windows

package main

import "errors"

// diskFree is not known here.
func diskFree(string) (int64, error) { return 0, errors.ErrUnsupported }
