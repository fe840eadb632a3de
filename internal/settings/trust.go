package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/newfile"
)

// trustName is the file of the person's configuration folder that lists what is trusted.
const trustName = "trust.json"

// trustList maps the absolute path of a file of a project to the SHA-256 of the content that
// the person trusted.
type trustList map[string]string

// Refusal is a setting of a file that is not trusted.
type Refusal struct {
	Source string // file and line
	Name   string // of the setting, as the file spells it

	row  setting
	file string
}

func refusal(row setting, v *value) Refusal {
	name := row.name
	if filepath.Base(v.untrusted) == configName {
		name = row.key
	}
	return Refusal{v.source, name, row, v.untrusted}
}

func (in Input) trustPath() string { return filepath.Join(in.configDir(), trustName) }

// readTrust reads the list of what is trusted. A missing list is empty.
func (in Input) readTrust() (trustList, error) {
	trusted := trustList{}
	data, err := os.ReadFile(in.trustPath())
	if errors.Is(err, fs.ErrNotExist) {
		return trusted, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &trusted)
	}
	return trusted, failed("read "+in.trustPath(), err)
}

// trust remembers that files may set everything, as long as they hold this content.
func (in Input) trust(files map[string][]byte) error {
	trusted, err := in.readTrust()
	if err != nil {
		return err
	}
	for path, data := range files {
		trusted[trustKey(path)] = contentHash(data)
	}
	data, err := json.MarshalIndent(trusted, "", "  ")
	if err == nil {
		err = newfile.WriteBytes(in.trustPath(), append(data, '\n'))
	}
	return failed("remember the trust", err)
}

// trustKey is the path of a file with the symbolic links of its folder followed.
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
func (t trustList) untrusted(path string, data []byte) string {
	if t[trustKey(path)] == contentHash(data) {
		return ""
	}
	return path
}

// maxFileBytes bounds a file of settings.
const maxFileBytes = 256 << 10

// readFile reads a file that may come with a project of somebody else. A file of another user
// is skipped with a notice, as if it did not exist.
func (l *loader) readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !isOwnFile(info) {
		l.notice("%s belongs to another user and is not read", path)
		return nil, fs.ErrNotExist
	}
	switch {
	case info.Size() > maxFileBytes && !info.IsDir():
		return nil, errorf("%s has %d bytes, more than the %d that are read", path, info.Size(), maxFileBytes)
	case !info.IsDir() && !info.Mode().IsRegular(): // a read from a pipe may never end
		return nil, errorf("%s is no regular file", path)
	}
	data, err := os.ReadFile(path)
	if err == nil && !utf8.Valid(data) {
		return nil, errorf("%s is not UTF-8 text", path).with("save it as UTF-8")
	}
	return data, err
}

// needsTrust reports whether a value may count only once its file is trusted.
func needsTrust(row setting, v *value) bool {
	if v.untrusted == "" || row.has(isSafe) {
		return false
	}
	if row.name != docsName {
		return true
	}
	return slices.ContainsFunc(v.values, func(p string) bool { return !newfile.Inside(v.base, absolute(v.base, p)) })
}

// Refusals returns what is refused and matters: models, keys and addresses are left out if no
// model is used.
func (s *Settings) Refusals() []Refusal {
	used := len(s.Models.Uses()) > 0
	for _, r := range s.Refused {
		used = used || !s.Models.Offline && r.row.has(ofModel) && strings.HasSuffix(r.row.name, "_MODEL")
	}
	if used {
		return s.Refused
	}
	return slices.DeleteFunc(slices.Clone(s.Refused), func(r Refusal) bool { return r.row.has(ofModel) })
}

// CheckTrust returns an error that names what lacks trust, and the command that gives it.
func (s *Settings) CheckTrust() error {
	refused := s.Refusals()
	switch {
	case len(refused) > 0:
		return errorf("%s sets %s, and you have not trusted this file", refused[0].Source, refused[0].Name).
			with("read it, then: ragflow trust " + Quoted(s.in.Dir))
	case s.Foreign != "":
		return errorf("%s holds databases that were not made here, and you have not trusted them", s.Foreign).
			with("if you know where they come from: ragflow trust " + Quoted(filepath.Dir(s.Foreign)) + "; else name another folder with --data-dir")
	}
	return nil
}

// Trust trusts the files of the project that were read, as they are, and its databases. It
// returns a line for each; none if there was nothing to trust.
func (s *Settings) Trust() ([]string, error) {
	var done []string
	if s.Foreign != "" {
		if err := s.in.trustData(s.Foreign); err != nil {
			return nil, err
		}
		done = append(done, s.Foreign+": its databases")
	}
	for path := range s.files {
		var names []string
		for _, r := range s.Refused {
			if r.file == path {
				names = append(names, r.Name)
			}
		}
		slices.Sort(names)
		if len(names) == 0 {
			names = []string{"nothing that needed it"}
		}
		done = append(done, path+": "+strings.Join(names, ", "))
	}
	slices.Sort(done)
	if len(done) == 0 {
		return nil, nil
	}
	return done, s.in.trust(s.files)
}
