// Command exported counts the exported declarations of the public packages of a module, and names those whose
// signature shows a type of an internal package, which no other module can name.
//
//	exported [-limit N] [-leaks N] FOLDER
//
// A function, a method of an exported type and a type count one each, a group of constants or variables one
// together. Packages in internal, cmd, examples, tests, tools, scripts and bench are not public, nor are programs.
// An alias of an internal type is a name that others can use, so it may stand in signatures.
// The exit code is 1 if there are more than -limit declarations, or more than -leaks signatures with internal types.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "exported:", err)
		code = 2
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("exported", flag.ContinueOnError)
	limit := flags.Int("limit", 0, "how many exported declarations there may be; 0: any number")
	allowed := flags.Int("leaks", 0, "how many signatures may show internal types")
	if err := flags.Parse(args); err != nil {
		return 2, err
	}
	counts, total, leaking, code := map[string]int{}, 0, 0, 0
	err := walk(flags.Arg(0), func(name string, fset *token.FileSet, f *ast.File) {
		declared, leaks := exported(f)
		counts[path.Dir(name)] += declared
		total += declared
		for _, l := range leaks {
			fmt.Fprintf(out, "%s:%d: %s shows %s: declare an alias here, or unexport it\n", name, fset.Position(l.pos).Line, l.name, l.internal)
		}
		leaking += len(leaks)
	})
	byCount := func(a, b string) int { return counts[b] - counts[a] }
	for _, dir := range slices.SortedStableFunc(slices.Values(slices.Sorted(maps.Keys(counts))), byCount) {
		fmt.Fprintf(out, "%4d %s\n", counts[dir], dir)
	}
	fmt.Fprintf(out, "%4d exported declarations in all, %d of them show internal types\n", total, leaking)
	if *limit > 0 && total > *limit {
		fmt.Fprintf(out, "that is more than %d: unexport some\n", *limit)
		code = 1
	}
	if leaking > *allowed {
		fmt.Fprintf(out, "%d signatures show internal types, not at most %d\n", leaking, *allowed)
		code = 1
	}
	return code, err
}

// private holds the folders of packages that are not for others.
var private = []string{"internal", "cmd", "examples", "tests", "tools", "scripts", "bench", "testdata"}

// walk parses the files of all public packages below root but tests.
func walk(root string, do func(name string, fset *token.FileSet, f *ast.File)) error {
	return filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (d.Name()[0] == '.' || slices.Contains(private, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, nil, parser.SkipObjectResolution)
		if err == nil && f.Name.Name != "main" {
			do(name, fset, f)
		}
		return err
	})
}

// A leak is an exported declaration that shows a type of an internal package.
type leak struct {
	pos            token.Pos
	name, internal string
}

// A scan of one file.
type scan struct {
	internal map[string]bool // names of the internal packages that the file imports
	count    int
	leaks    []leak
}

// exported counts the exported declarations of a file and returns those that show internal types.
func exported(f *ast.File) (int, []leak) {
	s := &scan{internal: map[string]bool{}}
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !slices.Contains(strings.Split(p, "/"), "internal") {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		s.internal[name] = true
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			s.function(d)
		case *ast.GenDecl:
			s.group(d)
		}
	}
	return s.count, s.leaks
}

func (s *scan) function(d *ast.FuncDecl) {
	name := d.Name.Name
	if !d.Name.IsExported() {
		return
	}
	if d.Recv != nil {
		receiver := baseName(d.Recv.List[0].Type)
		if !ast.IsExported(receiver) {
			return
		}
		name = receiver + "." + name
	}
	s.count++
	s.show(name, d.Type)
}

func (s *scan) group(d *ast.GenDecl) {
	values := false
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if !spec.Name.IsExported() {
				continue
			}
			s.count++
			if !spec.Assign.IsValid() { // no alias
				s.show(spec.Name.Name, spec.Type)
			}
			if spec.TypeParams != nil {
				s.show(spec.Name.Name, spec.TypeParams)
			}
		case *ast.ValueSpec:
			i := slices.IndexFunc(spec.Names, (*ast.Ident).IsExported)
			if i < 0 {
				continue
			}
			values = true
			if spec.Type != nil {
				s.show(spec.Names[i].Name, spec.Type)
			}
		}
	}
	if values {
		s.count++
	}
}

// show notes the internal types in an expression or a list of fields, but for unexported fields of structs.
func (s *scan) show(name string, n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.StructType:
			for _, field := range n.Fields.List {
				if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
					s.show(name, field.Type)
				}
			}
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && s.internal[x.Name] {
				s.leaks = append(s.leaks, leak{n.Pos(), name, x.Name + "." + n.Sel.Name})
			}
		}
		return true
	})
}

// baseName returns the name of a receiver's type.
func baseName(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return baseName(t.X)
	case *ast.IndexExpr:
		return baseName(t.X)
	case *ast.IndexListExpr:
		return baseName(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
