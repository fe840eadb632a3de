package chunk

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/text"
)

// Languages with special rules.
const (
	langC          = "c"
	langCPP        = "cpp"
	langCSharp     = "csharp"
	langGo         = "go"
	langJava       = "java"
	langJavaScript = "javascript"
	langPHP        = "php"
	langPython     = "python"
	langTypeScript = "typescript"
)

// languages lists the languages whose declarations are recognised, by file extension.
var languages = map[string]string{
	".c": langC, ".h": langC, ".cc": langCPP, ".cpp": langCPP, ".cxx": langCPP, ".hh": langCPP, ".hpp": langCPP, ".hxx": langCPP,
	".cs": langCSharp, ".go": langGo, ".java": langJava, ".js": langJavaScript, ".mjs": langJavaScript, ".cjs": langJavaScript,
	".jsx": langJavaScript, ".kt": "kotlin", ".kts": "kotlin", ".php": langPHP, ".py": langPython, ".pyi": langPython, ".rs": "rust",
	".swift": "swift", ".ts": langTypeScript, ".tsx": langTypeScript,
}

// Languages lists the languages that the code chunker knows, in alphabetical order. They are
// the values of Options.Language.
func Languages() []string { return slices.Compact(slices.Sorted(maps.Values(languages))) }

// language returns the language of a source file, "" for other documents.
func (o Options) language(doc *document.Document) string {
	if doc.Kind != document.Plain || len(doc.Blocks) > 0 {
		return ""
	}
	known := languages[strings.ToLower(path.Ext(doc.Source))]
	if known == "" && !document.IsSource(doc.Source) || o.Language == "" {
		return known
	}
	return o.Language
}

// Types of declarations, as parsers of the tree-sitter family name them.
const (
	declFunction  = "function_declaration"
	declMethod    = "method_definition"
	declArrow     = "arrow_function"
	declClass     = "class_declaration"
	declInterface = "interface_declaration"
	declAlias     = "type_alias_declaration"
	declModule    = "module_declaration"
)

// declaration is a declaration in source code with the comment right above it: whole lines,
// unless it shares them with other declarations.
type declaration struct {
	start, end int
	kind       string
	name       string
	label      string // its heading in a path: func Open
}

// byDeclarations makes a piece of each top-level declaration of a source file, and of the text
// between them. A declaration that is too large is split at blank lines, then at line ends.
func byDeclarations(_ context.Context, j *cutting) ([]piece, error) {
	language := j.o.language(j.doc)
	c := coder{
		s: j.doc.Text, size: j.o.Size, language: language,
		packer: packer{s: j.doc.Text, size: j.o.Size, deepest: 6},
	}
	at := j.doc.Body
	for i, d := range (declarationReader{c.s, language}).declarations(span{at, len(c.s)}) {
		if gap := c.s[at:d.start]; document.IsBlank(gap) || i > 0 && c.crumb(gap, d) {
			d.start = at
		} else {
			c.piece(span{at, d.start}, declaration{})
		}
		c.piece(span{d.start, d.end}, d)
		at = d.end
	}
	switch rest := c.s[at:]; {
	case document.IsBlank(rest):
	case len(c.out) > 0 && text.Estimate(rest) < least:
		c.out[len(c.out)-1].end = len(c.s)
	default:
		c.piece(span{at, len(c.s)}, declaration{})
	}
	return c.out, nil
}

// coder makes pieces of declarations.
type coder struct {
	s        string
	size     int
	language string
	packer   packer
	out      []piece
}

// least is the size in tokens of the smallest piece between declarations: a line or two.
const least = 24

// crumb reports whether the text between declarations is smaller than least and fits into the
// piece of a declaration.
func (c *coder) crumb(gap string, d declaration) bool {
	n := text.Estimate(gap)
	return n < least && n+text.Estimate(c.s[d.start:d.end]) <= c.size
}

// piece appends a part of a file that holds no further declarations, in several pieces if it
// is too large.
func (c *coder) piece(part span, of declaration) {
	var path []string
	if of.label != "" {
		path = []string{of.label}
	}
	blocks := document.Paragraphs(c.s[:part.end], part.start)
	for i := range blocks {
		blocks[i].Kind, blocks[i].Path = document.KindCode, path
	}
	pieces := []piece{{start: part.start, end: part.end, kind: document.KindCode, path: path}}
	if text.Estimate(c.s[part.start:part.end]) > c.size {
		pieces = c.packer.section(blocks)
		if n := len(pieces); n > 1 && pieces[n-1].tokens < least && c.packer.near(pieces[n-2], pieces[n-1]) {
			pieces[n-2], pieces = join(pieces[n-2], pieces[n-1]), pieces[:n-1]
		}
	}
	for _, p := range pieces {
		p.kind, p.path = document.KindCode, path
		p.cut.Language, p.cut.Declaration, p.cut.Name = c.language, of.kind, of.name
		c.out = append(c.out, p)
	}
}
