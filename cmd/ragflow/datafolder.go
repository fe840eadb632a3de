package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"example.com/ragflow/internal/newfile"
)

// identityName is a file in the data folder of a project that holds a random word. The
// person's list of trusted files knows the word by the path of the file, so a folder that
// was cloned, unpacked or moved there does not pass for one that was made there.
const identityName = "identity"

// ofProject lists what may lie in a data folder before it was used.
var ofProject = []string{configName, ".gitignore", identityName}

// checkData looks at the data folder where a default or a file of the project names it:
// what it holds came with the project if this person's ragflow neither made it there nor
// was told to trust it. Links that lead out of a data folder, or to it from the working
// folder, are refused.
func (a *app) checkData(s *settings, list trustList) error {
	dir, source := s.config.DataDir, s.sourceOf("RAGFLOW_DATA_DIR")
	if err := checkOutput(cmp.Or(a.flagged("RAGFLOW_DATA_DIR"), ".")); err != nil {
		return err
	}
	if s.project != "" && source == "default" && !inside(s.project, dir) {
		return leadsOut(dir)
	}
	inPlace := []string{"index.db", threadsFile, chatHistory, "feedback.jsonl", "promoted", "collections", filepath.Join("collections", s.config.Collection)}
	for _, name := range inPlace {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("%s is a link or a device in the place of a file of the data folder", path).with("remove it, or name another folder with --data-dir")
		}
	}
	named := s.project != "" && source == "default" || s.ofProject(source)
	identity := filepath.Join(dir, identityName)
	word, err := os.ReadFile(identity)
	switch {
	case !named || err == nil && list.untrusted(identity, word) == "":
	case fresh(dir):
		s.unused = dir
	default:
		s.foreign = dir
	}
	return nil
}

// fresh reports whether nothing of a data folder was used yet.
func fresh(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(ofProject, e.Name()) })
}

// makeData makes the data folder where it is missing, and remembers one that a project may
// name later as made here.
func (a *app) makeData(dir string) error {
	unused := fresh(dir) && !present(dir, identityName)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return failed("make the data folder", err)
	}
	if filepath.Base(dir) == projectDir && unused {
		if err := a.trustData(dir); err != nil {
			a.warn(fmt.Sprintf("%s must be trusted before its next use: %v", dir, err))
		}
	}
	return nil
}

// trustData remembers a data folder as one whose databases may be opened.
func (a *app) trustData(dir string) error {
	path, word := filepath.Join(dir, identityName), []byte(rand.Text()+"\n")
	if err := newfile.WriteBytes(path, word); err != nil {
		return failed("mark "+dir, err)
	}
	return a.trustContent(map[string][]byte{path: word})
}

// foreignError says that databases came with a project.
func foreignError(dir string) error {
	f := usagef("%s holds databases that were not made here, and you have not trusted them", dir)
	return f.with("if you know where they come from: ragflow trust " + quoted(filepath.Dir(dir)) + "; else name another folder with --data-dir")
}
