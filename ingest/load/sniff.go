package load

import (
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/ingest/document"
)

// Marks of Markdown in files whose names say no more than that they are text.
var (
	markdownHead = regexp.MustCompile(`(?m)(?:\A|\n[ \t]*\r?\n)#{1,4} [^\s#].*$`)
	markdownMark = regexp.MustCompile("(?m)^```|\\]\\([^()\\s]+\\)|\\*\\*\\w[^*\n]*\\*\\*|`[^`\n]+`|^[-*] (?:\\[[ x]\\] )?\\w")
)

// sniffed is how many bytes of a file are read, and fewestMarks is the least number of marks of
// a page of Markdown, headings not counted.
const (
	sniffed     = 64 << 10
	fewestMarks = 3
)

// sniff returns the format that a plain text is written in.
func sniff(source, s string) string {
	if !isText(source) {
		return document.Plain
	}
	s = s[:min(len(s), sniffed)]
	if len(markdownHead.FindAllStringIndex(s, 2)) == 2 && len(markdownMark.FindAllStringIndex(s, fewestMarks)) == fewestMarks {
		return document.Markdown
	}
	return document.Plain
}

// isText reports whether the name of a file says that it is text and no more.
func isText(source string) bool {
	switch strings.ToLower(path.Ext(source)) {
	case ".txt", ".text":
		return true
	case "":
		return readByPeople[strings.ToLower(path.Base(source))]
	}
	return false
}

// readByPeople are the files without an extension that are no programs.
//
//nolint:gochecknoglobals // a table
var readByPeople = set("readme changelog changes news todo install contributing")
