package settings

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
)

// dotenv is a .env file: variables that the environment need not hold. A nil dotenv is empty.
type dotenv struct {
	path   string
	values map[string]string
	lines  []string

	untrusted string // path, unless the person trusted this content
}

// readDotenv reads .env of the working folder, else of the project. Errors name the line and
// never show its text, which may be a secret.
func (l *loader) readDotenv() error {
	for _, dir := range slices.Compact([]string{l.in.Dir, l.Project}) {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, ".env")
		data, err := l.readFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			l.dotenv, err = parseDotenv(path, strings.TrimPrefix(string(data), "\ufeff"))
		}
		if err != nil {
			return failed("read .env", err)
		}
		l.files[path], l.dotenv.untrusted = data, l.trusted.untrusted(path, data)
		if info, err := os.Stat(path); err == nil && othersRead(info) && slices.ContainsFunc(slices.Collect(maps.Keys(l.dotenv.values)), isKeyName) {
			l.notice("%s holds keys, and other users of this machine can read it: chmod 600 %s", path, Quoted(path))
		}
		return nil
	}
	return nil
}

func parseDotenv(path, text string) (*dotenv, error) {
	lines := strings.Split(text, "\n")
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		return nil, errorf("%s: not in the form NAME=value", place(path, brokenLine(lines))).with(`write NAME=value, NAME="a value" or # a comment`)
	}
	return &dotenv{path: path, values: values, lines: lines}, nil
}

// maxQuotedLines bounds the lines of one value, so that the search for a broken line is short.
const maxQuotedLines = 100

// brokenLine returns the number of the first line that cannot be read.
func brokenLine(lines []string) int {
	good := 0 // lines read: values end there
	for i := range lines {
		if _, err := godotenv.Unmarshal(strings.Join(lines[good:i+1], "\n") + "\n"); err == nil {
			good = i + 1
		} else if i-good >= maxQuotedLines {
			break
		}
	}
	return good + 1
}

// value returns the value of a setting; nil if the file does not set it.
func (d *dotenv) value(row setting) *value {
	if d == nil {
		return nil
	}
	variable := row.variable(d.values)
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
	return &value{values: row.split(d.values[variable]), source: place(d.path, line), base: filepath.Dir(d.path), untrusted: d.untrusted}
}
