package load

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const encodingSample = 64 << 10 // bytes that the detector reads

// decode sets Text, Encoding and Converted.
func (d *draft) decode(data []byte) error {
	name, e := wideEncoding(data[:min(len(data), encodingSample)])
	switch {
	case e != nil:
		return d.convert(data, name, e)
	case bytes.IndexByte(data, 0) >= 0:
		return ErrBinary
	case utf8.Valid(data):
		d.Encoding, d.Text = "utf-8", string(data)
		return nil
	}
	best := detect(data[:min(len(data), encodingSample)])
	text, runes, invalid := replaceInvalid(data)
	if runes > 0 && (runes >= invalid || 4*runes >= invalid && best.Confidence < 90) { // damaged UTF-8
		d.Text, d.Encoding, d.Converted = text, "utf-8", true
		d.Notes = append(d.Notes, fmt.Sprintf("%d invalid UTF-8 bytes read as ?", invalid))
		return nil
	}
	e, name = charmap.Windows1252, "windows-1252"
	if known, canonical := charset.Lookup(best.Charset); known != nil && canonical != "utf-8" {
		e, name = known, canonical
	}
	return d.convert(data, name, e)
}

// detect returns the most likely encoding, and the Western European one among equals, because the detector
// lists equals in random order.
func detect(sample []byte) chardet.Result {
	all, err := chardet.NewTextDetector().DetectAll(sample)
	if err != nil {
		return chardet.Result{}
	}
	foreign := func(r chardet.Result) int {
		if r.Charset == "ISO-8859-1" || r.Charset == "windows-1252" {
			return 0
		}
		return 1
	}
	slices.SortFunc(all, func(a, b chardet.Result) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), foreign(a)-foreign(b), strings.Compare(a.Charset, b.Charset))
	})
	if i := slices.IndexFunc(all, func(r chardet.Result) bool { return hasAll(r.Charset, sample) }); i >= 0 {
		return all[i]
	}
	return all[0]
}

// hasAll reports whether an encoding has a character for each byte of a text, whose last character may be
// cut.
func hasAll(name string, sample []byte) bool {
	e, _ := charset.Lookup(name)
	if e == nil {
		return false
	}
	out, err := e.NewDecoder().Bytes(sample)
	return err == nil && bytes.Count(out, []byte("\uFFFD")) <= 1
}

// convert decodes data, with a warning if the encoding matters: Western European files often do not say theirs.
// It reports ErrBinary if the result is not text.
func (d *draft) convert(data []byte, name string, e encoding.Encoding) error {
	out, err := e.NewDecoder().Bytes(data)
	if err != nil || bytes.IndexByte(out, 0) >= 0 || !utf8.Valid(out) {
		return ErrBinary
	}
	d.Text, d.Encoding, d.Converted = string(out), name, true
	if !isWestern(data, e) {
		d.Notes = append(d.Notes, "converted from "+name)
	}
	return nil
}

// isWestern reports whether each byte of a text is the same character in an encoding as in Windows-1252.
func isWestern(data []byte, e encoding.Encoding) bool {
	var seen [256]bool
	for _, b := range data {
		seen[b] = true
	}
	for b, ok := range seen {
		if !ok || b < utf8.RuneSelf {
			continue
		}
		got, err := e.NewDecoder().Bytes([]byte{byte(b)})
		if err != nil || string(got) != string(charmap.Windows1252.DecodeByte(byte(b))) {
			return false
		}
	}
	return !seen[0]
}

// wideEncoding detects UTF-16 by its byte order mark or by the NUL bytes of ASCII letters; nil for other
// encodings.
func wideEncoding(sample []byte) (string, encoding.Encoding) {
	var zeros [2]int // at even and at odd offsets
	for i, b := range sample {
		if b == 0 {
			zeros[i%2]++
		}
	}
	most, few := len(sample)/2-len(sample)/8, len(sample)/32
	switch {
	case len(sample) < 4:
	case bytes.HasPrefix(sample, []byte{0xFF, 0xFE}), zeros[1] > most && zeros[0] < few:
		return "utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case bytes.HasPrefix(sample, []byte{0xFE, 0xFF}), zeros[0] > most && zeros[1] < few:
		return "utf-16be", unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	}
	return "", nil
}

// replaceInvalid replaces runs of invalid UTF-8 by "?". It returns the numbers of multibyte runes and of
// invalid bytes.
func replaceInvalid(data []byte) (text string, runes, invalid int) {
	valid := bytes.ToValidUTF8(data, nil)
	for _, r := range string(valid) {
		if r >= utf8.RuneSelf {
			runes++
		}
	}
	return string(bytes.ToValidUTF8(data, []byte("?"))), runes, len(data) - len(valid)
}
