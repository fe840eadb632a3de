package settings

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/ragflow/internal/newfile"
)

// Files of a data folder.
const (
	ThreadsFile = "threads.db"
	MemoryFile  = "memory.db"    // what agents remember
	QueryLog    = "queries.db"   // questions and searches
	CacheFile   = "cache.db"     // answers for questions that are asked again
	ChatHistory = "chat_history" // what was typed in chat
)

// identityName is a file in the data folder of a project that holds a random word. The list of
// what is trusted has the word under the path of the file, so a folder that was cloned, unpacked
// or moved is not mistaken for one that was made here.
const identityName = "identity"

// ofUnused lists what a data folder may hold before its first use.
var ofUnused = []string{configName, ".gitignore", identityName}

// checkData looks at the data folder if a default or a file of the project names it: its
// databases came with the project unless this person's ragflow made the folder or was told to
// trust it. A link that leads out of the folder, or to it from the working folder, is refused.
func (l *loader) checkData() error {
	dir, source := l.Config.DataDir, l.Source(dataDirName)
	if l.in.given(dataDirName) {
		if err := newfile.CheckFolder(l.in.Dir, l.in.Flags[dataDirName].Values[0]); err != nil {
			return err
		}
	}
	ofProject := l.Project != "" && strings.HasPrefix(source, bySetting) // also if another folder is refused
	if ofProject && !newfile.Inside(l.Project, dir) {
		return newfile.OutsideError(dir)
	}
	files := []string{"index.db", ThreadsFile, MemoryFile, QueryLog, CacheFile, ChatHistory, "feedback.jsonl", "promoted", "optimize", "evaluation", "collections", filepath.Join("collections", l.in.Collection)}
	for _, name := range files {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return errorf("%s is a link or a device in the place of a file of the data folder", path).with("remove it, or name another folder with --data-dir")
		}
	}
	identity := filepath.Join(dir, identityName)
	word, err := os.ReadFile(identity)
	switch {
	case !ofProject && !l.ofProject(source) || err == nil && l.trusted.untrusted(identity, word) == "":
	case isUnused(dir):
		l.fresh = dir
	default:
		l.Foreign = dir
	}
	return nil
}

// isUnused reports whether a data folder was never used.
func isUnused(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(ofUnused, e.Name()) })
}

// MakeData makes the data folder if it is missing, and remembers one that is not used yet as made
// here. The notice, if any, says that the folder will need trust.
func (s *Settings) MakeData() (Notice, error) { return s.in.makeData(s.Config.DataDir, s.fresh != "") }

// makeData makes a data folder if it is missing; fresh says that the project names it and that it
// holds nothing yet. A folder .ragflow may be named by a project later.
func (in Input) makeData(dir string, fresh bool) (Notice, error) {
	_, err := os.Stat(filepath.Join(dir, identityName))
	fresh = fresh || filepath.Base(dir) == projectDir && isUnused(dir) && errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", failed("make the data folder", err)
	}
	if fresh {
		if err := in.trustData(dir); err != nil {
			return Notice(fmt.Sprintf("%s must be trusted before its next use: %v", dir, err)), nil
		}
	}
	return "", nil
}

// trustData remembers a data folder as one whose databases may be opened.
func (in Input) trustData(dir string) error {
	path, word := filepath.Join(dir, identityName), []byte(rand.Text()+"\n")
	if err := newfile.WriteBytes(path, word); err != nil {
		return failed("mark "+dir, err)
	}
	return in.trust(map[string][]byte{path: word})
}
