package settings

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"example.com/ragflow"
	"example.com/ragflow/internal/newfile"
)

// Init makes the working folder a project whose questions are answered from docs, paths as
// typed. A configuration file that is there already is only given the docs it lacks; made is
// then false.
func Init(in Input, docs []string) (path string, made bool, err error) {
	if err := in.findDir(); err != nil {
		return "", false, err
	}
	dir := filepath.Join(in.Dir, projectDir)
	path = filepath.Join(dir, configName)
	if err := newfile.CheckFolder(in.Dir, projectDir); err != nil {
		return "", false, err
	}
	for i, p := range docs {
		docs[i] = filepath.ToSlash(filepath.Clean(p))
	}
	if _, err := in.makeData(dir, false); err != nil { // the trust of the file below reports the notice as an error
		return "", false, err
	}
	if _, err := os.Stat(path); err == nil {
		return path, false, in.addDocs(path, docs)
	}
	text, err := projectConfig(docs)
	if err == nil {
		err = newfile.WriteBytes(path, text)
	}
	if err != nil {
		return "", false, failed("write the configuration", err)
	}
	ignore := filepath.Join(dir, ".gitignore")
	if _, err := os.Stat(ignore); errors.Is(err, fs.ErrNotExist) {
		if err := newfile.WriteBytes(ignore, []byte("*\n!.gitignore\n!"+configName+"\n")); err != nil {
			return "", false, failed("write .gitignore", err)
		}
	}
	return path, true, in.trust(map[string][]byte{path: text})
}

// addDocs names documents in a configuration file that names none. The file stays trusted if it was.
func (in Input) addDocs(path string, docs []string) error {
	if len(docs) == 0 {
		return &Error{Err: fmt.Errorf("init: %s is already there", path), Hint: "edit it, or delete it first", Conflict: true}
	}
	data, err := new(loader).readFile(path)
	if err != nil {
		return failed("read the configuration", err)
	}
	f := configFile{path: path}
	if err := f.parse(data, tableOf(&ragflow.Config{}, "", &Models{})); err != nil {
		return err
	}
	if names, ok := f.keys["docs"]; ok {
		return &Error{Err: fmt.Errorf("init: %s names documents already", names.source), Hint: "change them there", Conflict: true}
	}
	trusted, err := in.readTrust()
	if err != nil {
		return err
	}
	return failed("write the configuration", in.setKey(path, "docs", docs, trusted.untrusted(path, data) == ""))
}

// projectFile is the configuration file of a new project.
//
//go:embed project.yaml
var projectFile string

// projectConfig is projectFile with the documents in the place of its example.
func projectConfig(docs []string) ([]byte, error) {
	if len(docs) == 0 {
		return []byte(projectFile), nil
	}
	list, err := yaml.Marshal(map[string][]string{"docs": docs})
	return []byte(strings.Replace(projectFile, "# docs: [docs]\n", string(list), 1)), err
}
