package chunk

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"

	"example.com/ragflow/ingest/document"
)

// goDeclarations finds the declarations of a Go file with the parser of Go
// itself. It reports false where that does not understand the file.
func goDeclarations(s string, from int) ([]declaration, bool) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", s[from:], parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, false
	}
	at := func(p token.Pos) int { return from + files.File(file.FileStart).Offset(p) }
	var out []declaration
	last := at(file.Name.End())
	for _, decl := range file.Decls {
		d, doc := goDeclaration(decl)
		if d.kind == "" {
			continue // imports
		}
		start := decl.Pos()
		if doc != nil {
			start = doc.Pos()
		}
		d.start = max(lineStart(s, at(start)), last)
		d.end = restOfLine(s, at(decl.End()))
		if d.start >= d.end {
			continue // on the line of another declaration, which includes it
		}
		out = append(out, d)
		last = d.end
	}
	return out, true
}

// goDeclaration returns the kind and name of a declaration, and its comment.
func goDeclaration(decl ast.Decl) (declaration, *ast.CommentGroup) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || len(d.Recv.List) == 0 {
			return declaration{kind: declFunction, name: d.Name.Name, label: "func " + d.Name.Name}, d.Doc
		}
		name := receiver(d.Recv.List[0].Type) + "." + d.Name.Name
		return declaration{kind: declMethod, name: name, label: "func " + name}, d.Doc
	case *ast.GenDecl:
		if d.Tok == token.IMPORT {
			return declaration{}, nil
		}
		var names []string
		kind := map[token.Token]string{token.CONST: declConst, token.VAR: declVariable, token.TYPE: declType}[d.Tok]
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
				if len(d.Specs) == 1 {
					kind = goType(spec)
				}
			}
		}
		const most = 8 // names of a heading
		name := strings.Join(names[:min(len(names), most)], ", ")
		return declaration{kind: kind, name: name, label: d.Tok.String() + " " + name}, d.Doc
	}
	return declaration{}, nil
}

func goType(spec *ast.TypeSpec) string {
	if spec.Assign.IsValid() {
		return declAlias
	}
	switch spec.Type.(type) {
	case *ast.InterfaceType:
		return declInterface
	case *ast.StructType:
		return declStruct
	}
	return declType
}

// receiver returns the name of the type that a method has.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return ""
}

// lineStart returns where the line of an offset begins, if only blanks precede the offset, else
// the offset.
func lineStart(s string, at int) int {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	if document.IsBlank(s[start:at]) {
		return start
	}
	return at
}

// restOfLine returns the end of the line of an offset, if only a comment follows the offset,
// else the offset.
func restOfLine(s string, at int) int {
	end := document.LineEnd(s, at)
	rest := strings.TrimLeft(s[at:end], document.Blank+";")
	if rest == "" || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "#") ||
		strings.HasPrefix(rest, "/*") && strings.HasSuffix(strings.TrimRight(rest, document.Blank), "*/") {
		return end
	}
	return at
}
