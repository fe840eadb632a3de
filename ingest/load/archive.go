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

// Bounds of archives and of the XML in them.
const (
	maxEntries  = 20_000    // of an archive
	maxUnpacked = 64 << 20  // bytes, of all that is read of an archive
	maxNodes    = 1_000_000 // elements and texts of an XML file
	maxNesting  = 256       // of elements
)

// archive is a ZIP file that documents are made of.
type archive struct {
	files map[string]*zip.File
	left  int64 // bytes that may still be unpacked
}

func openArchive(data []byte) (*archive, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case bytes.HasPrefix(data, []byte("\xD0\xCF\x11\xE0")): // a compound file: Office wraps what it encrypts into one
		return nil, fmt.Errorf("%w, or of an old format: save it without a password, in the new format", ErrEncrypted)
	case err != nil:
		return nil, fmt.Errorf("%w: it is no ZIP archive", ErrBroken)
	case len(r.File) > maxEntries:
		return nil, fmt.Errorf("%w: %d files in the archive, the limit is %d", ErrTooLarge, len(r.File), maxEntries)
	}
	a := &archive{files: make(map[string]*zip.File, len(r.File)), left: maxUnpacked}
	for _, f := range r.File {
		a.files[path.Clean(strings.TrimPrefix(f.Name, "/"))] = f
	}
	return a, nil
}

// read unpacks a file. The error wraps ErrTooLarge or ErrBroken;
// sizes are measured, not believed.
func (a *archive) read(name string) ([]byte, error) {
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
	defer func() { _ = r.Close() }() // only read from
	data, err := io.ReadAll(io.LimitReader(r, a.left+1))
	a.left -= int64(len(data))
	switch {
	case a.left < 0:
		return nil, fmt.Errorf("%w: it unpacks to more than %s", ErrTooLarge, inBytes(maxUnpacked))
	case err != nil:
		return nil, fmt.Errorf("%w: %s: %w", ErrBroken, name, err)
	}
	return data, nil
}

// tree unpacks and parses an XML file.
func (a *archive) tree(name string) (*element, error) {
	data, err := a.read(name)
	if err != nil {
		return nil, err
	}
	root, err := parseXML(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return root, nil
}

// optional is tree for a file that may be missing: nil for a file that is missing or cannot be
// read.
func (a *archive) optional(name string) *element {
	if a.files[path.Clean(name)] == nil {
		return nil
	}
	root, err := a.tree(name)
	if err != nil {
		return nil
	}
	return root
}

// count is how many files have names that begin so.
func (a *archive) count(prefix string) (n int) {
	for name := range a.files {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// element is an XML element, or a text where name is empty. Name spaces are
// dropped: the formats that are read here never use one name for two things.
type element struct {
	name string
	text string
	attr []xml.Attr
	kids []*element
}

// parseXML reads XML into a tree. Entities of the document's own are not
// expanded, so that none can be nested to blow up.
func parseXML(data []byte) (*element, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = false
	d.Entity = xml.HTMLEntity
	d.CharsetReader = charset.NewReaderLabel
	root := &element{}
	open := []*element{root}
	nodes := 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return root, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%w: XML: %w", ErrBroken, err)
		}
		top := open[len(open)-1]
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, attr: t.Attr}
			top.kids = append(top.kids, e)
			open = append(open, e)
			nodes++
		case xml.EndElement:
			if len(open) > 1 {
				open = open[:len(open)-1]
			}
		case xml.CharData:
			top.kids = append(top.kids, &element{text: string(t)})
			nodes++
		}
		if len(open) > maxNesting {
			return nil, fmt.Errorf("%w: XML nested deeper than %d", ErrTooLarge, maxNesting)
		}
		if nodes > maxNodes {
			return nil, fmt.Errorf("%w: more than %d elements of XML", ErrTooLarge, maxNodes)
		}
	}
}

// get is the value of an attribute, "" without one. It may be called on nil.
func (e *element) get(name string) string {
	if e == nil {
		return ""
	}
	for _, a := range e.attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// child is the first element below e along a path of names; nil without one. It
// may be called on nil.
func (e *element) child(names ...string) *element {
	for _, name := range names {
		if e == nil {
			return nil
		}
		var next *element
		for _, k := range e.kids {
			if k.name == name {
				next = k
				break
			}
		}
		e = next
	}
	return e
}

// each calls f for the elements of a name at any depth, in order.
func (e *element) each(name string, f func(*element)) {
	if e == nil {
		return
	}
	for _, k := range e.kids {
		if k.name == name {
			f(k)
		}
		k.each(name, f)
	}
}

// words is all text below e. It may be called on nil.
func (e *element) words() string {
	if e == nil {
		return ""
	}
	if e.name == "" && e.text != "" {
		return e.text
	}
	var b strings.Builder
	for _, k := range e.kids {
		b.WriteString(k.words())
	}
	return b.String()
}

// officeRune is a character of a text in XML: white space as a space, and -1
// for what cannot be seen.
func officeRune(r rune) rune {
	if r == '\n' || r == '\r' {
		return ' '
	}
	return visibleRune(r)
}
