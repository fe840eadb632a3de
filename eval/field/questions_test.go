// Package field_test checks the questions of the field evaluation against their documents. It does not run
// the program.
package field_test

import (
	"archive/zip"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// question is a line of questions.jsonl. README.md explains the fields.
type question struct {
	ID, Corpus, Half, Question, Lang, Kind, Note string

	History    []string
	Answerable bool
	Files      []string
	Strings    [][]string
	Written    [][]string // of written.jsonl; equal to Strings if that has no line for it
}

var halves = map[string]string{
	"python3": "look", "zsh": "look", "gomod": "look",
	"nginx": "report", "bind9": "report", "octave": "report", "office": "report",
	"office2a": "look", "office2b": "report",
}

// sets lists the files of questions that are checked against their documents.
var sets = []string{"questions.jsonl", "office2.jsonl"}

var kinds = []string{"settings", "howto", "error", "definition", "number", "table", "why", "comparison"}

var office2Kinds = []string{
	"table", "number", "version", "date", "who", "phone", "yesno", "list", "mail", "clause", "document", "catalogue", "compute", "absent", "no-fact",
}

// derivedKinds ask for what the program has to add to the texts: a computed value, the number of an automatic
// clause, the name of a file.
var derivedKinds = []string{"compute", "clause", "catalogue"}

var harderKinds = []string{"count", "follow-up", "why", "comparison", "summary"}

func questions(t *testing.T, file string) []question {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []question
	written := writtenKeys(t)
	lines := json.NewDecoder(bytes.NewReader(data))
	lines.DisallowUnknownFields()
	for lines.More() {
		var q question
		if err := lines.Decode(&q); err != nil {
			t.Fatalf("question %d: %v", len(all)+1, err)
		}
		if q.Written = written[q.ID]; q.Written == nil {
			q.Written = q.Strings
		}
		all = append(all, q)
	}
	return all
}

// writtenKeys returns the groups of written.jsonl by the id of their question.
func writtenKeys(t *testing.T) map[string][][]string {
	t.Helper()
	data, err := os.ReadFile("written.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][][]string{}
	lines := json.NewDecoder(bytes.NewReader(data))
	for lines.More() {
		var key struct {
			ID      string
			Written [][]string
		}
		if err := lines.Decode(&key); err != nil {
			t.Fatalf("key %d: %v", len(out)+1, err)
		}
		out[key.ID] = key.Written
	}
	return out
}

// TestHarderQuestionsAreWhole checks harder.jsonl: answers that have to be counted, compared or summed up, so
// that no document needs to contain their decisive strings. Files of corpora that were not fetched are
// skipped.
func TestHarderQuestionsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range questions(t, "harder.jsonl") {
		if q.ID == "" || seen[q.ID] || q.Question == "" || !slices.Contains(harderKinds, q.Kind) || len(q.Strings) == 0 {
			t.Errorf("%q: id, question, kind or strings are missing or not unique", q.ID)
		}
		if q.Half == "" || q.Half != halves[q.Corpus] {
			t.Errorf("%s: half is %q, want that of corpus %q", q.ID, q.Half, q.Corpus)
		}
		seen[q.ID] = true
		for _, name := range q.Files {
			t.Run(q.ID, func(t *testing.T) {
				if _, err := os.Stat(filepath.Join(folder(t, q.Corpus), filepath.FromSlash(name))); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestWrittenKeysAreWhole checks that each key of written.jsonl belongs to an answerable question,
// and that an answer which only repeats its question does not match the key.
func TestWrittenKeysAreWhole(t *testing.T) {
	keys := writtenKeys(t)
	for _, q := range questions(t, "questions.jsonl") {
		asked := strings.Join(append(q.History, q.Question), "\n")
		for _, group := range keys[q.ID] {
			if !q.Answerable || len(group) == 0 || holds(asked, [][]string{group}) {
				t.Errorf("%s: %q is empty, stands in the question, or the question has no answer", q.ID, group)
			}
		}
		delete(keys, q.ID)
	}
	if len(keys) > 0 {
		t.Errorf("keys of unknown questions: %v", keys)
	}
}

func TestQuestionsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, q := range slices.Concat(questions(t, sets[0]), questions(t, sets[1])) {
		if q.ID == "" || seen[q.ID] {
			t.Errorf("%q: id is empty or not unique", q.ID)
		}
		seen[q.ID] = true
		if q.Half == "" || q.Half != halves[q.Corpus] {
			t.Errorf("%s: half is %q, want that of corpus %q", q.ID, q.Half, q.Corpus)
		}
		if q.Question == "" || q.Note == "" || !slices.Contains([]string{"en", "de", "pl", "vi"}, q.Lang) || !slices.Contains(slices.Concat(kinds, office2Kinds), q.Kind) {
			t.Errorf("%s: question, note, language or kind is missing or unknown", q.ID)
		}
		if q.Answerable != (len(q.Files) > 0) || q.Answerable != (len(q.Strings) > 0) {
			t.Errorf("%s: files and strings must be given exactly for answerable questions", q.ID)
		}
		if _, ok := absent(q); !q.Answerable && !ok {
			t.Errorf("%s: the note must give the pattern that finds nothing, after %q", q.ID, "grep: ")
		}
	}
}

// absent returns the pattern in the note of an unanswerable question.
func absent(q question) (*regexp.Regexp, bool) {
	_, pattern, ok := strings.Cut(q.Note, "grep: ")
	if !ok {
		return nil, false
	}
	re, err := regexp.Compile("(?i)" + pattern)
	return re, err == nil
}

// folder returns the folder of a corpus and skips the test if it was not fetched.
func folder(t *testing.T, corpus string) string {
	t.Helper()
	if strings.HasPrefix(corpus, "office") { // in this repository
		return corpus
	}
	data := os.Getenv("FIELD_DATA")
	if data == "" {
		data = filepath.Join("..", "..", "field-data")
	}
	dir := filepath.Join(data, corpus)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("run eval/field/fetch.sh first, or set FIELD_DATA: %v", err)
	}
	return dir
}

// TestDecisiveStrings checks that each named file contains at least one alternative of each group, and that
// each alternative occurs in one of the files.
func TestDecisiveStrings(t *testing.T) {
	all := slices.Concat(questions(t, sets[0]), questions(t, sets[1]))
	for corpus := range halves {
		t.Run(corpus, func(t *testing.T) {
			dir := folder(t, corpus)
			texts := map[string]string{}
			for _, q := range all {
				if q.Corpus != corpus || slices.Contains(derivedKinds, q.Kind) {
					continue
				}
				var joined strings.Builder
				for _, name := range q.Files {
					if _, ok := texts[name]; !ok {
						texts[name] = normal(text(t, filepath.Join(dir, filepath.FromSlash(name))))
					}
					joined.WriteString(texts[name] + "\n")
					for _, group := range q.Strings {
						if !slices.ContainsFunc(group, func(s string) bool { return strings.Contains(texts[name], normal(s)) }) {
							t.Errorf("%s: %s has none of %q", q.ID, name, group)
						}
					}
				}
				for _, s := range slices.Concat(q.Strings...) {
					if !strings.HasPrefix(corpus, "office2") && !strings.Contains(joined.String(), normal(s)) {
						t.Errorf("%s: no file has %q", q.ID, s)
					}
				}
			}
		})
	}
}

// TestAbsentPatterns checks that nothing in the corpus matches the pattern of an unanswerable question.
func TestAbsentPatterns(t *testing.T) {
	all := slices.Concat(questions(t, sets[0]), questions(t, sets[1]))
	for corpus := range halves {
		t.Run(corpus, func(t *testing.T) {
			dir := folder(t, corpus)
			err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				lines := strings.Split(text(t, path), "\n")
				for _, q := range all {
					if q.Corpus != corpus || q.Answerable {
						continue
					}
					re, ok := absent(q)
					if !ok {
						continue
					}
					if i := slices.IndexFunc(lines, re.MatchString); i >= 0 {
						t.Errorf("%s: %s has %q", q.ID, path, lines[i])
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// normal returns a text for comparison: lower case, single spaces, straight quotation marks, no Markdown
// marks.
func normal(s string) string {
	s = strings.NewReplacer("‘", "'", "’", "'", "“", `"`, "”", `"`, "`", "", "*", "").Replace(s)
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	parted = regexp.MustCompile(`^(word/document|xl/sharedStrings|xl/worksheets/.*|ppt/slides/slide\d+|content)\.xml$`)
	quoted = regexp.MustCompile(`=[0-9A-F]{2}`)
	codes  = regexp.MustCompile(`\\[a-z]+-?[0-9]* ?|[{}]`)
)

// text returns the text of a file without markup.
func text(t *testing.T, path string) string {
	t.Helper()
	if filepath.Ext(path) == ".pdf" {
		out, err := exec.CommandContext(t.Context(), "pdftotext", path, "-").Output()
		if err != nil {
			t.Skipf("pdftotext is needed: %v", err)
		}
		return string(out)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(path) {
	case ".html":
		return pageText(data)
	case ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp":
		return packageText(t, path)
	case ".eml", ".mbox":
		return quoted.ReplaceAllStringFunc(strings.ReplaceAll(string(data), "=\n", ""), func(code string) string {
			b, _ := hex.DecodeString(code[1:])
			return string(b)
		})
	case ".msg": // UTF-16; letters beyond ASCII are lost
		return strings.ReplaceAll(string(data), "\x00", "")
	case ".rtf":
		return codes.ReplaceAllString(string(data), "")
	}
	return string(data)
}

func pageText(page []byte) string {
	var out strings.Builder
	hidden := false
	for tokens := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return out.String()
		case html.TextToken:
			if !hidden {
				out.Write(tokens.Text())
			}
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag := tokens.Token()
			if tag.Data == "script" || tag.Data == "style" {
				hidden = tag.Type == html.StartTagToken
			}
			if slices.Contains([]string{"p", "div", "li", "tr", "td", "th", "dt", "dd", "pre", "br", "h1", "h2", "h3", "h4"}, tag.Data) {
				out.WriteString("\n")
			}
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

func packageText(t *testing.T, path string) string {
	t.Helper()
	parts, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer parts.Close()
	var out strings.Builder
	for _, part := range parts.File {
		if !parted.MatchString(part.Name) {
			continue
		}
		in, err := part.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		spaced := strings.NewReplacer("</w:p>", "\n", "</si>", "\n", "</a:p>", "\n", "</text:p>", "\n", "</c>", "\n").Replace(string(data))
		out.WriteString(html.UnescapeString(tags.ReplaceAllString(spaced, "")))
	}
	return out.String()
}
