package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"

	"example.com/ragflow"
	"example.com/ragflow/cmd/ragflow/config"
	"example.com/ragflow/internal/newfile"
)

func (a *app) initCommand() *cobra.Command {
	c := command("init", 0, func(*cobra.Command, []string) error { return a.init() })
	c.Flags().StringArrayVar(&a.flags.docs, "docs", nil, "answer from this file or folder `PATH`; may be repeated")
	return c
}

func (a *app) init() error {
	here, err := os.Getwd()
	if err != nil {
		return failed("find the working folder", err)
	}
	if err := exist(a.flags.docs); err != nil {
		return err
	}
	var docs []string // as typed, which is relative to the project where it lies inside
	for _, p := range a.flags.docs {
		docs = append(docs, filepath.ToSlash(filepath.Clean(p)))
	}
	text, err := projectConfig(docs)
	if err != nil {
		return failed("write the configuration", err)
	}
	dir := filepath.Join(here, projectDir)
	if err := checkOutput(projectDir); err != nil {
		return err
	}
	if err := a.makeData(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, configName)
	if present(dir, configName) {
		if len(docs) > 0 {
			return a.addDocs(path, docs)
		}
		f := &failure{code: exitFailure, what: "init", err: fmt.Errorf("%s is already there", path)}
		return f.with("edit it, or delete it first")
	}
	if err := newfile.WriteBytes(path, text); err != nil {
		return failed("write the configuration", err)
	}
	if err := a.trustContent(map[string][]byte{path: text}); err != nil {
		return err
	}
	if !present(dir, ".gitignore") {
		if err := newfile.WriteBytes(filepath.Join(dir, ".gitignore"), []byte("*\n!.gitignore\n!"+configName+"\n")); err != nil {
			return failed("write .gitignore", err)
		}
	}
	a.tell("made %s", path)
	if len(docs) == 0 {
		a.tell("now name your documents in it, as: docs: [docs]")
	} else {
		a.tell(`now ask: ragflow ask "…"`)
	}
	return nil
}

// addDocs names documents in a configuration file that names none. The file stays trusted
// where it was.
func (a *app) addDocs(path string, docs []string) error {
	list, err := a.readTrust()
	if err != nil {
		return err
	}
	old, err := a.readProjectFile(path)
	if err != nil {
		return failed("read the configuration", err)
	}
	f := configFile{path: path, keys: map[string]value{}}
	if err := f.parse(old, config.Table(&ragflow.Config{}, "", &config.Models{})); err != nil {
		return err
	}
	if names, ok := f.keys["docs"]; ok {
		return (&failure{code: exitFailure, what: "init", err: fmt.Errorf("%s names documents already", names.source)}).with("change them there")
	}
	text, err := yaml.Marshal(map[string][]string{"docs": docs})
	if err != nil {
		return failed("write the configuration", err)
	}
	text = slices.Concat(old, []byte("\n"), text)
	if err := newfile.WriteBytes(path, text); err != nil {
		return failed("write the configuration", err)
	}
	if list.untrusted(path, old) == "" {
		if err := a.trustContent(map[string][]byte{path: text}); err != nil {
			return err
		}
	}
	a.tell(`%s now names your documents; ask: ragflow ask "…"`, path)
	return nil
}

// projectConfig is the configuration file of a new project.
func projectConfig(docs []string) ([]byte, error) {
	list := []byte("# docs: [docs]\n")
	if len(docs) > 0 {
		var err error
		if list, err = yaml.Marshal(map[string][]string{"docs": docs}); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, `# Settings of ragflow for this folder and those below it; see: ragflow config

# Files and folders to answer from, relative to the folder that holds .ragflow.
%s
# relevance_threshold: 0.5           # a grade of this and more passes
# max_messages_before_summary: 1500  # tokens of a conversation before it is summarised
# max_content_tokens: 4096           # tokens of a conversation given to the answer
# retrieval_max_workers: 4           # searches side by side
`, list), nil
}
