package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
)

// A find is a place where a file breaks a rule.
type find struct {
	line          int
	words, advice string
}

// checkFile returns what the comments and names of a Go file break, in the order of lines.
func checkFile(file string) ([]find, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var finds []find
	for _, group := range f.Comments {
		finds = append(finds, checkText(commentLines(fset, group))...)
	}
	for _, decl := range f.Decls {
		finds = append(finds, checkNames(fset, decl)...)
	}
	slices.SortStableFunc(finds, func(a, b find) int { return a.line - b.line })
	return finds, nil
}

// checkPage returns what a page in Markdown breaks outside of blocks of code.
func checkPage(file string) ([]find, error) {
	data, err := os.ReadFile(file)
	var lines []line
	code := false
	for i, t := range strings.Split(string(data), "\n") {
		if strings.HasPrefix(strings.TrimSpace(t), "```") {
			code = !code
			t = ""
		}
		if code {
			t = ""
		}
		lines = append(lines, line{i + 1, t})
	}
	return checkText(lines), err
}

// A line is a line of text with its number in the file.
type line struct {
	number int
	text   string
}

// commentLines returns the lines of a comment without its marks, directives, indented code and the output of an example.
func commentLines(fset *token.FileSet, group *ast.CommentGroup) []line {
	var lines []line
	for _, c := range group.List {
		number := fset.Position(c.Pos()).Line
		text, isLine := strings.CutPrefix(c.Text, "//")
		if !isLine {
			text = strings.TrimSuffix(strings.TrimPrefix(c.Text, "/*"), "*/")
		}
		for i, t := range strings.Split(text, "\n") {
			if strings.HasSuffix(strings.ToLower(strings.TrimSpace(t)), "output:") {
				return lines
			}
			directive := isLine && t != "" && t[0] != ' ' && t[0] != '\t'
			if directive || strings.HasPrefix(t, "\t") || strings.HasPrefix(t, "     ") {
				t = "" // code, or an order to a tool
			}
			lines = append(lines, line{number + i, t})
		}
	}
	return lines
}

// checkText returns the finds in a text. Lines of one paragraph are read as one, so that no line break hides a habit.
func checkText(lines []line) []find {
	var finds []find
	var text strings.Builder
	var starts []int // of lines in text
	var numbers []int
	flush := func() {
		for _, f := range checkParagraph(text.String()) {
			i, found := slices.BinarySearch(starts, f.line)
			if !found {
				i--
			}
			f.line = numbers[i]
			finds = append(finds, f)
		}
		text.Reset()
		starts, numbers = starts[:0], numbers[:0]
	}
	for _, l := range lines {
		t := strings.Join(strings.Fields(l.text), " ")
		if t == "" {
			flush()
			continue
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		starts, numbers = append(starts, text.Len()), append(numbers, l.number)
		text.WriteString(t)
	}
	flush()
	return finds
}

// checkParagraph returns the finds in a paragraph, with offsets for lines.
func checkParagraph(text string) []find {
	var finds []find
	for _, r := range rules {
		for _, at := range r.bad.FindAllStringIndex(text, -1) {
			m := match{text[:at[0]], text[at[0]:at[1]], text[at[1]:]}
			if quoted(m) || r.ok != nil && r.ok(m) {
				continue
			}
			finds = append(finds, find{at[0], excerpt(m), r.advice})
		}
	}
	return finds
}

// quoted reports whether m stands in quotes or code of its line.
func quoted(m match) bool {
	return strings.Count(m.before, `"`)%2 == 1 || strings.Count(m.before, "`")%2 == 1
}

// excerpt returns the words of m with up to two words before and three after them.
func excerpt(m match) string {
	begin, end := len(strings.TrimRight(m.before, " ")), 0
	for range 2 {
		begin = strings.LastIndexByte(m.before[:max(0, begin)], ' ')
	}
	for range 3 {
		if next := strings.IndexByte(m.after[end:]+"  ", ' '); end+next < len(m.after) {
			end += next + 1
		} else {
			end = len(m.after)
		}
	}
	return strings.TrimSpace(m.before[begin+1:] + m.words + m.after[:end])
}

// checkNames returns the names of limits, fields and parameters in a declaration that have better ones.
func checkNames(fset *token.FileSet, decl ast.Decl) []find {
	var finds []find
	refuse := func(id *ast.Ident, advice string) {
		finds = append(finds, find{fset.Position(id.Pos()).Line, id.Name, advice})
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && n.Tok == token.CONST {
					for _, id := range v.Names {
						if limits.MatchString(id.Name) {
							refuse(id, "maxX or minX")
						}
					}
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				if id.Name == "own" || id.Name == "Own" {
					refuse(id, "custom")
				}
			}
		}
		return true
	})
	return finds
}
