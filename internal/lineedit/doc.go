// Package lineedit reads what a person types at a terminal: one line or
// several, with editing, history and paste.
//
//	t, err := lineedit.Open(os.Stdin, os.Stdout)
//	defer t.Close()
//	text, err := t.ReadLine(ctx, lineedit.Prompt{First: "› ", More: "  "}, history)
//
// # Rules
//
// Enter sends the text; Alt-Enter, Ctrl-J, or a backslash before Enter begins a
// new line in it. What is pasted is inserted as it is, line ends included, and
// sends nothing. The other keys are those of readline's Emacs mode.
//
// Nothing typed is lost: bytes that arrive while no line is being read wait for
// the next one. Whoever works meanwhile selects on [Terminal.Input] and hands
// what came to [Terminal.Keep], which tells when Ctrl-C was among it.
//
// # How it works
//
// From Open to Close the terminal is in raw mode, but its output is not: a
// newline still begins a new line, so that others may write to it too. Input is
// read by one goroutine for one chunk, and only when somebody waits for it;
// between two calls of ReadLine a program that is run in
// [Terminal.Released] has the keyboard to itself. A goroutine that waits in a
// read when the program ends cannot be called back; it ends with the process.
//
// A decoder turns chunks into keys, a pure buffer takes the keys, and layout
// breaks the buffer into rows of the screen, by grapheme clusters.
package lineedit
