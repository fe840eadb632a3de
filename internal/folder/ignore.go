package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxIgnore is the maximum size of an ignore file in bytes. Larger files are not read.
const maxIgnore = 1 << 20

// rule is one line of a .gitignore.
type rule struct {
	glob    string // for paths below the folder of the file
	keeps   bool   // the line began with !
	folders bool   // the line ended in /: it matches folders only
}

// parseRule reads a line; ok is false if it has no rule.
func parseRule(line string) (r rule, ok bool) {
	line = strings.TrimSuffix(line, "\r")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	line, r.keeps = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	elements := strings.Split(strings.TrimPrefix(line, "/"), "/")
	for i, e := range elements {
		for e != "**" && strings.Contains(e, "**") {
			e = strings.ReplaceAll(e, "**", "*") // several stars within a name are one
		}
		elements[i] = e
	}
	r.glob = strings.Join(elements, "/")
	if !strings.Contains(line, "/") {
		r.glob = "**/" + strings.Replace(r.glob, "**", "*", 1) // a name at any depth
	}
	if inside, ok := strings.CutSuffix(r.glob, "/**"); ok {
		r.glob = inside + "/**/*" // not the folder itself
	}
	r.glob = strings.ReplaceAll(r.glob, "{", `\{`) // git has no alternatives
	return r, strings.Trim(line, "/") != ""
}

func (r rule) matches(path string, isFolder bool) bool {
	return (isFolder || !r.folders) && doublestar.MatchUnvalidated(r.glob, path)
}

// ignores are the rules of a folder and of the folders above it.
type ignores struct {
	above  *ignores
	folder string // absolute; of the ignore file
	rules  []rule
}

// enter adds the rules of a subfolder. Those of .ragflowignore come last and so have precedence.
func (g *ignores) enter(folder string) *ignores {
	rules := append(readRules(filepath.Join(folder, ".gitignore")), readRules(filepath.Join(folder, ".ragflowignore"))...)
	if len(rules) == 0 {
		return g
	}
	return &ignores{above: g, folder: folder, rules: rules}
}

// readRules reads an ignore file. A file that cannot be read has no rules.
func readRules(name string) (rules []rule) {
	info, err := os.Lstat(name) // git does not follow links here either
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnore {
		return nil
	}
	data, err := os.ReadFile(name)
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

// ignored reports whether rules exclude a path: the last matching rule of the nearest folder decides. The
// caller checks folders before their content.
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

// outerIgnores returns the rules of the folders above one, up to the top of its repository; nil outside
// repositories. No rule excludes the folder itself.
func outerIgnores(folder string) *ignores {
	var above []string
	for dir := folder; ; dir = filepath.Dir(dir) {
		if dir != folder {
			above = append(above, dir)
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
	var g *ignores
	for _, dir := range slices.Backward(above) {
		g = g.enter(dir)
	}
	return g
}
