//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package chat

func hush(int) error { return nil }
