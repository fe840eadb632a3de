// Package web is the page: people ask in a browser, read the sources beside the answer, and look after
// documents and conversations. HTML is made here and nowhere in the browser, but for the rows of files that are sent.
//
// A page is a function from a request to an answer, which names its template (answer.go). All but adding files works
// as plain links and forms. With scripts, a conversation has one stream of events (live.go), which sends each turn as
// it looks now, whole: a reader who comes late, comes back, or sits in another tab sees the same, and nothing is lost
// or doubled. A link with data-into is opened in a part of the page.
//
// No HTML, link or picture of a document, a model or a person gets into a page: templates escape all text, and
// Markdown is rendered by markdown.go alone. If a fault of it let HTML through, a strict Content-Security-Policy
// keeps scripts from running.
package web
