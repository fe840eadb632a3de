package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/internal/newfile"
)

// trustName is the file of the person's configuration folder that lists the
// trusted files of projects.
const trustName = "trust.json"

// trustList maps the absolute path of a file of a project to the SHA-256 of the
// content that the person trusted.
type trustList map[string]string

// refusal is a setting of a file that is not trusted.
type refusal struct {
	row    config.Setting
	file   string
	source string // file and line
}

// name is the setting as the file spells it.
func (r refusal) name() string {
	if filepath.Base(r.file) == configName {
		return r.row.Key
	}
	return r.row.Name
}

func (a *app) trustPath() string {
	return filepath.Join(a.home("XDG_CONFIG_HOME", xdg.ConfigHome), "ragflow", trustName)
}

// readTrust reads the list of trusted files. A missing list is empty.
func (a *app) readTrust() (trustList, error) {
	list := trustList{}
	data, err := os.ReadFile(a.trustPath())
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	if err != nil {
		return nil, failed("read "+a.trustPath(), err)
	}
	return list, nil
}

// trustContent remembers that files may set everything, as long as they hold
// this content.
func (a *app) trustContent(files map[string][]byte) error {
	list, err := a.readTrust()
	if err != nil {
		return err
	}
	for path, data := range files {
		list[trustKey(path)] = contentHash(data)
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return failed("remember the trust", err)
	}
	return failed("remember the trust", newfile.WriteBytes(a.trustPath(), append(data, '\n')))
}

// trustKey is the path of a file whose folder is reached without symbolic links.
func trustKey(path string) string {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(dir, filepath.Base(path))
}

func contentHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// untrusted returns path unless the person trusted this content of the file.
func (l trustList) untrusted(path string, data []byte) string {
	if l[trustKey(path)] == contentHash(data) {
		return ""
	}
	return path
}

// largestSettings bounds a file of settings in bytes.
const largestSettings = 256 << 10

// readProjectFile reads a file that may come with a project of somebody else. A
// file of another user is skipped with a warning, as if it were missing.
func (a *app) readProjectFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !ownFile(info) {
		a.warnOnce(path + " belongs to another user and is not read")
		return nil, fs.ErrNotExist
	}
	switch {
	case info.Size() > largestSettings && !info.IsDir():
		return nil, usagef("%s has %d bytes, more than the %d that are read", path, info.Size(), largestSettings)
	case !info.IsDir() && !info.Mode().IsRegular(): // reading a pipe could take for ever
		return nil, usagef("%s is no regular file", path)
	}
	return os.ReadFile(path)
}

// needsTrust reports whether a value may count only once its file is trusted.
func needsTrust(row config.Setting, v *value) bool {
	if v.untrusted == "" || row.Has(config.Safe) {
		return false
	}
	if row.Name != "RAGFLOW_DOCS" {
		return true
	}
	return slices.ContainsFunc(v.values, func(p string) bool { return !inside(v.base, absolute(v.base, p)) })
}

// inside reports whether a path, or the folder in front of its first wildcard,
// lies in a folder once symbolic links are followed.
func inside(folder, path string) bool {
	if i := strings.IndexAny(path, "*?[{"); i >= 0 {
		path = filepath.Dir(path[:i] + "x")
	}
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return false
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = filepath.EvalSymlinks(existing(path))
	}
	if err != nil {
		return false
	}
	below, err := filepath.Rel(folder, target)
	return err == nil && filepath.IsLocal(below)
}

// existing is the nearest folder upward that exists.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// inEffect drops refused settings of models where no model is used: a key or an
// address alone does nothing.
func (s *settings) inEffect(refused []refusal) []refusal {
	used := !s.models.Offline && (len(s.models.Uses()) > 0 || s.models.Reranker != "")
	for _, r := range refused {
		used = used || !s.models.Offline && r.row.Has(config.OfModel) && strings.HasSuffix(r.row.Name, "_MODEL")
	}
	if used {
		return refused
	}
	return slices.DeleteFunc(slices.Clone(refused), func(r refusal) bool { return r.row.Has(config.OfModel) })
}

// settings reads what is configured. Where a file of a project sets what needs
// trust, the person is asked at a terminal, and the command is refused elsewhere.
func (a *app) settings() (*settings, error) {
	s, err := a.readSettings()
	if err != nil {
		return nil, err
	}
	refused := untrustedError(s)
	if refused == nil {
		a.keepUnused(s)
		return s, nil
	}
	if !a.askTrust(s) {
		return nil, refused
	}
	if err := a.trustAll(s); err != nil {
		return nil, err
	}
	if s, err = a.readSettings(); err != nil {
		return nil, err
	}
	a.keepUnused(s)
	return s, untrustedError(s)
}

// keepUnused remembers a data folder before its first use as one that is made here.
func (a *app) keepUnused(s *settings) {
	if s.unused == "" {
		return
	}
	if err := a.trustData(s.unused); err != nil {
		a.warn(fmt.Sprintf("%s must be trusted before its next use: %v", s.unused, err))
	}
}

// trustAll trusts the files that were read, and the data folder where it needs that.
func (a *app) trustAll(s *settings) error {
	if s.foreign != "" {
		if err := a.trustData(s.foreign); err != nil {
			return err
		}
	}
	return a.trustContent(s.files)
}

// untrustedError names the file, the setting and the command that trusts; nil where
// nothing lacks trust.
func untrustedError(s *settings) error {
	refused := s.inEffect(s.refused)
	switch {
	case len(refused) == 0 && s.foreign != "":
		return foreignError(s.foreign)
	case len(refused) == 0:
		return nil
	}
	f := usagef("%s sets %s, and you have not trusted this file", refused[0].source, refused[0].name())
	f.hint = "read it, then: ragflow trust"
	if dir := s.here; dir != "" {
		f.hint += " " + quoted(dir)
	}
	return f
}

// askTrust shows what untrusted files set, and databases that came with them, and asks
// the person once.
func (a *app) askTrust(s *settings) bool {
	in, ok := a.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || !a.isTerm(a.err) || a.quiet {
		return false
	}
	question := "They can send your questions, documents and keys elsewhere. Trust them as they are now? [y/N] "
	if refused := s.inEffect(s.refused); len(refused) > 0 {
		fmt.Fprintln(a.err, "Files of this project set what you have not trusted:")
		for _, r := range refused {
			fmt.Fprintf(a.err, "  %s  %s\n", line(r.source), r.name())
		}
	} else {
		question = "Their answers may be made up, and they may be broken on purpose. Trust them as they are now? [y/N] "
	}
	if s.foreign != "" {
		fmt.Fprintf(a.err, "Databases were not made here:\n  %s\n", line(s.foreign))
	}
	fmt.Fprint(a.err, question)
	var typed []byte
	for b := make([]byte, 1); ; { // no more than the line: the rest belongs to the command
		n, err := in.Read(b)
		if n == 0 || err != nil || b[0] == '\n' {
			break
		}
		typed = append(typed, b...)
	}
	answer := strings.ToLower(strings.TrimSpace(string(typed)))
	return answer == "y" || answer == "yes"
}

func (a *app) trustCommand() *cobra.Command {
	return command("trust [DIR]", 1, func(_ *cobra.Command, args []string) error {
		dir, err := os.Getwd()
		if err != nil {
			return failed("find the working folder", err)
		}
		if len(args) > 0 {
			dir = absolute(dir, args[0])
		}
		if info, err := os.Stat(dir); err != nil {
			return failed("trust", err)
		} else if !info.IsDir() {
			return usagef("%s is not a folder", args[0])
		}
		return a.trust(dir)
	})
}

// trust trusts the files that commands in a folder read.
func (a *app) trust(dir string) error {
	s, err := a.readSettingsIn(dir)
	if err != nil {
		return err
	}
	if len(s.files) == 0 && s.foreign == "" {
		a.tell("nothing to trust: no .env and no %s/%s in or above %s", projectDir, configName, dir)
		return nil
	}
	if err := a.trustAll(s); err != nil {
		return err
	}
	if s.foreign != "" {
		_, _ = io.WriteString(a.out, "trusted "+line(s.foreign)+": its databases\n") // a.out keeps the first error
	}
	for path := range s.files {
		var names []string
		for _, r := range s.refused {
			if r.file == path {
				names = append(names, r.name())
			}
		}
		if len(names) == 0 {
			names = []string{"nothing that needed it"}
		}
		slices.Sort(names)
		_, _ = io.WriteString(a.out, "trusted "+line(path)+": "+strings.Join(names, ", ")+"\n") // a.out keeps the first error
	}
	return nil
}
