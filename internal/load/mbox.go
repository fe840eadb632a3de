package load

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"example.com/ragflow/internal/document"
)

var (
	// mboxLine matches the line before a mail of a mailbox: it has a time, or a head follows it.
	mboxLine = regexp.MustCompile(`(?:^|\r?\n\r?\n)From (?:[^\n]*\d:\d\d[^\n]*\n|[^\n]*\n[!-9;-~]+:)`)
	// mboxMark matches the mark of a line that begins with "From " or with such a mark.
	mboxMark = regexp.MustCompile(`(?m)^>(>*From )`)
)

// mailbox writes each mail of an mbox file as a section named by its subject.
func (w *mailWriter) mailbox(ctx context.Context, data []byte) error {
	data = bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\uFEFF")), "\r\n")
	starts := mboxLine.FindAllIndex(data, -1)
	if len(starts) == 0 || starts[0][0] != 0 {
		return fmt.Errorf("%w: it is no mailbox: its first line does not begin with %q, or no mail follows it", ErrBroken, "From ")
	}
	starts = append(starts, []int{len(data)})
	for i := range len(starts) - 1 {
		part := bytes.TrimLeft(data[starts[i][0]:starts[i+1][0]], "\r\n")
		_, part, _ = bytes.Cut(part, []byte("\n"))
		part = mboxMark.ReplaceAll(part, []byte("$1"))
		l, err := readMIME(part)
		switch {
		case errors.Is(err, ErrTooLarge):
			return err
		case err != nil:
			w.draft.Warnings = append(w.draft.Warnings, fmt.Sprintf("mail %d: read as text: %v", i+1, err))
			l = &letter{}
			l.text(strings.ToValidUTF8(string(part), "?"))
		}
		if w.starts = append(w.starts, 0); i > 0 {
			w.starts[i] = w.out.Len() + len("\n\n")
		}
		w.heading(1, cmp.Or(l.about["subject"], fmt.Sprintf("Mail %d, without a subject", i+1)))
		if err := w.letter(ctx, l, 1); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// mailBlocks returns two blocks for each mail, its heading and its text, for a mailbox of too many paragraphs.
func mailBlocks(text string, starts []int) []document.Block {
	var out []document.Block
	for i, start := range append(starts, len(text)) {
		if i > 0 {
			out[2*i-1].End = start
		}
		if start < len(text) {
			end := document.LineEnd(text, start)
			heading := strings.TrimSpace(text[start+len("# ") : end])
			out = append(out, document.Block{Start: start, End: end, Kind: document.KindText, Level: 1, Heading: heading}, document.Block{Start: end, Kind: document.KindText})
		}
	}
	return out
}
