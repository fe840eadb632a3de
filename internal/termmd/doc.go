// Package termmd renders Markdown for a terminal.
//
//	text := termmd.Render("Use a **volume** [Source 1].", termmd.Options{Width: 80, Style: true})
//
// The result is text and, with Options.Style, SGR sequences of this package. Control characters
// of the text are dropped, even if they are written as entities, so that no text controls the
// terminal. HTML is shown as written. Images are shown as their description and address; links
// show their address.
//
// No line is wider than Options.Width, except lines of code with Options.LongCode. Each word
// has its own style, so that lines can be written separately. Text that is cut anywhere renders,
// so that an answer can be shown while it is written.
package termmd
