package checkpoint_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/checkpoint"
)

// A program outside of this module can name all that the settings take.
var _ = func(d checkpoint.Durability, a checkpoint.Access) checkpoint.Options {
	return checkpoint.Options{Durability: d, Access: a}
}(checkpoint.PowerLoss, checkpoint.ReadOnly)

// declarations returns the top-level declarations of the package in a folder, without tests.
func declarations(t *testing.T, folder string) (all []ast.Decl) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(folder, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f.Decls...)
	}
	return all
}

// values returns the exported names of the variables and constants of a package.
func values(t *testing.T, folder string) (names []string) {
	t.Helper()
	for _, d := range declarations(t, folder) {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					if n.IsExported() {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// Every failure and setting of the file has a name here, because outsiders cannot import internal/sqlite.
func TestOutsidersCanNameFailures(t *testing.T) {
	ours := values(t, ".")
	for _, name := range values(t, "../internal/sqlite") {
		if !slices.Contains(ours, name) && name != "DefaultPatience" {
			t.Errorf("checkpoint has no name for sqlite.%s", name)
		}
	}
}

// No exported function, method or field has a type of internal/sqlite but under a name of this package.
func TestOutsidersCanNameTypes(t *testing.T) {
	for _, folder := range []string{".", "postgres", "../longterm", "../longterm/postgres"} {
		for _, d := range declarations(t, folder) {
			for _, e := range exportedTypes(d) {
				ast.Inspect(e, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if p, ok := s.X.(*ast.Ident); ok && p.Name == "sqlite" {
							t.Errorf("%s: an exported declaration names sqlite.%s", folder, s.Sel.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// exportedTypes returns the types in the exported parts of a declaration.
func exportedTypes(d ast.Decl) (types []ast.Expr) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() {
			types = append(types, d.Type)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && s.Type != nil {
					types = append(types, s.Type)
				}
			case *ast.TypeSpec:
				fields, ok := s.Type.(*ast.StructType)
				if !ok || !s.Name.IsExported() {
					continue
				}
				for _, f := range fields.Fields.List {
					if len(f.Names) == 0 || f.Names[0].IsExported() {
						types = append(types, f.Type)
					}
				}
			}
		}
	}
	return types
}

// Older programs than SQLite 3.37 do not know STRICT tables, and the guide says so, with their message.
func TestOldPrograms(t *testing.T) {
	for file, want := range map[string]string{"schema.go": "STRICT", "doc.go": "SQLite 3.37", "../docs/storage.md": `near "STRICT": syntax error`} {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q, %v", file, want, err)
		}
	}
}
