//go:build linux || darwin || freebsd

package main

import "golang.org/x/sys/unix"

// diskFree is how many bytes this user may still write below a folder.
func diskFree(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:unconvert // the types differ between systems
}
