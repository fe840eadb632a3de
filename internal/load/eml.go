package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"strings"
	"time"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // encodings of parts and headers
)

// Limits of a message.
const (
	maxMailDepth = 16    // of parts within parts
	maxMailParts = 1_000 // of a message
)

// readEML reads a mail: sender, recipients, date and subject, the text (from HTML if there is no plain one),
// and the names of attachments. The metadata is from, to, cc, date (as in 2006-01-02) and subject.
func (d *draft) readEML(data []byte) error {
	d.Encoding, d.Converted = "eml", true
	root, err := message.Read(bytes.NewReader(data))
	if root == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return fmt.Errorf("%w: it is no mail: its headers cannot be read", ErrBroken)
	}
	m := mailReader{draft: d}
	m.about(root.Header)
	if len(d.Meta) == 0 {
		return fmt.Errorf("%w: it has no headers of a mail", ErrBroken)
	}
	err = root.Walk(m.part)
	switch {
	case errors.Is(err, ErrTooLarge):
		return err
	case err != nil:
		d.Warnings = append(d.Warnings, "it was not read to its end: "+shortText(err.Error()))
	}
	return m.write()
}

// mailReader reads the parts of a mail.
type mailReader struct {
	draft    *draft
	parts    int
	head     []string
	plain    []string
	html     []byte
	attached []string
}

// about reads the headers.
func (m *mailReader) about(h message.Header) {
	meta := map[string]string{}
	for _, key := range []string{"From", "To", "Cc", "Date", "Subject"} {
		value, err := h.Text(key)
		if err != nil {
			value = h.Get(key)
		}
		if value = shortText(value); value == "" {
			continue
		}
		m.head = append(m.head, key+": "+value)
		if at, err := mail.ParseDate(value); err == nil && key == "Date" {
			value = at.Format(time.DateOnly)
		}
		meta[strings.ToLower(key)] = value
	}
	m.draft.Meta, m.draft.Title = meta, meta["subject"]
}

// part reads a part.
func (m *mailReader) part(at []int, e *message.Entity, err error) error {
	if m.parts++; m.parts > maxMailParts || len(at) > maxMailDepth {
		return fmt.Errorf("%w: more than %d parts, or nested deeper than %d", ErrTooLarge, maxMailParts, maxMailDepth)
	}
	if err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return err
	}
	kind, about, _ := e.Header.ContentType()
	shown, with, _ := e.Header.ContentDisposition()
	name := shortText(cmp.Or(with["filename"], about["name"]))
	switch text := shown != "attachment" && name == ""; {
	case strings.HasPrefix(kind, "multipart/"):
		return nil
	case text && (kind == "text/plain" || kind == ""):
		content, err := io.ReadAll(e.Body)
		m.plain = append(m.plain, strings.ToValidUTF8(string(content), "?"))
		return err
	case text && kind == "text/html" && m.html == nil:
		m.html, err = io.ReadAll(e.Body)
		return err
	case text && kind == "text/html":
	case kind == "message/rfc822":
		m.attached = append(m.attached, cmp.Or(name, "a forwarded message"))
	default:
		m.attached = append(m.attached, cmp.Or(name, "a part of type "+shortText(kind)))
	}
	return nil
}

// write writes the text of the mail.
func (m *mailReader) write() error {
	w := m.draft.builder()
	w.paragraph(strings.Join(m.head, "\n"))
	body := strings.ReplaceAll(strings.Join(m.plain, "\n\n"), "\r\n", "\n")
	if strings.TrimSpace(body) != "" {
		w.paragraph(body)
	} else if m.html != nil {
		if err := w.chapter(m.html, m.draft.size); err != nil {
			return err
		}
	}
	if len(m.attached) > 0 {
		w.paragraph("Attachments: " + strings.Join(m.attached, ", "))
		m.draft.Warnings = append(m.draft.Warnings, "attached and not read: "+strings.Join(m.attached, ", "))
	}
	w.finish(m.draft)
	return w.full()
}
