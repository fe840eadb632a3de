package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
)

func (a *app) initCommand() *cobra.Command {
	c := command("init", 0, func(*cobra.Command, []string) error { return a.init() })
	a.docsFlag(c.Flags())
	return c
}

func (a *app) init() error {
	here, err := os.Getwd()
	if err != nil {
		return failed("find the working folder", err)
	}
	docs := make([]string, len(a.flags.docs))
	for i, p := range a.flags.docs {
		if docs[i], err = documentPath(here, p); err != nil {
			return err
		}
	}
	text, err := projectConfig(docs)
	if err != nil {
		return failed("write the configuration", err)
	}
	dir := filepath.Join(here, projectDir)
	if err := a.makeData(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, configName)
	if err := writeNew(path, text); os.IsExist(err) {
		return &failure{
			code: exitFailure, what: "init", err: fmt.Errorf("%s is already there", path),
			hint: "edit it, or delete it first",
		}
	} else if err != nil {
		return failed("write the configuration", err)
	}
	if err := a.trustContent(map[string][]byte{path: []byte(text)}); err != nil {
		return err
	}
	if err := writeNew(filepath.Join(dir, ".gitignore"), "*\n!.gitignore\n!"+configName+"\n"); err != nil && !os.IsExist(err) {
		return failed("write .gitignore", err)
	}
	a.tell("made %s", path)
	if len(docs) == 0 {
		a.tell("now name your documents in it, as: docs: [docs]")
	} else {
		a.tell(`now ask: ragflow ask "…"`)
	}
	return nil
}

// documentPath writes a path as the project's file shall hold it: relative to
// the project where it lies inside, so that the project can be moved.
func documentPath(here, p string) (string, error) {
	abs := p
	if !filepath.IsAbs(p) {
		abs = filepath.Join(here, p)
	}
	if err := exist([]string{abs}); err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(here, abs); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), nil
	}
	return abs, nil
}

// projectConfig is the configuration file of a new project.
func projectConfig(docs []string) (string, error) {
	list := "# docs: [docs]\n"
	if len(docs) > 0 {
		data, err := yaml.Marshal(map[string][]string{"docs": docs})
		if err != nil {
			return "", err
		}
		list = string(data)
	}
	return strings.Join([]string{
		"# Settings of ragflow for this folder and those below it; see: ragflow config",
		"",
		"# Files and folders to answer from, relative to the folder that holds .ragflow.",
		list,
		"# relevance_threshold: 0.5           # a grade of this and more passes",
		"# max_messages_before_summary: 1500  # tokens of a conversation before it is summarised",
		"# max_content_tokens: 4096           # tokens of a conversation given to the answer",
		"# retrieval_max_workers: 4           # searches side by side",
		"",
	}, "\n"), nil
}

// writeNew writes a file that must not exist yet.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
