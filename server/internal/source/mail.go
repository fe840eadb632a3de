package source

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
)

// Mail is a mail of a document.
type Mail struct {
	Fields      []Field  // From, To, Cc, Date and Subject, those that there are, in this order
	Attachments []string // names of the attached files
	Body        *Lines   // behind the head; Before and After count lines of this mail
}

// Field is a line of the head of a mail.
type Field struct {
	Name  string
	Value []Segment
}

// fieldNames are the names that package load gives to the lines of a head.
var fieldNames = []string{"From", "To", "Cc", "Date", "Subject", "Attachments"}

// field returns the value of a line of a head; "" if the line is none.
func (t *text) field(line int) (name string, value span) {
	b := t.bounds(line)
	name, s, ok := strings.Cut(t.Text.Text[b.start:b.end], ": ")
	if !ok || !slices.Contains(fieldNames, name) {
		return "", span{}
	}
	return name, span{b.end - len(s), b.end}
}

// mail returns the mail that a passage begins in; nil for a document that is none. The lines are those of a window.
func (t *text) mail(window, m span) *Mail {
	if t.form() != FormMail || len(t.starts) == 0 {
		return nil
	}
	head, end := t.mailAt(t.lineAt(m.start))
	out, body := &Mail{}, head
	for ; body < end; body++ {
		name, value := t.field(body)
		switch name {
		case "":
		case "Attachments":
			out.Attachments = t.attached(t.Text.Text[value.start:value.end], head, end)
			continue
		default:
			out.Fields = append(out.Fields, Field{Name: name, Value: t.segments(value, m)})
			continue
		}
		break
	}
	for body < end && t.bounds(body).end == t.starts[body] { // the empty line below the head
		body++
	}
	from := min(max(window.start, body), end)
	to := min(max(window.end, from), end)
	out.Body = t.lines(span{from, to}, m)
	out.Body.Before, out.Body.After = from-body, end-to
	return out
}

// mailAt returns the first line of the head of the mail that a line belongs to, and the line behind the mail. Mails
// of a mailbox stand below headings with their subjects.
func (t *text) mailAt(line int) (head, end int) {
	end = len(t.starts)
	if t.Kind != document.MBOX {
		return 0, end
	}
	begins := func(i int) bool {
		if i+2 >= len(t.starts) || !strings.HasPrefix(t.Text.Text[t.starts[i]:], "# ") || t.bounds(i+1).end > t.starts[i+1] {
			return false
		}
		name, _ := t.field(i + 2)
		return name != ""
	}
	for i := line + 1; i < end; i++ {
		if begins(i) {
			end = i
		}
	}
	for i := line; i >= 0; i-- {
		if begins(i) {
			return i + 2, end
		}
	}
	return 0, end
}

// attached splits the names of attachments. A name may hold the comma that stands between names: those of the
// sections and of what was not read are known.
func (t *text) attached(names string, head, end int) (out []string) {
	known := func(name string) bool {
		return slices.ContainsFunc(t.Problems, func(p string) bool { return strings.HasPrefix(p, "attachment "+name+":") }) ||
			strings.Contains(t.Text.Text[t.starts[head]:t.bounds(end-1).end], " Attachment "+name+"\n")
	}
	parts := strings.Split(names, ", ")
	for i := 0; i < len(parts); {
		next := i + 1
		for j := min(len(parts), i+8); j > i+1; j-- {
			if known(strings.Join(parts[i:j], ", ")) {
				next = j
				break
			}
		}
		out = append(out, visible(strings.Join(parts[i:next], ", ")))
		i = next
	}
	return out
}
