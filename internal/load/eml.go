package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // encodings of parts and headers

	"example.com/ragflow/internal/document"
)

// readMIME reads a mail as it is sent. Of alternatives it takes the better one.
func readMIME(data []byte) (*letter, error) {
	m := mimeReader{}
	l, err := m.message(bytes.NewReader(data), 0)
	switch {
	case err != nil:
		return nil, err
	case len(l.about) == 0:
		return nil, fmt.Errorf("%w: it has no headers of a mail", ErrBroken)
	}
	return l, nil
}

// mimeReader counts the parts of a mail and of the mails in it.
type mimeReader struct{ parts int }

func (m *mimeReader) message(r io.Reader, depth int) (*letter, error) {
	root, err := message.Read(r)
	if root == nil || !canRead(err) {
		return nil, fmt.Errorf("%w: it is no mail: its headers cannot be read", ErrBroken)
	}
	l := &letter{}
	for _, key := range []string{"From", "To", "Cc", "Date", "Subject"} {
		value, err := root.Header.Text(key)
		if err != nil {
			value = root.Header.Get(key)
		}
		l.field(key, value)
	}
	return l, m.part(l, root, "", depth)
}

// canRead reports whether a part can be read in spite of an error: in another encoding, as it is.
func canRead(err error) bool {
	return err == nil || message.IsUnknownCharset(err) || message.IsUnknownEncoding(err)
}

// part reads a part of a mail; parent is the type of the part that it is in.
func (m *mimeReader) part(l *letter, e *message.Entity, parent string, depth int) error {
	if m.parts++; m.parts > maxMailParts || depth > maxMailDepth {
		return fmt.Errorf("%w: more than %d parts, or nested deeper than %d", ErrTooLarge, maxMailParts, maxMailDepth)
	}
	kind, about, _ := e.Header.ContentType()
	if parent == "multipart/digest" && e.Header.Get("Content-Type") == "" {
		kind = "message/rfc822"
	}
	shown, with, _ := e.Header.ContentDisposition()
	name := document.Short(strings.ToValidUTF8(cmp.Or(with["filename"], about["name"]), "?"))
	switch {
	case strings.HasPrefix(kind, "multipart/"):
		return m.multipart(l, e, kind, depth)
	case strings.HasSuffix(kind, "-signature") && strings.HasPrefix(kind, "application/"):
		return nil // of the sender's key: no text
	}
	data, err := io.ReadAll(e.Body)
	if err != nil && l.damage == "" {
		l.damage = document.Short(err.Error())
	}
	if kind == "message/rfc822" {
		inner, err := m.message(bytes.NewReader(data), depth+1)
		if errors.Is(err, ErrTooLarge) {
			return err
		}
		if err == nil {
			l.attached = append(l.attached, attachment{name: cmp.Or(name, inner.about["subject"], "a forwarded message"), mail: inner})
			return nil
		}
	}
	isText := shown != "attachment" && (name == "" || len(l.body) == 0)
	switch {
	case isText && (kind == "text/plain" || kind == "" || kind == "message/delivery-status"):
		l.text(strings.ReplaceAll(strings.ToValidUTF8(string(data), "?"), "\r\n", "\n"))
	case isText && kind == "text/html":
		s, err := htmlMail(data)
		l.text(s)
		return err
	default:
		l.attached = append(l.attached, attachment{name: cmp.Or(name, unnamed(kind)), data: data})
	}
	return nil
}

// unnamed returns a name for an attachment without one.
func unnamed(kind string) string {
	for ext, known := range map[string]string{
		".ics": "text/calendar", ".vcf": "text/vcard", ".csv": "text/csv", ".md": "text/markdown", ".txt": "text/plain",
		".html": "text/html", ".pdf": "application/pdf", ".eml": "message/rfc822",
	} {
		if kind == known {
			return "unnamed" + ext
		}
	}
	return "of type " + document.Short(kind)
}

func (m *mimeReader) multipart(l *letter, e *message.Entity, kind string, depth int) error {
	into, best := l, &letter{}
	for parts := e.MultipartReader(); ; {
		p, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if p == nil || !canRead(err) {
			l.damage = document.Short(err.Error())
			break
		}
		if kind == "multipart/alternative" {
			into = &letter{}
		}
		if err := m.part(into, p, kind, depth+1); err != nil {
			return err
		}
		if into != l {
			l.attached, l.damage = append(l.attached, into.attached...), cmp.Or(l.damage, into.damage)
			if best.isWorse(into) {
				best = into
			}
		}
	}
	l.body = append(l.body, best.body...)
	return nil
}

// isWorse reports whether a later form of the same text has more of it: the first one is empty or a stub, or
// has lost a table. Plain text is preferred, because its lines are those that the sender saw.
func (l *letter) isWorse(later *letter) bool {
	old, text := strings.Join(l.body, "\n"), strings.Join(later.body, "\n")
	return 3*len(old) < len(text) || strings.Contains(text, "\n| --- |") && !strings.Contains(old, "\n| --- |")
}
