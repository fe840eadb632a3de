// Package rst makes Markdown of reStructuredText: headings, lists, definitions,
// code, tables, and what directives and roles say to a reader, as Docutils
// (https://docutils.sourceforge.io/docs/ref/rst/restructuredtext.html) and Sphinx
// understand them. No library for Go reads directives, tables and the roles of Sphinx.
package rst
