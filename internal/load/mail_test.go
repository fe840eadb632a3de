package load_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/load"
)

// mailOf is a mail of parts, each of header fields and a body that is sent as base64.
func mailOf(kind string, parts ...string) []byte {
	b := []byte("From: Ann <ann@example.com>\nSubject: Pump\nMIME-Version: 1.0\nContent-Type: multipart/" + kind + "; boundary=xx\n\n")
	for i := 0; i < len(parts); i += 2 {
		b = fmt.Appendf(b, "--xx\n%s\nContent-Transfer-Encoding: base64\n\n%s\n", parts[i], base64.StdEncoding.EncodeToString([]byte(parts[i+1])))
	}
	return append(b, "--xx--\n"...)
}

const (
	plainPart = "Content-Type: text/plain; charset=utf-8"
	htmlPart  = "Content-Type: text/html; charset=utf-8"
)

func attached(kind, name string) string {
	return "Content-Type: " + kind + "\nContent-Disposition: attachment; filename=" + name
}

// TestMailParts checks what is read of a mail of several parts, and what is named as not read.
func TestMailParts(t *testing.T) {
	const head = "From: Ann <ann@example.com>\nSubject: Pump\n"
	inner := string(mailOf("mixed", plainPart, "Inner text.", attached("text/csv", "list.csv"), "Part;Price\nSeal;4 €\n"))
	for _, tt := range []struct {
		name     string
		data     []byte
		want     string
		warnings []string
	}{
		{"a text part with a name", mailOf("mixed", plainPart+"; name=a.txt\nContent-Disposition: inline; filename=a.txt", "The pump is red."), head + "\nThe pump is red.\n", nil},
		{
			"a second text part with a name", mailOf("mixed", plainPart, "See the file.", "Content-Type: text/plain; name=a.txt\nContent-Disposition: inline; filename=a.txt", "The pump is red."),
			head + "Attachments: a.txt\n\nSee the file.\n\n# Attachment a.txt\n\nThe pump is red.\n", nil,
		},
		{"texts one after the other", mailOf("mixed", plainPart, "One.", htmlPart, "<p>Two.</p>", plainPart, "Three."), head + "\nOne.\n\nTwo.\n\nThree.\n", nil},
		{"alternatives", mailOf("alternative", plainPart, "The pump is red.", htmlPart, "<p>The pump is <b>red</b>.</p>"), head + "\nThe pump is red.\n", nil},
		{"an empty alternative", mailOf("alternative", plainPart, " \n", htmlPart, "<p>The pump is <b>red</b>.</p>"), head + "\nThe pump is red.\n", nil},
		{"a stub as alternative", mailOf("alternative", plainPart, "HTML only.", htmlPart, "<p>The pump is red, and it stands in the yard behind the mill.</p>"), head + "\nThe pump is red, and it stands in the yard behind the mill.\n", nil},
		{"a table as alternative", mailOf("alternative", plainPart, "Part Price Seal 4", htmlPart, "<table><tr><th>Part<th>Price<tr><td>Seal<td>4</table>"), head + "\n| Part | Price |\n| --- | --- |\n| Seal | 4 |\n", nil},
		{
			"an invitation as alternative", mailOf("alternative", plainPart, "Come.", "Content-Type: text/calendar; charset=utf-8", "BEGIN:VEVENT\nSUMMARY:Review\nDTSTART:20261124\nEND:VEVENT\n"),
			head + "Attachments: unnamed.ics\n\nCome.\n\n# Attachment unnamed.ics\n\nEvent: Review; When: Tue 2026-11-24\n", nil,
		},
		{
			"attachments", mailOf("mixed", plainPart, "See below.", attached("application/octet-stream", "offer.docx"), string(zipped(t, "word/document.xml", "<document><body><p><r><t>The pump costs 480 €.</t></r></p></body></document>")),
				attached("application/zip", "plan.zip"), "PK", attached("text/x-go", "a.go"), "package a\n\n# not a heading\n", attached("application/pdf", "bad.pdf"), "%PDF-1.4 x"),
			head + "Attachments: offer.docx, plan.zip, a.go, bad.pdf\n\nSee below.\n\n# Attachment offer.docx\n\nThe pump costs 480 €.\n\n# Attachment a.go\n\n```go\npackage a\n\n# not a heading\n\n```\n",
			[]string{"attachment plan.zip: not read", "attachment bad.pdf: not read: the file is damaged: it is no PDF that can be read"},
		},
		{
			"headings of an attachment", mailOf("mixed", plainPart, "See below.", attached("text/markdown", "a.md"), "# One\n\ntext\n\n## Two\n\nmore\n"),
			head + "Attachments: a.md\n\nSee below.\n\n# Attachment a.md\n\n## One\n\ntext\n\n### Two\n\nmore\n", nil,
		},
		{
			"a forwarded mail", mailOf("mixed", plainPart, "For you.", "Content-Type: message/rfc822", inner),
			head + "Attachments: Pump\n\nFor you.\n\n# Forwarded message: Pump\n\n" + head + "Attachments: list.csv\n\nInner text.\n\n## Attachment list.csv\n\nPart: Seal; Price: 4 €\n", nil,
		},
		{
			"a forwarded file", mailOf("mixed", plainPart, "For you.", attached("application/octet-stream", "old.eml"), inner),
			head + "Attachments: old.eml\n\nFor you.\n\n# Attachment old.eml\n\n" + head + "Attachments: list.csv\n\nInner text.\n\n## Attachment list.csv\n\nPart: Seal; Price: 4 €\n", nil,
		},
		{
			"a digest", []byte("From: Ann <ann@example.com>\nSubject: Pump\nContent-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: One\n\nFirst.\n--b\n\nSubject: Two\n\nSecond.\n--b--\n"),
			head + "Attachments: One, Two\n\n# Forwarded message: One\n\nSubject: One\n\nFirst.\n\n# Forwarded message: Two\n\nSubject: Two\n\nSecond.\n", nil,
		},
		{
			"quotes in quotes", mailOf("mixed", htmlPart, "<p>New: 48,50</p><blockquote><p>Old: 39</p><ul><li>a</li></ul><blockquote><h2>Older</h2>38<br>37</blockquote></blockquote><p>Regards</p>"),
			head + "\nNew: 48,50\n\n> Old: 39\n>\n> - a\n>\n> > Older\n> >\n> > 38\n> > 37\n\nRegards\n", nil,
		},
		{
			"a quote with its own element", mailOf("mixed", htmlPart, `<div>New</div><div class="gmail_quote"><div class="gmail_attr">Le 3 mai, Ann :</div><blockquote class="gmail_quote">Old</blockquote></div>`),
			head + "\nNew\n\n> Le 3 mai, Ann :\n>\n> Old\n", nil,
		},
		{"a reply of Outlook", mailOf("mixed", htmlPart, `<p>New</p><div id="appendonsend"></div><hr><div id="divRplyFwdMsg"><b>发件人:</b> Ann<br></div><p>Old</p>`), head + "\nNew\n\n> 发件人: Ann\n>\n> Old\n", nil},
		{"broken base64", []byte("Subject: x\nContent-Transfer-Encoding: base64\n\nVGhlIHB1bXAgaXMgcmVkLg==\n!!!\n"), "Subject: x\n\nThe pump is red.\n", []string{"it was not read to its end: unexpected EOF"}},
		{"cut off", bytes.TrimSuffix(mailOf("mixed", plainPart, "The pump is red."), []byte("--xx--\n")), head + "\nThe pump is red.\n", []string{"it was not read to its end: multipart: NextPart: EOF"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), "a.eml", tt.data)
			if err != nil {
				t.Fatal(err)
			}
			checkChunks(t, doc)
			if diff := cmp.Diff(tt.want, doc.Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.warnings, doc.Warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMailHead checks the fields and metadata of a mail.
func TestMailHead(t *testing.T) {
	doc, err := load.Parse(t.Context(), "a.eml", []byte("Subject: =?iso-8859-2?Q?=B3o=BFysko?=\nTo: b@example.com,\n c@example.com\nDate: Tue, 4 Aug 2026 08:00:00 -0400 (EDT)\nFrom: Ann\n\nx\n"))
	want := map[string]string{"from": "Ann", "to": "b@example.com, c@example.com", "date": "2026-08-04", "subject": "łożysko"}
	if diff := cmp.Diff(want, doc.Meta); diff != "" || err != nil || doc.Title != "łożysko" {
		t.Errorf("title %q, metadata (-want +got):\n%s", doc.Title, diff)
	}
	if want := "From: Ann\nTo: b@example.com, c@example.com\nDate: 2026-08-04 08:00 -04:00\nSubject: łożysko\n\nx\n"; doc.Text != want {
		t.Errorf("text %q, want %q", doc.Text, want)
	}
}

// TestMailLimits checks that attachments stay within the limits of the mail, which is read all the same.
func TestMailLimits(t *testing.T) {
	mail := []byte("Subject: innermost\n\ntext\n")
	for range 8 {
		mail = mailOf("mixed", plainPart, "outer", attached("application/octet-stream", "in.eml"), string(mail))
	}
	doc, err := load.Parse(t.Context(), "a.eml", mail)
	if err != nil || len(doc.Warnings) != 1 || !strings.HasSuffix(doc.Warnings[0], "attachment in.eml: not read: file too large: more than 4 files in one another") {
		t.Errorf("%q, %v", doc.Warnings, err)
	}
	bomb := zipped(t, "word/document.xml", "<document><body>"+strings.Repeat("<p><r><t>Some words of a bomb.</t></r></p>", 200_000)+"</body></document>")
	doc, err = load.Parse(t.Context(), "a.eml", mailOf("mixed", plainPart, "The pump is red.", attached("application/octet-stream", "a.docx"), string(bomb), attached("text/plain", "b.txt"), "The lamp is blue."))
	if err != nil || len(doc.Warnings) != 1 || !strings.Contains(doc.Warnings[0], "attachment a.docx: not read: file too large") {
		t.Errorf("%q, %v", doc.Warnings, err)
	}
	if !strings.Contains(doc.Text, "The pump is red.") || !strings.Contains(doc.Text, "The lamp is blue.") {
		t.Errorf("text %.300q", doc.Text)
	}
	var many []string
	for range 30 {
		many = append(many, attached("image/png", "a.png"), "x")
	}
	doc, err = load.Parse(t.Context(), "a.eml", mailOf("mixed", many...))
	if err != nil || len(doc.Warnings) != 21 || doc.Warnings[20] != "10 more attachments: not read" {
		t.Errorf("%q, %v", doc.Warnings, err)
	}
}

// TestManyMails reads a mailbox of more paragraphs than a document may have as blocks: each mail is a section all the
// same.
func TestManyMails(t *testing.T) {
	var box strings.Builder
	for i := range 5_000 {
		fmt.Fprintf(&box, "From a 10:00\nSubject: Mail %d\n\n%s\n", i, strings.Repeat("a word\n\n", 12))
	}
	doc, err := load.Parse(t.Context(), "a.mbox", []byte(box.String()))
	if err != nil || len(doc.Blocks) != 10_000 || doc.Blocks[9_998].Heading != "Mail 4999" {
		t.Fatalf("%d blocks, %v, %v", len(doc.Blocks), doc.Warnings, err)
	}
	checkChunks(t, doc)
}

// TestDamagedMails checks that a damaged mailbox or mail of Outlook says in a line what is wrong, and is read as far
// as possible.
func TestDamagedMails(t *testing.T) {
	for _, tt := range []struct {
		name, source, data string
		is                 error
		want               string // of the error, the warnings or the text
	}{
		{"no mailbox", "a.mbox", "Some text.\n", load.ErrBroken, "it is no mailbox"},
		{"text before the first mail", "a.mbox", "x\n\nFrom a 10:00\nSubject: b\n\nc\n", load.ErrBroken, "it is no mailbox"},
		{"a mail without a head", "a.mbox", "From a 10:00\nSubject: b\n\nc\n\nFrom d 10:00\nno head\n", nil, "mail 2: read as text: the file is damaged"},
		{"a mail without a head is kept", "a.mbox", "From a 10:00\nSubject: b\n\nc\n\nFrom d 10:00\nno head\n", nil, "# Mail 2, without a subject\n\nno head"},
		{"no mail of Outlook", "a.msg", "Some text.\n", load.ErrBroken, "it is no mail of Outlook"},
		{"another compound file", "a.msg", "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1" + strings.Repeat("\x00", 600), load.ErrBroken, "it is no mail of Outlook"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := load.Parse(t.Context(), tt.source, []byte(tt.data))
			if !errors.Is(err, tt.is) {
				t.Fatal(err)
			}
			if got := fmt.Sprint(err, doc.Warnings, doc.Text); !strings.Contains(got, tt.want) {
				t.Errorf("%q is missing in %q", tt.want, got)
			}
		})
	}
}
