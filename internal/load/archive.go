package load

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"golang.org/x/net/html/charset"
)

// Limits of archives and of the XML in them.
const (
	maxEntries = 20_000  // of an archive
	maxPart    = 1 << 20 // bytes of a part that is decoded at once: styles, lists of parts
	maxToken   = 4 << 20 // bytes of XML without a tag
	maxNesting = 256     // of elements
)

// archive is a ZIP file with the parts of a document. Parts are read as streams.
type archive struct {
	data  []byte
	files map[string]*zip.File
	about string // the part with the metadata
	left  int64  // bytes that may still be unpacked
	most  int64  // bytes that may be unpacked in all
}

func openArchive(data []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0")): // a compound file, which Office uses for encryption
		return nil, fmt.Errorf("%w, or of an old format: save it without a password, in the new format", ErrEncrypted)
	case err != nil:
		return nil, fmt.Errorf("%w: it is no ZIP archive", ErrBroken)
	case len(r.File) > maxEntries:
		return nil, fmt.Errorf("%w: %d files in the archive, the limit is %d", ErrTooLarge, len(r.File), maxEntries)
	}
	most := budgetOf(len(data)).unpacked
	a := &archive{data: data, files: make(map[string]*zip.File, len(r.File)), about: "docProps/core.xml", left: most, most: most}
	for _, f := range r.File {
		a.files[path.Clean(strings.TrimPrefix(f.Name, "/"))] = f
	}
	if a.has("meta.xml") {
		a.about = "meta.xml"
	}
	var manifest struct { // of OpenDocument
		Encryption []struct{} `xml:"file-entry>encryption-data"`
	}
	if _ = a.decode("META-INF/manifest.xml", &manifest); len(manifest.Encryption) > 0 {
		return nil, fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	}
	return a, nil
}

// readArchive reads a format whose files are archives of XML.
func (d *draft) readArchive(data []byte, read func(*draft, *archive, *builder) error) error {
	a, err := openArchive(data)
	if err != nil {
		return err
	}
	d.Encoding = d.Kind
	w := d.builder()
	if err := read(d, a, w); err != nil {
		return err
	}
	if w.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	w.finish(d)
	d.about(a)
	for i := range d.Pages {
		d.Pages[i] = min(d.Pages[i], len(d.Text))
	}
	return nil
}

// warnUnread names parts of a document that are not read.
func (d *draft) warnUnread(n int, thing string) {
	if n > 0 {
		d.Warnings = append(d.Warnings, plural(n, thing)+" in it: not read")
	}
}

func (a *archive) has(name string) bool { return a.files[path.Clean(name)] != nil }

// part is an open file of an archive. It counts the unpacked bytes, because declared sizes cannot be trusted.
type part struct {
	io.ReadCloser
	from *archive
	name string
	run  int // bytes since the last tag
}

func (p *part) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.from.left -= int64(n)
	if i := bytes.LastIndexByte(b[:n], '<'); i >= 0 {
		p.run = n - i
	} else {
		p.run += n
	}
	switch {
	case p.from.left < 0:
		return 0, fmt.Errorf("%w: it unpacks to more than %s", ErrTooLarge, inBytes(p.from.most))
	case p.run > maxToken:
		return 0, fmt.Errorf("%w: %s holds more than %s without a tag", ErrTooLarge, p.name, inBytes(maxToken))
	case err != nil && !errors.Is(err, io.EOF):
		return n, fmt.Errorf("%w: %s: %w", ErrBroken, p.name, err)
	}
	return n, err
}

func (a *archive) open(name string) (*part, error) {
	f := a.files[path.Clean(name)]
	if f == nil {
		return nil, fmt.Errorf("%w: %s is missing in it", ErrBroken, name)
	}
	if f.Flags&1 != 0 {
		return nil, fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrBroken, name, err)
	}
	return &part{ReadCloser: r, from: a, name: name}, nil
}

// read unpacks a file of at most so many bytes.
func (a *archive) read(name string, most int64) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%w: %s has more than %s", ErrTooLarge, name, inBytes(most))
	}
	return data, err
}

// decode unpacks a small XML file into a value, like package encoding/xml.
func (a *archive) decode(name string, v any) error {
	data, err := a.read(name, maxPart)
	if err != nil {
		return err
	}
	if err := newDecoder(bytes.NewReader(data)).Decode(v); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBroken, name, err)
	}
	return nil
}

// newDecoder returns a decoder for XML. Entities defined by the document are not expanded, so that nested
// ones cannot exhaust memory.
func newDecoder(r io.Reader) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	return d
}

// xmlHandler receives an XML file in order. Name spaces are dropped: the formats here never use one name for
// two things.
type xmlHandler interface {
	start(e xml.StartElement) (inside bool) // false skips everything inside
	text(s string)
	end(name string) error
}

// stream unpacks an XML file piece by piece.
func (a *archive) stream(name string, h xmlHandler) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read from
	d := newDecoder(r)
	for depth, skipped := 0, 0; ; {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrTooLarge), errors.Is(err, ErrBroken):
			return err
		case err != nil:
			return fmt.Errorf("%w: %s: XML: %w", ErrBroken, name, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxNesting {
				return fmt.Errorf("%w: %s: XML nested deeper than %d", ErrTooLarge, name, maxNesting)
			}
			if skipped == 0 && !h.start(t) {
				skipped = depth
			}
		case xml.EndElement:
			switch skipped {
			case 0:
				if err := h.end(t.Name.Local); err != nil {
					return err
				}
			case depth:
				skipped = 0
			}
			depth = max(depth-1, 0)
		case xml.CharData:
			if skipped == 0 {
				h.text(string(t))
			}
		}
	}
}

// attribute returns the value of an attribute, "" without one.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
