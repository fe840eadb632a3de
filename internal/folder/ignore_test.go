package folder_test

import (
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sources returns the files that Files yields without errors.
func sources(t *testing.T, root string) []string {
	t.Helper()
	return slices.DeleteFunc(list(t, root), func(s string) bool { return strings.HasPrefix(s, "! ") })
}

func TestIgnore(t *testing.T) {
	all := []string{"a.md", "b/a.md", "b/c/a.md", "b/c/d.md", "b/x y.md", "doc/frotz/a.md", "doc.md", "foo/bar/a.md", "x[1].md", "#a.md", "!b.md", "z.txt"}
	without := func(gone ...string) []string {
		out := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return slices.Contains(gone, s) })
		slices.Sort(out)
		return out
	}
	for _, tt := range []struct {
		name  string
		rules map[string]string
		want  []string
	}{
		{"nothing", nil, without()},
		{"comment and blank", map[string]string{".gitignore": "# a.md\n\n   \n"}, without()},
		{"name at any depth", map[string]string{".gitignore": "a.md\n"}, without("a.md", "b/a.md", "b/c/a.md", "doc/frotz/a.md", "foo/bar/a.md")},
		{"slash in front", map[string]string{".gitignore": "/a.md\n"}, without("a.md")},
		{"slash within", map[string]string{".gitignore": "b/a.md\n"}, without("b/a.md")},
		{"slash within is anchored", map[string]string{".gitignore": "c/a.md\n"}, without()},
		{"folder", map[string]string{".gitignore": "c/\n"}, without("b/c/a.md", "b/c/d.md")},
		{"folder rule and file", map[string]string{".gitignore": "doc.md/\n"}, without()},
		{"star", map[string]string{".gitignore": "*.txt\n"}, without("z.txt")},
		{"star does not cross", map[string]string{".gitignore": "b/*.md\n"}, without("b/a.md", "b/x y.md")},
		{"two stars in front", map[string]string{".gitignore": "**/frotz\n"}, without("doc/frotz/a.md")},
		{"two stars behind", map[string]string{".gitignore": "b/**\n"}, without("b/a.md", "b/c/a.md", "b/c/d.md", "b/x y.md")},
		{"two stars between", map[string]string{".gitignore": "foo/**/a.md\n"}, without("foo/bar/a.md")},
		{"two stars between nothing", map[string]string{".gitignore": "b/**/a.md\n"}, without("b/a.md", "b/c/a.md")},
		{"two stars within a name", map[string]string{".gitignore": "d**.md\n"}, without("doc.md", "b/c/d.md")},
		{"question mark", map[string]string{".gitignore": "?.txt\n"}, without("z.txt")},
		{"class", map[string]string{".gitignore": "[x-z].txt\n"}, without("z.txt")},
		{"negated class", map[string]string{".gitignore": "[!a-y].txt\n"}, without("z.txt")},
		{"escaped brackets", map[string]string{".gitignore": `x\[1\].md` + "\n"}, without("x[1].md")},
		{"escaped hash", map[string]string{".gitignore": "\\#a.md\n"}, without("#a.md")},
		{"escaped bang", map[string]string{".gitignore": "\\!b.md\n"}, without("!b.md")},
		{"space within", map[string]string{".gitignore": "x y.md  \n"}, without("b/x y.md")},
		{"keeps again", map[string]string{".gitignore": "*.md\n!doc.md\n"}, []string{"doc.md", "z.txt"}},
		{"the last rule decides", map[string]string{".gitignore": "!z.txt\n*.txt\n"}, without("z.txt")},
		{"nothing comes back from a folder", map[string]string{".gitignore": "b/c/\n!b/c/a.md\n"}, without("b/c/a.md", "b/c/d.md")},
		{"folder's content comes back", map[string]string{".gitignore": "b/c/*\n!b/c/a.md\n"}, without("b/c/d.md")},
		{"nested", map[string]string{"b/.gitignore": "/a.md\n"}, without("b/a.md")},
		{"nested keeps", map[string]string{".gitignore": "a.md\n", "b/.gitignore": "!a.md\n"}, without("a.md", "doc/frotz/a.md", "foo/bar/a.md")},
		{"line ends and mark of Windows", map[string]string{".gitignore": "\uFEFFz.txt\r\ndoc.md\r\n"}, without("z.txt", "doc.md")},
		{"ours", map[string]string{".ragflowignore": "z.txt\n"}, without("z.txt")},
		{"ours has the last word", map[string]string{".gitignore": "*.txt\n", ".ragflowignore": "!z.txt\n"}, without()},
		{"broken class", map[string]string{".gitignore": "[z.txt\n"}, without()},
		{"slash alone", map[string]string{".gitignore": "/\n!\n!/\n"}, without()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for _, f := range all {
				if runtime.GOOS != "windows" || !strings.ContainsAny(f, `?*"<>|`) {
					files[f] = "x"
				}
			}
			maps.Copy(files, tt.rules)
			got := sources(t, tree(t, files))
			slices.Sort(got)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestIgnoreOfRepository checks that the rules above a folder count within its repository, and those above
// the repository do not.
func TestIgnoreOfRepository(t *testing.T) {
	root := tree(t, map[string]string{
		".gitignore": "*.md\n", "repo/.git/HEAD": "x", "repo/.gitignore": "draft.md\n/docs\n",
		"repo/docs/a.md": "a", "repo/docs/draft.md": "x",
	})
	if d := cmp.Diff([]string{"a.md"}, sources(t, filepath.Join(root, "repo", "docs"))); d != "" {
		t.Error(d)
	}
}

// TestIgnoreLikeGit compares random rules with git itself.
func TestIgnoreLikeGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("no git to compare with")
	}
	r := rand.New(rand.NewPCG(7, 11))
	names := []string{"a", "b", "ab", "x1", "-", "]", "aa"}
	parts := []string{"a", "b", "*", "?", "**", "/", "/", "[ab]", "[!a]", ".md", "\\a", "x", "1", "-"}
	rule := func() string {
		var b strings.Builder
		if r.IntN(4) == 0 {
			b.WriteByte('!')
		}
		for range 1 + r.IntN(5) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		return b.String()
	}
	for range 20 {
		files := map[string]string{}
		for _, x := range names {
			for _, y := range names {
				files["d"+x+"/"+y+"/"+y+".md"] = "x"
				files["d"+x+"/"+y+".md"] = "x"
			}
			files[x+".md"] = "x"
		}
		for _, folder := range []string{"", "da/", "da/b/"} {
			var rules []string
			for range 1 + r.IntN(4) {
				rules = append(rules, rule())
			}
			files[folder+".gitignore"] = strings.Join(rules, "\n") + "\n"
		}
		root := tree(t, files)
		run := func(args ...string) string {
			cmd := exec.CommandContext(t.Context(), git, args...)
			cmd.Dir = root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
			out, err := cmd.Output()
			if err != nil {
				t.Skipf("git %s: %v", args[0], err)
			}
			return string(out)
		}
		run("init", "-q")
		var want []string
		for f := range strings.SplitSeq(strings.TrimRight(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00") {
			if strings.HasSuffix(f, ".md") {
				want = append(want, f)
			}
		}
		got := sources(t, root)
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("rules %q, %q, %q: (-git +got)\n%s", files[".gitignore"], files["da/.gitignore"], files["da/b/.gitignore"], d)
		}
	}
}

// TestPatternTime matches globs that take exponential time in a naive matcher.
func TestPatternTime(t *testing.T) {
	name := strings.Repeat("a", 200)
	root := tree(t, map[string]string{
		name + ".md": "x", strings.Repeat("a/", 40) + "b.md": "x",
		".gitignore": strings.Repeat("*a", 90) + "*b\n" + strings.Repeat("**/a/", 60) + "z\n",
	})
	if got := sources(t, root); len(got) != 2 {
		t.Errorf("got %q", got)
	}
}
