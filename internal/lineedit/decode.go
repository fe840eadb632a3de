package lineedit

import (
	"strings"
	"unicode/utf8"
)

// key is one thing that a person did: a command, or text.
type key struct {
	name string // of the command, such as "left"; empty for text
	text string // to insert; with name "paste" it is what was pasted
}

// decoder turns the bytes of a terminal into keys. A sequence that is not
// whole yet waits for the next chunk.
type decoder struct {
	rest  []byte
	paste bool // within a bracketed paste
}

// The marks around a paste, and how long a sequence may be before it is taken
// for noise.
const (
	pasteStart      = "\x1b[200~"
	pasteEnd        = "\x1b[201~"
	longestSequence = 32
)

// take returns the keys that chunk completes.
func (d *decoder) take(chunk []byte) []key {
	d.rest = append(d.rest, chunk...)
	var keys []key
	for len(d.rest) > 0 {
		k, n := d.next(d.rest)
		if n == 0 {
			break
		}
		d.rest = d.rest[n:]
		if k != (key{}) {
			keys = append(keys, k)
		}
	}
	if len(d.rest) == 0 {
		d.rest = nil // do not grow with the session
	}
	return keys
}

// next decodes the first key of b and says how many bytes it had; 0 where it
// is not whole. The zero key is to be ignored.
func (d *decoder) next(b []byte) (key, int) {
	if d.paste {
		return d.pasted(b)
	}
	switch c := b[0]; {
	case c == 0x1b:
		return d.escape(b)
	case c < 0x20 || c == 0x7f:
		return key{name: controls[c]}, 1
	}
	return plain(b)
}

// plain takes a run of text.
func plain(b []byte) (key, int) {
	n := 0
	for n < len(b) && b[n] >= 0x20 && b[n] != 0x7f {
		if !utf8.FullRune(b[n:]) {
			break
		}
		_, size := utf8.DecodeRune(b[n:])
		n += size
	}
	return key{text: clean(string(b[:n]))}, n
}

// pasted takes what was pasted, up to its end mark.
func (d *decoder) pasted(b []byte) (key, int) {
	i := strings.Index(string(b), pasteEnd)
	if i < 0 {
		return key{}, 0
	}
	d.paste = false
	return key{name: "paste", text: clean(string(b[:i]))}, i + len(pasteEnd)
}

// clean makes text fit to be edited: valid UTF-8, every line end a newline, and
// no control characters but newline and tab.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r >= 0x20 && (r < 0x7f || r > 0x9f) {
			return r
		}
		return -1
	}, s)
}

// escape decodes what begins with ESC: a control sequence, or a key pressed
// with Alt.
func (d *decoder) escape(b []byte) (key, int) {
	if len(b) == 1 {
		return key{}, 0
	}
	switch b[1] {
	case '[':
		return d.sequence(b)
	case 'O':
		if len(b) == 2 {
			return key{}, 0
		}
		return key{name: finals[b[2]]}, 3
	case 0x1b:
		return key{}, 1
	}
	return key{name: alts[b[1]]}, 2
}

// sequence decodes a control sequence, ESC [ parameters final. Whether it is one
// must not depend on how much of the input is there.
func (d *decoder) sequence(b []byte) (key, int) {
	n := 2
	for n < len(b) && n < longestSequence && b[n] >= 0x20 && b[n] < 0x40 {
		n++
	}
	switch {
	case n == len(b):
		return key{}, 0
	case n == longestSequence || b[n] < 0x40 || b[n] > 0x7e: // noise: a new ESC, say, begins anew
		return key{}, n
	}
	parameters, final := string(b[2:n]), b[n]
	if string(b[:n+1]) == pasteStart {
		d.paste = true
		return key{}, n + 1
	}
	if final == '~' {
		number, _, _ := strings.Cut(parameters, ";")
		return key{name: tildes[number]}, n + 1
	}
	name := finals[final]
	if _, modifier, found := strings.Cut(parameters, ";"); found && modifier != "2" { // with Alt or Ctrl: by words
		switch name {
		case "left":
			name = "word left"
		case "right":
			name = "word right"
		}
	}
	return key{name: name}, n + 1
}

// What keys are called. Those without a name do nothing.
//
//nolint:gochecknoglobals // tables that nobody writes to
var (
	controls = map[byte]string{
		0x01: "home", 0x02: "left", 0x03: "interrupt", 0x04: "end of input", 0x05: "end", 0x06: "right",
		0x07: "abort", 0x08: "backspace", 0x09: "complete", 0x0a: "newline", 0x0b: "kill to end", 0x0c: "redraw",
		0x0d: "enter", 0x0e: "next", 0x10: "previous", 0x12: "search", 0x14: "transpose", 0x15: "kill to home",
		0x17: "kill word", 0x19: "yank", 0x1f: "undo", 0x7f: "backspace",
	}
	finals = map[byte]string{
		'A': "up", 'B': "down", 'C': "right", 'D': "left", 'H': "home", 'F': "end",
	}
	tildes = map[string]string{
		"1": "home", "3": "delete", "4": "end", "7": "home", "8": "end",
	}
	alts = map[byte]string{
		'b': "word left", 'B': "word left", 'f': "word right", 'F': "word right", 'd': "delete word", 'D': "delete word",
		0x7f: "kill word", 0x08: "kill word", '\r': "newline", '\n': "newline", '<': "oldest", '>': "newest",
	}
)
