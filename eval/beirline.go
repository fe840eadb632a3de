package eval

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// The names that a line of a corpus or of queries may have, those of beirLine.
const (
	beirID = iota
	plainID
	titleName
	textName
	contentsName
	names // how many they are
)

// lineReader reads a line as encoding/json reads it into a beirLine, in a fraction of
// the time: strings are looked for by their ends. It is for what nearly all lines are, an
// object with each name once and strings for them; what is otherwise, right or wrong, is
// left to encoding/json.
type lineReader struct {
	line  []byte // UTF-8
	at    int
	bytes []byte // memory for strings with escapes
}

// read returns the strings of the names, and which of them are there. The line is not to
// be read like this where it is not ok.
func (r *lineReader) read() (values [names]string, has [names]bool, ok bool) {
	if !r.next('{') {
		return values, has, false
	}
	for {
		key, ok := r.key()
		if !ok || !r.next(':') {
			return values, has, false
		}
		name, known := nameOf(key)
		switch {
		case !known:
			ok = r.skip()
		case has[name]:
			ok = false
		default:
			has[name] = true
			values[name], ok = r.string()
		}
		switch {
		case !ok:
			return values, has, false
		case r.next(','):
		case r.next('}'):
			r.space()
			return values, has, r.at == len(r.line)
		default:
			return values, has, false
		}
	}
}

// nameOf returns the name that a key is.
func nameOf(key []byte) (name int, known bool) {
	switch string(key) { // no allocation
	case "_id":
		return beirID, true
	case "id":
		return plainID, true
	case "title":
		return titleName, true
	case "text":
		return textName, true
	case "contents":
		return contentsName, true
	}
	return 0, false
}

func (r *lineReader) space() {
	for r.at < len(r.line) {
		switch r.line[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// next goes behind a byte, where it comes next behind blanks.
func (r *lineReader) next(c byte) bool {
	r.space()
	if r.at == len(r.line) || r.line[r.at] != c {
		return false
	}
	r.at++
	return true
}

// key returns a name of the object. Those that encoding/json takes for one of ours though
// they are written otherwise, and those with escapes, are not ok.
func (r *lineReader) key() ([]byte, bool) {
	raw, plain, ok := r.quoted()
	if !ok || !plain {
		return nil, false
	}
	if _, known := nameOf(raw); !known {
		for _, name := range []string{"_id", "id", "title", "text", "contents"} {
			if strings.EqualFold(string(raw), name) {
				return nil, false
			}
		}
	}
	return raw, true
}

// quoted returns what stands between quotes, and whether it is plain: without escapes. A
// string that does not end, or holds bytes that must be escaped, is not ok.
func (r *lineReader) quoted() (raw []byte, plain, ok bool) {
	if !r.next('"') {
		return nil, false, false
	}
	from := r.at
	for plain = true; ; {
		n := bytes.IndexByte(r.line[r.at:], '"')
		if n < 0 {
			return nil, false, false
		}
		piece := r.line[r.at : r.at+n]
		r.at += n + 1
		if plain && bytes.IndexByte(piece, '\\') >= 0 {
			plain = false
		}
		escapes := 0
		for escapes < len(piece) && piece[len(piece)-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 { // else the quote is escaped
			break
		}
	}
	raw = r.line[from : r.at-1]
	return raw, plain, !holdsControl(raw)
}

// holdsControl reports whether there is a byte below that of a space.
func holdsControl(b []byte) bool {
	const ones = 0x0101010101010101
	for ; len(b) >= 32; b = b[32:] {
		v, w := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])
		x, y := binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[24:])
		if ((v-0x20*ones)&^v|(w-0x20*ones)&^w|(x-0x20*ones)&^x|(y-0x20*ones)&^y)&(0x80*ones) != 0 {
			return true
		}
	}
	for ; len(b) >= 8; b = b[8:] {
		if v := binary.LittleEndian.Uint64(b); (v-0x20*ones)&^v&(0x80*ones) != 0 {
			return true
		}
	}
	for _, c := range b {
		if c < ' ' {
			return true
		}
	}
	return false
}

// string reads a string.
func (r *lineReader) string() (string, bool) {
	raw, plain, ok := r.quoted()
	if !ok || plain {
		return string(raw), ok
	}
	out := r.bytes[:0]
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			out = append(out, raw...)
			r.bytes = out
			return string(out), true
		}
		out = append(out, raw[:i]...)
		if raw = raw[i+1:]; len(raw) == 0 {
			return "", false
		}
		c := raw[0]
		raw = raw[1:]
		switch c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			code, ok := hex4(raw)
			if !ok {
				return "", false
			}
			raw = raw[4:]
			if utf16.IsSurrogate(code) {
				if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
					return "", false
				}
				low, ok := hex4(raw[2:])
				if code = utf16.DecodeRune(code, low); !ok || code == utf8.RuneError {
					return "", false // a half alone
				}
				raw = raw[6:]
			}
			out = utf8.AppendRune(out, code)
		default:
			return "", false
		}
	}
}

// hex4 reads four hexadecimal digits.
func hex4(b []byte) (code rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		code = code<<4 | rune(c)
	}
	return code, true
}

// skip goes behind a value of any kind, which is checked.
func (r *lineReader) skip() bool {
	r.space()
	from, depth := r.at, 0
	for r.at < len(r.line) {
		switch c := r.line[r.at]; {
		case c == '"':
			if _, _, ok := r.quoted(); !ok {
				return false
			}
			continue
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}'):
			return json.Valid(r.line[from:r.at])
		case c == '}' || c == ']':
			depth--
		}
		r.at++
	}
	return false
}
