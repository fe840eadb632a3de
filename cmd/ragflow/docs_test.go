package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocs runs the console blocks of README.md and of the guide as a reader types them, each
// page in a fresh folder with a fresh data folder, and compares what the blocks quote with what
// is printed. The folder holds the guide in docs, and testdata/guide. Rules of the blocks:
//
//   - A block with a reason in its info string is not run: ```console skip="needs a model".
//   - A line that begins with "$ " is a command, one that begins with "› " is typed into it, and
//     the others quote what it prints: standard output, or standard error and standard output.
//   - A quote may leave out text with "…" and break lines anywhere.
//   - A command may fail only if its error is quoted.
//
// With -update quotes that are wrong are written again; read the diff, and shorten them by hand.
func TestDocs(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil || testing.Short() {
		t.Skip("there is no shell, or no time for many starts of the program")
	}
	t.Parallel()
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages of the guide: %d, %v", len(pages), err)
	}
	s := &reader{home: t.TempDir(), guide: t.TempDir(), index: t.TempDir()}
	copyDir(t, s.guide, "testdata/guide")
	copyDir(t, filepath.Join(s.guide, "docs"), "../../docs") // now, for -update changes the pages
	s.moveIn(t)
	if _, _, err := s.run(&quote{command: "ragflow index ./docs"}); err != nil {
		t.Fatal(err)
	}
	copyDir(t, s.index, s.data())
	for _, page := range append([]string{"../../README.md"}, pages...) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			s.moveIn(t)
			copyDir(t, s.data(), s.index)
			s.read(t, page)
		})
	}
}

// reader is a person who tries what a page says.
type reader struct {
	home  string
	guide string // what the person's folder holds in the beginning
	index string // a data folder with the index of the guide
}

func (s *reader) project() string { return filepath.Join(s.home, "project") }
func (s *reader) data() string    { return filepath.Join(s.home, "data", "ragflow") }

// moveIn makes the person's folders as new.
func (s *reader) moveIn(t *testing.T) {
	t.Helper()
	old, err := filepath.Glob(filepath.Join(s.home, "*"))
	for _, path := range old {
		err = errors.Join(err, os.RemoveAll(path))
	}
	if err != nil {
		t.Fatal(err)
	}
	copyDir(t, s.project(), s.guide)
}

func copyDir(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// read tries the commands of a page in their order.
func (s *reader) read(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	quotes, err := quotesOf(string(data))
	if err != nil {
		t.Fatalf("%s:%v", path, err)
	}
	update, lines := flag.Lookup("update"), strings.Split(string(data), "\n")
	var wrong []*quote
	for _, q := range quotes {
		stdout, stderr, err := s.run(q)
		switch {
		case err != nil && !slices.ContainsFunc(q.text, func(l string) bool { return strings.HasPrefix(l, "ragflow: ") }):
			t.Errorf("%s:%d: %s: %v\n%s%s", path, q.line, q.command, err, stderr, stdout)
		case len(q.text) == 0 || isQuoted(q.text, stdout, stderr):
		case update != nil && update.Value.String() == "true":
			q.text = q.mended(stdout, stderr)
			wrong = append(wrong, q)
		default:
			t.Errorf("%s:%d: %s\nis quoted as\n%s\nbut prints\n%s%s", path, q.line, q.command, strings.Join(q.text, "\n"), stderr, stdout)
		}
	}
	for _, q := range slices.Backward(wrong) {
		lines = slices.Replace(lines, q.line, q.end, q.text...)
	}
	if len(wrong) > 0 {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// quote is a command and what a page says that it prints.
type quote struct {
	command   string
	typed     string
	text      []string
	line, end int // of the command and of the last quoted line, from 1
}

var fence = regexp.MustCompile("^```console(?: skip=\"([^\"]+)\")?$")

// quotesOf returns the commands of a page that are run.
func quotesOf(page string) (quotes []*quote, err error) {
	inside, skipped := false, false
	var q *quote
	for i, l := range strings.Split(page, "\n") {
		block := fence.FindStringSubmatch(l)
		switch {
		case !inside && block != nil:
			inside, skipped, q = true, block[1] != "", nil
		case !inside && strings.HasPrefix(l, "```console"):
			return nil, fmt.Errorf("%d: the info string is not as the test wants it: %s", i+1, l)
		case inside && l == "```":
			inside = false
		case !inside || skipped:
		case strings.HasPrefix(l, "$ "):
			q = &quote{command: l[2:], line: i + 1, end: i + 1}
			quotes = append(quotes, q)
		case q == nil:
			return nil, fmt.Errorf("%d: a block begins with a command: %s", i+1, l)
		default:
			if typed, ok := strings.CutPrefix(l, "› "); ok {
				q.typed, l = q.typed+typed+"\n", "…"
			}
			q.text, q.end = append(q.text, l), i+1
		}
	}
	return quotes, nil
}

// run runs the command of a quote.
func (s *reader) run(q *quote) (stdout, stderr string, err error) {
	cmd := exec.Command("sh", "-c", strings.ReplaceAll(q.command, "go run ./cmd/ragflow", "ragflow")) //nolint:noctx // it ends by itself
	cmd.Dir, cmd.Stdin = s.project(), strings.NewReader(q.typed)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE"), "HOME=" + s.home, "PWD=" + s.project(),
		"XDG_DATA_HOME=" + filepath.Dir(s.data()), "XDG_CONFIG_HOME=" + filepath.Join(s.home, "config"), "XDG_CACHE_HOME=" + filepath.Join(s.home, "cache"),
	}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	shown := func(b *bytes.Buffer) string { return strings.ReplaceAll(b.String(), s.home, "/home/you") }
	return shown(&out), shown(&errs), err
}

// sqlite3 is the program of that name as far as the guide uses it: sqlite3 FILE QUERY.
func sqlite3() {
	drivers := sql.Drivers()
	i := slices.IndexFunc(drivers, func(name string) bool { return strings.HasPrefix(name, "sqlite") })
	db, err := sql.Open(drivers[i], os.Args[1])
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }() // it was only read
	rows, err := db.QueryContext(context.Background(), os.Args[2])
	if err != nil {
		panic(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	for rows.Next() && err == nil {
		cells := make([]string, len(columns))
		into := make([]any, len(cells))
		for i := range cells {
			into[i] = &cells[i]
		}
		err = rows.Scan(into...)
		fmt.Fprintln(os.Stdout, strings.Join(cells, "|"))
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		panic(err)
	}
}

// volatile is what no two runs print alike.
var volatile = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?|\d+(\.\d+)? ?(µs|ms|s|kB|MB)\b`)

// steady returns text on one line, without what no two runs print alike.
func steady(text string) string {
	return volatile.ReplaceAllString(strings.Join(strings.Fields(text), " "), "~")
}

// isQuoted reports whether lines quote what a command prints.
func isQuoted(lines []string, stdout, stderr string) bool {
	want := steady(strings.Join(lines, "\n"))
	return matches(want, steady(stdout)) || matches(want, steady(stderr+stdout))
}

// matches reports whether a text is as it is quoted.
func matches(quoted, text string) bool {
	parts := strings.Split(quoted, "…")
	for i, part := range parts {
		part = strings.TrimSpace(part)
		at := strings.Index(text, part)
		if i == len(parts)-1 && strings.HasSuffix(text, part) {
			at = len(text) - len(part)
		}
		if at < 0 || at > 0 && i == 0 || at+len(part) < len(text) && i == len(parts)-1 {
			return false
		}
		text = strings.TrimSpace(text[at+len(part):])
	}
	return true
}

// mended returns the quoted lines with those that are not printed replaced by the printed lines
// that share the most words with them; all printed lines if that does not help.
func (q *quote) mended(stdout, stderr string) []string {
	all := strings.Split(strings.TrimRight(stderr+stdout, "\n"), "\n")
	printed := steady(stderr + stdout)
	var out []string
	for _, l := range q.text {
		best, most := l, 0
		if !matches("…"+steady(l)+"…", printed) {
			for _, candidate := range all {
				if n := shared(l, candidate); n > most {
					best, most = strings.TrimRight(candidate, " "), n
				}
			}
		}
		if len(out) == 0 || out[len(out)-1] != best {
			out = append(out, best)
		}
	}
	if !isQuoted(out, stdout, stderr) {
		return all
	}
	return out
}

// shared counts the words that two lines have in common.
func shared(a, b string) (n int) {
	words := strings.Fields(b)
	for w := range strings.FieldsSeq(a) {
		if slices.Contains(words, w) {
			n++
		}
	}
	return n
}
