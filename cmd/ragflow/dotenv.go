package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/joho/godotenv"

	"example.com/ragflow/cmd/ragflow/config"
)

// dotenv is a .env file: variables that the environment need not hold.
type dotenv struct {
	path   string
	values map[string]string
	lines  []string

	untrusted string // path, unless the person trusted this content
}

// readDotenv reads .env of the working folder or else of the project; nil
// without one. Errors name the line and never show its text, which may be a
// secret.
func (a *app) readDotenv(s *settings, list trustList) (*dotenv, error) {
	for _, dir := range []string{s.here, s.project} {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, ".env")
		data, err := a.readProjectFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, failed("read .env", err)
		}
		d, err := parseDotenv(path, strings.TrimPrefix(string(data), "\ufeff"))
		if err != nil {
			return nil, err
		}
		s.files[path] = data
		if info, err := os.Stat(path); err == nil && othersRead(info) && slices.ContainsFunc(slices.Collect(maps.Keys(d.values)), isKeyName) {
			a.warnOnce(path + " holds keys, and other users of this machine can read it: chmod 600 " + quoted(path))
		}
		d.untrusted = list.untrusted(path, data)
		return d, nil
	}
	return nil, nil // no file is no error, and a nil *dotenv holds nothing
}

func parseDotenv(path, text string) (*dotenv, error) {
	lines := strings.Split(text, "\n")
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		return nil, usagef("%s: not in the form NAME=value", where(path, brokenLine(lines))).with(`write NAME=value, NAME="a value" or # a comment`)
	}
	return &dotenv{path: path, values: values, lines: lines}, nil
}

// brokenLine returns the number of the line from which on the file cannot be
// read: the one after the longest beginning that can.
func brokenLine(lines []string) int {
	good := 0
	for i := range lines {
		if _, err := godotenv.Unmarshal(strings.Join(lines[:i+1], "\n") + "\n"); err == nil {
			good = i + 1
		}
	}
	return good + 1
}

// value returns what the file says of a setting; nil where it says nothing.
func (d *dotenv) value(row config.Setting) *value {
	if d == nil {
		return nil
	}
	variable := row.Variable(d.values)
	if d.values[variable] == "" {
		return nil
	}
	line := 0
	assignment := regexp.MustCompile(fmt.Sprintf(`^\s*(export\s+)?%s\s*[=:]`, regexp.QuoteMeta(variable)))
	for i, l := range d.lines {
		if assignment.MatchString(l) {
			line = i + 1 // the last one counts
		}
	}
	return &value{values: row.Split(d.values[variable]), source: where(d.path, line), base: filepath.Dir(d.path), untrusted: d.untrusted}
}
