package lineedit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrInterrupted is what ReadLine returns for Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Terminal is a terminal in raw mode. Its methods are for one goroutine.
type Terminal struct {
	in      *os.File
	out     *os.File
	before  *term.State
	restore func()

	chunks  chan Chunk
	reading bool // a goroutine waits for the next chunk
	err     error
	decoder decoder
	keys    []key // typed, and not used yet
}

// Chunk is some input as it came; see [Terminal.Input].
type Chunk struct {
	data []byte
	err  error
}

// The sequences that turn bracketed paste on and off.
const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// Open takes a terminal over. The caller closes it, whatever happens.
func Open(in, out *os.File) (*Terminal, error) {
	t := &Terminal{in: in, out: out, chunks: make(chan Chunk, 1)}
	if err := t.enter(); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Terminal) enter() error {
	before, err := makeRaw(int(t.in.Fd()))
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	t.before, t.restore = before, enableOutput(int(t.out.Fd()))
	_, err = io.WriteString(t.out, pasteOn)
	return err
}

// Close gives the terminal back as it was.
func (t *Terminal) Close() error {
	_, err := io.WriteString(t.out, pasteOff)
	t.restore()
	return errors.Join(err, term.Restore(int(t.in.Fd()), t.before))
}

// Released runs f with the terminal as it was before Open, for a program that
// wants it for itself.
func (t *Terminal) Released(f func(in, out *os.File) error) error {
	if err := t.Close(); err != nil {
		return err
	}
	return errors.Join(f(t.in, t.out), t.enter())
}

// Size returns columns and rows as they are now: 80 and 24 where the terminal
// does not say.
func (t *Terminal) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// Input delivers what is typed next. Hand what it gives to Keep. After the end
// of the input it never delivers.
func (t *Terminal) Input() <-chan Chunk {
	if t.err != nil {
		return nil
	}
	if !t.reading {
		t.reading = true
		go func() { // ends with the read it waits in
			data := make([]byte, 4096)
			n, err := t.in.Read(data)
			t.chunks <- Chunk{data[:n], err}
		}()
	}
	return t.chunks
}

// Keep stores what was typed for the next ReadLine. It reports whether Ctrl-C
// was among it, which is not stored.
func (t *Terminal) Keep(c Chunk) (interrupted bool) {
	t.take(c)
	kept := t.keys[:0]
	for _, k := range t.keys {
		if k.name == "interrupt" {
			interrupted = true
			continue
		}
		kept = append(kept, k)
	}
	t.keys = kept
	return interrupted
}

func (t *Terminal) take(c Chunk) {
	t.reading = false
	t.keys = append(t.keys, t.decoder.take(c.data)...)
	t.err = c.err
}

// key returns the next key, waiting for one where there is none.
func (t *Terminal) key(ctx context.Context) (key, error) {
	for len(t.keys) == 0 {
		if t.err != nil {
			return key{}, t.err
		}
		select {
		case <-ctx.Done():
			return key{}, context.Cause(ctx)
		case c := <-t.Input():
			t.take(c)
		}
	}
	k := t.keys[0]
	t.keys = t.keys[1:]
	return k, nil
}

// Prompt stands before what is typed. Both may hold style sequences (ESC [ … m).
type Prompt struct {
	First    string                     // before the first line
	More     string                     // before each further line
	Complete func(text string) []string // what the text before the cursor may become, for the Tab key; may be nil
}

// ReadLine reads one text, which may have several lines. The arrow keys recall
// what stands in history, which may be nil; to add to it is up to the caller.
// Errors match ErrInterrupted for Ctrl-C, with which what had been typed is
// returned, io.EOF for Ctrl-D where nothing was typed and for the end of the
// input, and the cause of ctx when that ends.
func (t *Terminal) ReadLine(ctx context.Context, p Prompt, history *History) (string, error) {
	if history == nil {
		history = &History{}
	}
	e := &editor{terminal: t, prompt: p, history: history, at: len(history.entries)}
	for {
		if len(t.keys) == 0 || e.drawn == 0 { // not for each of many keys that came at once
			if err := e.draw(); err != nil {
				return "", err
			}
		}
		k, err := t.key(ctx)
		if err != nil {
			return "", errors.Join(err, e.leave(""))
		}
		done, err := e.press(k)
		if err != nil || done {
			return e.buffer.text, err
		}
	}
}

// editor is one call of ReadLine.
type editor struct {
	terminal *Terminal
	prompt   Prompt
	history  *History
	buffer   buffer
	at       int    // the entry of history shown; its length for what is new
	fresh    string // what is new, while an entry is shown
	drawn    int    // rows on the screen; 0 before the first drawing
	row      int    // of the cursor within them
	found    *search
	offers   []string // to complete with, shown below
}

// press takes one key. done tells that the text is to be returned.
func (e *editor) press(k key) (done bool, err error) {
	e.offers = nil
	if e.found != nil && e.searchKey(k) {
		return false, nil
	}
	switch k.name {
	case "":
		e.buffer.insert(k.text, true)
	case "paste":
		e.buffer.insert(k.text, false)
	case "enter":
		if e.buffer.continued() {
			return false, nil
		}
		return true, e.leave("")
	case "interrupt":
		return true, errors.Join(ErrInterrupted, e.leave("^C"))
	case "end of input":
		if e.buffer.text == "" {
			return true, errors.Join(io.EOF, e.leave(""))
		}
		e.buffer.do("delete")
	case "redraw":
		e.drawn, e.row = 0, 0
		_, err := io.WriteString(e.terminal.out, "\x1b[H\x1b[2J")
		return false, err
	case "search":
		e.found = &search{before: e.buffer}
		e.look(len(e.history.entries))
	case "complete":
		e.complete()
	default:
		if !e.recall(k.name) {
			e.buffer.do(k.name)
		}
	}
	return false, nil
}

// complete puts in what all completions share, and offers them where they
// differ.
func (e *editor) complete() {
	if e.prompt.Complete == nil || e.buffer.at != len(e.buffer.text) {
		return
	}
	list := e.prompt.Complete(e.buffer.text)
	if len(list) == 0 {
		return
	}
	common := list[0]
	for _, s := range list[1:] {
		for !strings.HasPrefix(s, common) {
			common = common[:len(common)-1]
		}
	}
	switch {
	case len(list) == 1:
		e.buffer.set(strings.TrimSuffix(common, " ") + " ")
	case len(common) > len(e.buffer.text):
		e.buffer.set(common)
	default:
		e.offers = list
	}
}

// draw shows the text where it was shown before.
func (e *editor) draw() error {
	columns, rows := e.terminal.Size()
	s := e.screen(columns).window(rows - 1)
	if len(e.offers) > 0 {
		s.rows = append(s.rows, clip(strings.Join(e.offers, "  "), columns-1))
	}
	var b strings.Builder
	e.home(&b)
	b.WriteString(strings.Join(s.rows, "\r\n"))
	if up := len(s.rows) - 1 - s.row; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r")
	if s.column > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", s.column)
	}
	e.drawn, e.row = len(s.rows), s.row
	_, err := io.WriteString(e.terminal.out, b.String())
	return err
}

// home moves to where drawing began and clears what follows.
func (e *editor) home(b *strings.Builder) {
	if e.row > 0 {
		fmt.Fprintf(b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r\x1b[J")
}

// screen is what the text looks like; the last column stays free, for there
// terminals differ.
func (e *editor) screen(columns int) screen {
	if e.found != nil {
		first := "search " + e.found.text + ": "
		return layout(e.buffer.text, e.buffer.at, first, e.prompt.More, columns-1)
	}
	return layout(e.buffer.text, e.buffer.at, e.prompt.First, e.prompt.More, columns-1)
}

// leave shows the text a last time, whole, with mark behind it, and goes to the
// line below.
func (e *editor) leave(mark string) error {
	columns, _ := e.terminal.Size()
	e.found, e.offers = nil, nil
	text := e.buffer.text + mark
	s := layout(text, len(text), e.prompt.First, e.prompt.More, columns-1)
	var b strings.Builder
	e.home(&b)
	b.WriteString(strings.Join(s.rows, "\r\n") + "\r\n")
	_, err := io.WriteString(e.terminal.out, b.String())
	return err
}

// clip cuts a line to a width.
func clip(s string, width int) string {
	cut := layout(s, 0, "", "", width).rows
	return cut[0]
}
