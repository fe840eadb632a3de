package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// outlineOver is the length in bytes, escapes as written, beyond which a
// string of a body moves to the blobs.
const outlineOver = 256

// mark begins every string that stands for a blob, as JSON writes it. Strings
// of a body that begin with it themselves are outlined whatever their length,
// so that a marker is never mistaken.
const mark = `\u0001`

// literal marks a blob that holds the string as JSON, quotes included, because
// encoding the text would not give the same bytes again.
const literal = '='

// outlined is a body cut at the strings that became blobs: rest[0], blobs[0],
// rest[1], … rest[n].
type outlined struct {
	rest  [][]byte
	blobs []blob
}

// blob is a string that was taken out of a body.
type blob struct {
	text    string
	literal bool // text is JSON
}

// outline cuts a valid JSON body. The pieces refer to body.
func outline(body []byte) outlined {
	var o outlined
	from := 0
	eachString(body, func(start, end int) {
		inner := body[start+1 : end-1]
		if len(inner) > outlineOver || bytes.HasPrefix(inner, []byte(mark)) {
			o.rest = append(o.rest, body[from:start])
			o.blobs = append(o.blobs, newBlob(body[start:end]))
			from = end
		}
	})
	o.rest = append(o.rest, body[from:])
	return o
}

func newBlob(quoted []byte) blob {
	if inner := quoted[1 : len(quoted)-1]; plain(inner) {
		return blob{text: string(inner)}
	}
	var text string
	if err := json.Unmarshal(quoted, &text); err == nil && !strings.Contains(text, "\x00") && bytes.Equal(quote(text), quoted) {
		return blob{text: text}
	}
	return blob{text: string(quoted), literal: true}
}

// plain says of a string of a valid JSON text whether it surely stands for
// itself: no escape in it, and nothing that quote would escape.
func plain(inner []byte) bool {
	return bytes.IndexByte(inner, '\\') < 0 && !bytes.Contains(inner, []byte("\u2028")) && !bytes.Contains(inner, []byte("\u2029"))
}

// quote writes a string as the engine does: without escapes for web pages.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// join puts markers where the blobs were; ids[i] is the id of blobs[i].
func (o outlined) join(ids []int64) []byte {
	if len(o.blobs) == 0 {
		return o.rest[0]
	}
	var out []byte
	for i, b := range o.blobs {
		out = append(out, o.rest[i]...)
		out = append(out, '"')
		out = append(out, mark...)
		if b.literal {
			out = append(out, literal)
		}
		out = strconv.AppendInt(out, ids[i], 10)
		out = append(out, '"')
	}
	return append(out, o.rest[len(o.blobs)]...)
}

// inline undoes outline and join: text returns a blob by its id.
func inline(body []byte, text func(id int64) (string, error)) ([]byte, error) {
	var out []byte
	var failed error
	from := 0
	eachString(body, func(start, end int) {
		ref, ok := bytes.CutPrefix(body[start+1:end-1], []byte(mark))
		if !ok || failed != nil {
			return
		}
		digits, isLiteral := bytes.CutPrefix(ref, []byte{literal})
		id, err := strconv.ParseInt(string(digits), 10, 64)
		if err != nil {
			failed = fmt.Errorf("broken reference %q to a text", ref)
			return
		}
		s, err := text(id)
		if err != nil {
			failed = fmt.Errorf("text %d: %w", id, err)
			return
		}
		out = append(out, body[from:start]...)
		if isLiteral {
			out = append(out, s...)
		} else {
			out = append(out, quote(s)...)
		}
		from = end
	})
	if failed != nil {
		return nil, failed
	}
	if from == 0 {
		return body, nil
	}
	return append(out, body[from:]...), nil
}

// eachString calls f with the place of each string of a valid JSON text, quotes
// included, that is a value and not the name of a member.
func eachString(body []byte, f func(start, end int)) {
	for i := 0; ; {
		start := bytes.IndexByte(body[i:], '"')
		if start < 0 {
			return
		}
		start += i
		i = stringEnd(body, start+1)
		next := bytes.TrimLeft(body[i:], " \t\r\n")
		if len(next) == 0 || next[0] != ':' {
			f(start, i)
		}
	}
}

// stringEnd returns the end of a string that goes on at i, behind its quote.
func stringEnd(body []byte, i int) int {
	quote := i + bytes.IndexByte(body[i:], '"')
	for {
		escape := bytes.IndexByte(body[i:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		if i += escape + 2; i > quote { // the quote itself was escaped
			quote = i + bytes.IndexByte(body[i:], '"')
		}
	}
}
