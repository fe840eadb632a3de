package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
)

// projectDir is the folder that makes the folder it lies in a project, as .git does for git.
const projectDir = ".ragflow"

// Absolute makes a path of the command line absolute.
func (s *Settings) Absolute(path string) string { return absolute(s.in.Dir, path) }

// absolute makes a path absolute, starting from base. A leading ~/ is the home folder, for
// shells do not expand paths in files. An empty path stays empty.
func absolute(base, path string) string {
	if rest, ok := strings.CutPrefix(filepath.ToSlash(path), "~/"); ok && xdg.Home != "" {
		return filepath.Join(xdg.Home, rest)
	}
	if path == "" {
		return ""
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// findProject returns the nearest folder, from the working folder upward, that holds a folder
// .ragflow; empty if none does.
func (l *loader) findProject() string {
	for dir := l.in.Dir; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, projectDir)); err == nil && info.IsDir() {
			if isOwnFile(info) {
				return dir
			}
			l.notice("%s belongs to another user and is not used", filepath.Join(dir, projectDir))
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// PersonalDataDir is the data folder outside of projects, unless one is configured.
func (s *Settings) PersonalDataDir() string { return s.in.dataDir("") }

// dataDir is the data folder in a project, or outside of projects if project is empty, unless
// one is configured.
func (in Input) dataDir(project string) string {
	if project != "" {
		return filepath.Join(project, projectDir)
	}
	return filepath.Join(in.baseDir("XDG_DATA_HOME", xdg.DataHome), "ragflow")
}

// configDir is the person's folder of configuration.
func (in Input) configDir() string {
	return filepath.Join(in.baseDir("XDG_CONFIG_HOME", xdg.ConfigHome), "ragflow")
}

// baseDir returns a base folder of the XDG specification, which ignores relative values.
func (in Input) baseDir(name, fallback string) string {
	if p := in.Env[name]; filepath.IsAbs(p) {
		return p
	}
	return fallback
}

// place names a line of a file as compilers do.
func place(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
