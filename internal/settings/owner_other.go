//go:build !unix

package settings

import "io/fs"

// isOwnFile reports true: owners are compared on Unix only.
func isOwnFile(fs.FileInfo) bool { return true }

// othersRead reports false: permissions are checked on Unix only.
func othersRead(fs.FileInfo) bool { return false }
