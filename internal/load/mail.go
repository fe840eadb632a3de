package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"path"
	"strings"
	"time"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/quote"
)

const (
	maxMailDepth   = 16          // of parts within parts
	maxMailParts   = 1_000       // of a mail, with those of the mails in it
	maxAttached    = 4           // files in files: a mail that is attached to an attached mail
	maxAttachment  = time.Minute // for reading one
	maxUnreadNamed = 20          // attachments that are named as not read
)

// letter is a mail, whatever file it comes from.
type letter struct {
	fields   []string          // lines of the head: "From: Ann <ann@example.com>"
	about    map[string]string // from, to, cc, date as in 2006-01-02, subject
	body     []string          // texts in Markdown, with quotes marked by ">"
	attached []attachment
	damage   string // why it was not read to its end
}

// attachment is a file or a mail that is attached to a mail.
type attachment struct {
	name string
	data []byte
	mail *letter // nil for a file
}

// field adds a field of the head, unless it is empty.
func (l *letter) field(key, value string) {
	if value = document.Short(strings.ToValidUTF8(value, "?")); value == "" {
		return
	}
	if l.about == nil {
		l.about = map[string]string{}
	}
	l.about[strings.ToLower(key)] = value
	if at, err := mail.ParseDate(value); err == nil && key == "Date" {
		l.about["date"] = at.Format(time.DateOnly)
		value = at.Format("2006-01-02 15:04 -07:00")
	}
	l.fields = append(l.fields, key+": "+value)
}

func (l *letter) text(s string) {
	if strings.TrimSpace(s) != "" {
		l.body = append(l.body, quote.Mark(s))
	}
}

// readMail reads the kinds of files that hold mails.
func (d *draft) readMail(ctx context.Context, data []byte) error {
	w := mailWriter{builder: d.builder(), draft: d}
	d.Encoding = d.Kind
	var err error
	switch d.Kind {
	case document.MBOX:
		err = w.mailbox(ctx, data)
	case document.MSG:
		err = w.single(ctx, data, readMSG)
	default:
		err = w.single(ctx, data, readMIME)
	}
	if err != nil {
		return err
	}
	w.warn()
	if w.finish(d); d.Blocks == nil {
		d.Blocks = mailBlocks(d.Text, w.starts)
	}
	return nil
}

// mailWriter writes mails, and what is attached to them, as one document.
type mailWriter struct {
	*builder
	draft  *draft
	unread []string // attachments that were not read, with the reason
	starts []int    // of the headings of the mails of a mailbox, in the text
}

// single writes the mail of a file that holds one. Its head is the metadata of the document.
func (w *mailWriter) single(ctx context.Context, data []byte, read func([]byte) (*letter, error)) error {
	l, err := read(data)
	if err != nil {
		return err
	}
	w.draft.Meta, w.draft.Title = l.about, l.about["subject"]
	return w.letter(ctx, l, 0)
}

// letter writes a mail. Its headings are below level.
func (w *mailWriter) letter(ctx context.Context, l *letter, level int) error {
	if l.damage != "" {
		w.draft.Warnings = append(w.draft.Warnings, "it was not read to its end: "+l.damage)
	}
	fields, names := l.fields, []string{}
	for _, a := range l.attached {
		names = append(names, a.name)
	}
	if len(names) > 0 {
		fields = append(fields, "Attachments: "+strings.Join(names, ", "))
	}
	w.paragraph(strings.Join(fields, "\n"))
	for _, s := range l.body {
		w.paragraph(deeper(s, level))
		if err := w.full(); err != nil {
			return err
		}
	}
	for _, a := range l.attached {
		if err := w.attachment(ctx, a, level+1); err != nil {
			return err
		}
	}
	return w.full()
}

// attachment writes an attachment as a section. One that cannot be read is remembered.
func (w *mailWriter) attachment(ctx context.Context, a attachment, level int) error {
	if a.mail != nil {
		w.heading(level, "Forwarded message: "+cmp.Or(a.mail.about["subject"], "without a subject"))
		return w.letter(ctx, a.mail, level)
	}
	doc, err := w.draft.parseAttached(ctx, a)
	if err == nil {
		err = w.overfull(len(doc.Text))
	}
	if err != nil {
		said := "attachment " + a.name + ": not read"
		if !errors.Is(err, ErrNoLoader) {
			said += ": " + err.Error()
		}
		w.unread = append(w.unread, said)
		return context.Cause(ctx) // else the mail is read to its end
	}
	for _, s := range doc.Warnings {
		w.draft.Warnings = append(w.draft.Warnings, "attachment "+a.name+": "+s)
	}
	w.heading(level, "Attachment "+a.name)
	if text := doc.Text[doc.Body:]; document.IsSource(doc.Source) || hasExt(doc.Source, document.JSONEnds) {
		w.paragraph(document.Fenced(text, strings.TrimPrefix(path.Ext(doc.Source), ".")))
	} else {
		w.paragraph(deeper(text, level))
	}
	return nil
}

// parseAttached reads a file that is attached to a mail.
func (d *draft) parseAttached(ctx context.Context, a attachment) (document.Document, error) {
	switch {
	case document.KindOf(a.name) == "":
		return document.Document{}, ErrNoLoader
	case d.depth >= maxAttached:
		return document.Document{}, fmt.Errorf("%w: more than %d files in one another", ErrTooLarge, maxAttached)
	case document.IsSource(a.name) && len(a.data) > maxSource:
		return document.Document{}, fmt.Errorf("%w: %s of source code", ErrTooLarge, inBytes(int64(len(a.data))))
	}
	doc, err := parse(ctx, a.name, a.data, Limits{MaxTime: maxAttachment, depth: d.depth + 1})
	return doc.Document, err
}

// deeper returns a Markdown text with its headings below level.
func deeper(s string, level int) string {
	lines, open := strings.Split(s, "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, "```") {
			open = !open
		}
		if marks := len(line) - len(strings.TrimLeft(line, "#")); marks > 0 && marks <= maxLevel && !open && strings.HasPrefix(line[marks:], " ") {
			lines[i] = strings.Repeat("#", min(marks+level, maxLevel)) + line[marks:]
		}
	}
	return strings.Join(lines, "\n")
}

// warn names the attachments that were not read.
func (w *mailWriter) warn() {
	shown := w.unread[:min(len(w.unread), maxUnreadNamed)]
	w.draft.Warnings = append(w.draft.Warnings, shown...)
	if more := len(w.unread) - len(shown); more > 0 {
		w.draft.Warnings = append(w.draft.Warnings, fmt.Sprintf("%d more attachments: not read", more))
	}
}
