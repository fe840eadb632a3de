package load

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"mime/quotedprintable"
	"regexp"
	"strings"

	"golang.org/x/net/html/charset"

	"example.com/ragflow/internal/document"
)

// contentLine is a line of a calendar or of contacts: NAME;PARAMETER=VALUE:VALUE (RFC 5545, RFC 6350).
type contentLine struct {
	name       string            // in upper case, without the name of its group
	parameters map[string]string // names in upper case; several values of one are joined by ","
	value      string            // perhaps with escapes
	line       int               // of the file, from 1
}

const (
	maxEntryLines = 2_000
	maxNames      = 200 // bytes of a name and parameters
)

// readEntries writes each entry of some kinds, such as "VEVENT VTODO", as a record.
func (d *draft) readEntries(kinds string, write func(kind string, lines []contentLine) []string) error {
	w := d.builder()
	var entry []contentLine
	inside, depth, entries := "", 0, 0 // depth of parts in the entry, such as alarms
	end := func(warning string) {
		if inside != "" && warning != "" {
			d.Warnings = append(d.Warnings, warning)
		}
		if len(entry) > 0 {
			w.part(strings.Join(write(inside, entry), "; "), entry[0].line)
			entries++
		}
		entry, inside, depth = nil, "", 0
	}
	for c := range contentLines(d.Text[d.Body:]) {
		part := strings.ToUpper(strings.TrimSpace(c.value))
		begins := c.name == "BEGIN"
		isEntry := strings.Contains(" "+kinds+" ", " "+part+" ")
		switch {
		case begins && isEntry:
			end(fmt.Sprintf("line %d: an entry begins before the end of the one above", c.line))
			inside = part
		case c.name == "END" && isEntry:
			end("")
		case begins:
			depth++
		case c.name == "END":
			depth = max(depth-1, 0)
		case inside != "" && depth == 0:
			entry = append(entry, c)
		}
		if len(entry) > maxEntryLines {
			return fmt.Errorf("%w: line %d: an entry of more than %d lines", ErrTooLarge, c.line, maxEntryLines)
		}
		if err := w.full(); err != nil {
			return err
		}
	}
	end("the last entry is cut off")
	if entries == 0 {
		return fmt.Errorf("%w: it holds no entry: none of %s begins in it", ErrBroken, kinds)
	}
	w.finish(d)
	return nil
}

// contentLines returns the lines of a file. A line that begins with white space continues the one before.
func contentLines(s string) iter.Seq[contentLine] {
	return func(yield func(contentLine) bool) {
		var raw []byte
		number, begun := 0, 0
		for line := range strings.Lines(s + "\n\n") {
			number++
			line = strings.TrimRight(line, "\r\n")
			soft := bytes.HasSuffix(raw, []byte("=")) && bytes.Contains(bytes.ToUpper(raw[:min(len(raw), maxNames)]), []byte("QUOTED-PRINTABLE")) // of vCard 2.1
			switch {
			case soft:
				raw = append(raw[:len(raw)-1], line...)
			case line != "" && (line[0] == ' ' || line[0] == '\t'):
				raw = append(raw, line[1:]...)
			default:
				if c, ok := newContentLine(string(raw), begun); ok && !yield(c) {
					return
				}
				raw, begun = append(raw[:0], line...), number
			}
		}
	}
}

// A line has a head before the first colon, and the head has fields between semicolons, both outside of quotes.
var (
	lineForm  = regexp.MustCompile(`(?s)^((?:[^":]|"[^"]*")*):(.*)$`)
	fieldForm = regexp.MustCompile(`(?:[^";]|"[^"]*")+`)
)

// newContentLine splits a line; ok: it is one, and has a name.
func newContentLine(raw string, line int) (c contentLine, ok bool) {
	form := lineForm.FindStringSubmatch(raw)
	if form == nil || form[1] == "" {
		return c, false
	}
	parts := fieldForm.FindAllString(form[1], maxNames)
	name := parts[0][strings.LastIndexByte(parts[0], '.')+1:]
	c = contentLine{name: strings.ToUpper(name), parameters: map[string]string{}, value: form[2], line: line}
	for _, p := range parts[1:] {
		key, value, named := strings.Cut(p, "=")
		if !named { // vCard 2.1: TEL;HOME
			key, value = "TYPE", p
		}
		key = strings.ToUpper(key)
		c.parameters[key] = strings.TrimPrefix(c.parameters[key]+","+strings.Trim(value, `"`), ",")
	}
	if strings.EqualFold(c.parameters["ENCODING"], "QUOTED-PRINTABLE") {
		c.value = c.decoded()
	}
	return c, true
}

// decoded returns a value that is written as quoted-printable bytes, as far as it is valid.
func (c contentLine) decoded() string {
	data, _ := io.ReadAll(quotedprintable.NewReader(strings.NewReader(c.value))) // the bytes before an error
	if r, err := charset.NewReaderLabel(c.parameters["CHARSET"], bytes.NewReader(data)); err == nil {
		data, _ = io.ReadAll(r) // from memory
	}
	return strings.ToValidUTF8(string(data), "?")
}

// text returns a value on one line, without escapes. A semicolon becomes a comma, because it separates the
// fields of a record.
func (c contentLine) text() string { return plainValue(c.value) }

func plainValue(s string) string {
	return document.Short(strings.ReplaceAll(escapes.Replace(s), ";", ","))
}

//nolint:gochecknoglobals // a constant table
var escapes = strings.NewReplacer(`\\`, `\`, `\n`, " ", `\N`, " ", `\,`, ",", `\;`, ",")

// parts returns the parts of a value between semicolons, without escapes and empty ones.
func (c contentLine) parts() []string {
	var out []string
	for part := range strings.SplitSeq(strings.ReplaceAll(c.value, `\;`, ","), ";") {
		if part = plainValue(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// day writes 20260804 as 2026-08-04, and other values as they are.
func day(s string) string {
	if len(s) >= 8 && strings.Trim(s[:8], "0123456789") == "" {
		return s[:4] + "-" + s[4:6] + "-" + s[6:8]
	}
	return s
}
