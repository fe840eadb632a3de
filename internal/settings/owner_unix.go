//go:build unix

package settings

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnFile reports whether a file belongs to this user or to root.
func isOwnFile(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid())
}

// othersRead reports whether users other than its owner may read a file.
func othersRead(info fs.FileInfo) bool { return info.Mode().Perm()&0o044 != 0 }
