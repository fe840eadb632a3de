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
// Nothing of a document, an answer or a title commands the terminal: all of it passes
// transcript.Visible or package termmd. Control sequences come only from this package, and only
// if Config asks for them.
//
// # How it works
//
// One goroutine owns the session and writes to the screen. While a turn runs, a second one ranges
// over Assistant.Stream and passes each event to the first; it ends with the turn. The answer and
// the status line are a region of the screen, which rewrites only the lines that differ. Of a
// draft, only the lines that fit the screen are drawn, for one that has left it cannot be erased;
// the final answer is then written whole.
package chat
