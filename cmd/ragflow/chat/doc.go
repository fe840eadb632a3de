// Package chat is the conversation at the terminal: questions, answers as they
// come, and commands that begin with a slash.
//
//	err := chat.Run(ctx, chat.Config{Assistant: assistant, In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
//
// # Rules
//
// With Config.Terminal, a person sits there: what is typed is edited, answers
// are rendered, Ctrl-C ends the turn that runs and never the session, Ctrl-D at
// an empty prompt leaves. Without, each line of Config.In is a question or a
// command, answers go to Config.Out as they were written, each below its
// question, and a question that failed makes Run fail when all are answered.
//
// Nothing of a document, an answer or a title commands the terminal: all of it
// goes through transcript.Visible or package termmd. The sequences that are
// written are those of this package, and only where Config asks for them.
//
// # How it works
//
// One goroutine owns the session and writes to the screen. While a turn runs, a
// second one ranges over Assistant.Stream and hands each event over; it has
// ended when the turn has. What grows or changes on the screen, the answer and
// the line that says what goes on, is a region, which rewrites the lines that
// differ. Of a draft, only what fits the screen is drawn, for a line that has left
// it can never be taken back; the answer is then written whole.
package chat
