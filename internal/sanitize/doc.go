// Package sanitize makes text of documents, models and people safe to show.
//
// [Visible] is for any text: no terminal obeys it, and it holds no invisible characters.
// [Filter] is for Markdown: no viewer loads, runs or links anything in it. It works on a whole
// text and on the pieces of an answer that is still being written.
package sanitize
