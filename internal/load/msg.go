package load

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/richardlehane/mscfb"
	"golang.org/x/text/encoding/unicode"

	"example.com/ragflow/internal/document"
)

// Streams of a mail of Outlook, by their property and the type of its value (MS-OXMSG).
const (
	msgStream     = "__substg1.0_"
	msgProperties = "__properties_version1.0"
	msgAttachment = "__attach_version1.0_"
	msgBytes      = "0102"
	msgObject     = "000D" // a storage
	msgSent       = 0x00390040
	msgDelivered  = 0x0E060040
	msgPlain      = "1000"
	msgHTML       = "1013"
	msgRTF        = "1009"
)

// outlookFile holds the streams of a compound file by their path.
type outlookFile map[string][]byte

func readMSG(data []byte) (*letter, error) {
	r, err := mscfb.New(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%w: it is no mail of Outlook: %w", ErrBroken, err)
	}
	file, left := outlookFile{}, int64(len(data))
	for _, f := range r.File {
		if !strings.HasPrefix(f.Name, msgStream) && f.Name != msgProperties || f.Size == 0 {
			continue
		}
		if left -= f.Size; left < 0 {
			return nil, fmt.Errorf("%w: its streams are longer than the file", ErrBroken)
		}
		content, err := io.ReadAll(io.LimitReader(f, f.Size))
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrBroken, f.Name, err)
		}
		file[strings.Join(append(f.Path, f.Name), "/")] = content
	}
	if file[msgProperties] == nil {
		return nil, fmt.Errorf("%w: it is no mail of Outlook: it has no properties", ErrBroken)
	}
	return file.letter("", 0)
}

// text returns a property that is text, in one of its two encodings.
func (f outlookFile) text(below, property string) string {
	if s, ok := f[below+msgStream+property+"001F"]; ok {
		out, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Bytes(s) // replaces what is invalid
		return strings.Trim(strings.ToValidUTF8(string(out), "?"), "\x00")
	}
	s := draft{}
	if err := s.decode(bytes.Trim(f[below+msgStream+property+"001E"], "\x00")); err != nil {
		return ""
	}
	return s.Text
}

var dateLine = regexp.MustCompile(`(?im)^Date:[ \t]*([^\r\n]+)`)

func (f outlookFile) letter(below string, depth int) (*letter, error) {
	l := &letter{}
	from, address := f.text(below, "0C1A"), cmp.Or(f.text(below, "5D01"), f.text(below, "0C1F"))
	if strings.Contains(address, "@") && address != from {
		from += " <" + address + ">"
	}
	date := f.time(below)
	if m := dateLine.FindStringSubmatch(f.text(below, "007D")); m != nil {
		date = m[1]
	}
	for _, p := range [][2]string{{"From", from}, {"To", f.text(below, "0E04")}, {"Cc", f.text(below, "0E03")}, {"Date", date}, {"Subject", f.text(below, "0037")}} {
		l.field(p[0], p[1])
	}
	if err := f.body(l, below); err != nil {
		return nil, err
	}
	return l, f.attachments(l, below, depth)
}

// body sets the text of a mail: the plain one unless that of the page is better.
func (f outlookFile) body(l *letter, below string) error {
	l.text(strings.ReplaceAll(f.text(below, msgPlain), "\r\n", "\n"))
	page := cmp.Or(string(f[below+msgStream+msgHTML+msgBytes]), f.text(below, msgHTML))
	s, err := htmlMail([]byte(page))
	if err != nil {
		return err
	}
	other := &letter{}
	other.text(s)
	if l.isWorse(other) {
		l.body = other.body
	}
	if len(l.body) == 0 && f[below+msgStream+msgRTF+msgBytes] != nil {
		l.damage = "its text is there only as rich text, which is not read"
	}
	return nil
}

// attachments adds the files and mails that are attached to a mail.
func (f outlookFile) attachments(l *letter, below string, depth int) error {
	found := map[string]bool{}
	for name := range f {
		if storage, _, ok := strings.Cut(strings.TrimPrefix(name, below), "/"); ok && strings.HasPrefix(name, below+msgAttachment) {
			found[below+storage+"/"] = true
		}
	}
	if len(found) > maxMailParts || depth > maxMailDepth {
		return fmt.Errorf("%w: more than %d attachments, or nested deeper than %d", ErrTooLarge, maxMailParts, maxMailDepth)
	}
	for _, at := range slices.Sorted(maps.Keys(found)) {
		a := attachment{
			name: document.Short(cmp.Or(f.text(at, "3707"), f.text(at, "3704"), f.text(at, "3001"), "an attachment without a name")),
			data: f[at+msgStream+"3701"+msgBytes],
		}
		if inner := at + msgStream + "3701" + msgObject + "/"; f[inner+msgProperties] != nil {
			mail, err := f.letter(inner, depth+1)
			if err != nil {
				return err
			}
			a.mail = mail
		}
		l.attached = append(l.attached, a)
	}
	return nil
}

// time returns when a mail was sent, or else delivered, as in a mail's head; "" if it does not say.
func (f outlookFile) time(below string) string {
	const perSecond, epoch = 10_000_000, 11_644_473_600 // hundreds of nanoseconds, and seconds from 1601 to 1970
	data := f[below+msgProperties]
	for _, tag := range []uint32{msgSent, msgDelivered} {
		for at := len(data) % 16; at+16 <= len(data); at += 16 {
			if binary.LittleEndian.Uint32(data[at:]) == tag {
				ticks := int64(binary.LittleEndian.Uint64(data[at+8:]) >> 1 << 1 & (1<<62 - 1))
				return time.Unix(ticks/perSecond-epoch, 0).UTC().Format(time.RFC1123Z)
			}
		}
	}
	return ""
}
