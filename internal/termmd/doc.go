// Package termmd renders Markdown for a terminal.
//
//	text := termmd.Render("Use a **volume** [Source 1].", termmd.Options{Width: 80, Style: true})
//
// # Rules
//
// What comes out is text and, with Options.Style, SGR sequences of this
// package; nothing else a text holds commands the terminal. Control
// characters, those written as entities too, are dropped. HTML is shown as
// written. Images are shown as their description and address; nothing is ever
// loaded. A link shows where it leads.
//
// No line is wider than Options.Width, counted in columns of grapheme clusters,
// but for lines of code with Options.LongCode. The same text gives the same bytes, and any text
// that is cut anywhere renders, so that an answer can be shown while it grows.
//
// # How it works
//
// goldmark parses; blocks become lines by recursion, each container putting its
// prefix before the lines of what it holds; inline nodes become spans, which
// wrap breaks into lines.
package termmd
