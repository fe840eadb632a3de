package load

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ignoreFiles are the files that say what a folder holds beside documents, in
// the order in which they are read: the last rule that matches decides.
func ignoreFiles() []string { return []string{".gitignore", ".ragflowignore"} }

// maxIgnore bounds how much of such a file is read, in bytes.
const maxIgnore = 1 << 20

// rule is one line of a .gitignore.
type rule struct {
	pattern pattern
	keeps   bool // the line began with !
	folders bool // the line ended in /: it is about folders only
	name    bool // no slash: it is about the last element, at any depth
}

// parseRule reads a line; ok is false where it holds no rule.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return rule{}, false
	}
	if line[0] == '!' {
		r.keeps = true
		line = line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.folders = true
		line = line[:len(line)-1]
	}
	r.name = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return rule{}, false
	}
	if r.name && line == "**" {
		line = "*"
	}
	r.pattern = newPattern(line)
	return r, true
}

// matches reports whether a rule is about a path under the folder its file lies
// in.
func (r rule) matches(path string, isFolder bool) bool {
	if r.folders && !isFolder {
		return false
	}
	if r.name {
		return matchElement(r.pattern[0], path[strings.LastIndexByte(path, '/')+1:])
	}
	return r.pattern.matches(path)
}

// ignores are the rules that hold in a folder: its own and those of the folders
// above.
type ignores struct {
	above  *ignores
	folder string // absolute, where rules were read
	rules  []rule
}

// enter returns what holds in a folder below.
func (g *ignores) enter(folder string) *ignores {
	rules := readRules(folder)
	if len(rules) == 0 {
		return g
	}
	return &ignores{above: g, folder: folder, rules: rules}
}

// readRules reads the rules in a folder. Files that cannot be read have none.
func readRules(folder string) (rules []rule) {
	for _, name := range ignoreFiles() {
		rules = append(rules, readRuleFile(filepath.Join(folder, name))...)
	}
	return rules
}

func readRuleFile(name string) (rules []rule) {
	info, err := os.Lstat(name) // git does not follow links here either
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	for line := range strings.SplitSeq(strings.TrimPrefix(string(data), "\uFEFF"), "\n") {
		if r, ok := parseRule(line); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignored reports whether rules take a path out. The nearest folder's last rule
// that matches decides. What lies in a folder that was taken out is never asked
// about.
func (g *ignores) ignored(path string, isFolder bool) bool {
	for ; g != nil; g = g.above {
		below, err := filepath.Rel(g.folder, path)
		if err != nil {
			continue
		}
		below = filepath.ToSlash(below)
		for _, r := range slices.Backward(g.rules) {
			if r.matches(below, isFolder) {
				return !r.keeps
			}
		}
	}
	return false
}

// outerIgnores returns the rules of the repository a folder lies in, from its
// top down to the folder above; nil outside of repositories. The folder itself
// was named, so no rule is asked about it.
func outerIgnores(folder string) *ignores {
	var above []string
	for dir := folder; ; dir = filepath.Dir(dir) {
		if dir != folder {
			above = append(above, dir)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			var g *ignores
			if rules := readRuleFile(filepath.Join(dir, ".git", "info", "exclude")); len(rules) > 0 {
				g = &ignores{folder: dir, rules: rules}
			}
			for _, folder := range slices.Backward(above) {
				g = g.enter(folder)
			}
			return g
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}
