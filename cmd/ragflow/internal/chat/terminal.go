package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/reeflective/readline"
	"golang.org/x/term"

	"example.com/ragflow/cmd/ragflow/internal/screen"
)

// errInterrupted is what readLine returns for Ctrl-C.
var errInterrupted = errors.New("interrupted")

// Terminal is the terminal at which a person types. Between two reads, keys are not echoed and
// wait for the next one, and Ctrl-C is a signal.
type Terminal struct {
	in, out *os.File
	before  *term.State
	shell   *readline.Shell
}

// OpenTerminal takes over standard input and output, which must be a terminal. Typed lines are
// kept in the file history, or only for the session if history is empty. The caller closes the
// terminal.
func OpenTerminal(history string) (*Terminal, error) {
	t := &Terminal{in: os.Stdin, out: os.Stdout}
	if err := t.enter(); err != nil {
		return nil, err
	}
	t.shell = readline.NewShell()
	if history != "" {
		t.shell.History.AddFromFile("history", history)
	}
	for name, value := range map[string]any{
		"enable-bracketed-paste": true, "multiline-column": false,
		"cursor-position-probe": false, // keys that arrive with the answer would be lost
	} {
		if err := t.shell.Config.Set(name, value); err != nil {
			return nil, errors.Join(fmt.Errorf("set up the line editor: %w", err), t.Close())
		}
	}
	t.shell.Keymap.Register(map[string]func(){"newline": func() { t.shell.Cursor().InsertAt('\n') }})
	if err := t.shell.Config.Bind("emacs", "\n", "newline", false); err != nil { // Ctrl-J
		return nil, errors.Join(fmt.Errorf("set up the line editor: %w", err), t.Close())
	}
	t.shell.AcceptMultiline = func(line []rune) bool { return !strings.HasSuffix(string(line), `\`) }
	return t, nil
}

func (t *Terminal) enter() (err error) {
	if t.before, err = term.GetState(int(t.in.Fd())); err == nil {
		err = hush(int(t.in.Fd()))
	}
	if err != nil {
		return fmt.Errorf("take over the terminal: %w", err)
	}
	return nil
}

// Close restores the terminal.
func (t *Terminal) Close() error { return term.Restore(int(t.in.Fd()), t.before) }

// size returns columns and rows; 80 and 24 if the terminal does not report them.
func (t *Terminal) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil || columns <= 0 || rows <= 0 {
		return 80, 24
	}
	return columns, rows
}

// readLine reads one text, which may have several lines. Errors match
// errInterrupted for Ctrl-C, io.EOF for Ctrl-D if nothing was typed, and the cause of ctx. A read
// that ctx interrupts lasts until the program ends.
func (t *Terminal) readLine(ctx context.Context, prompt string) (string, error) {
	t.shell.Prompt.Primary(func() string { return prompt })
	t.shell.Prompt.Secondary(func() string { return "  " })
	fmt.Fprint(t.out, "\n\x1b[A") // the editor loses the prompt in the last row of the screen
	text, err := screen.Wait(ctx, t.shell.Readline)
	switch {
	case ctx.Err() != nil:
		return "", err
	case errors.Is(err, readline.ErrInterrupt):
		return text, errInterrupted
	case err != nil && !errors.Is(err, io.EOF):
		return text, fmt.Errorf("read from the terminal: %w", err)
	}
	return strings.ReplaceAll(text, "\\\n", "\n"), err
}
