package graph_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// sources imports the standard library and this package from their sources, and
// of anything else only the name.
type sources struct {
	std  types.Importer
	self *types.Package
}

func (s sources) Import(name string) (*types.Package, error) {
	first, _, _ := strings.Cut(name, "/")
	switch {
	case name == "example.com/ragflow/graph":
		return s.self, nil
	case !strings.Contains(first, "."):
		return s.std.Import(name)
	}
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}

// graphFromSource type-checks this package without the bodies of its functions.
func graphFromSource(t *testing.T, fset *token.FileSet) sources {
	t.Helper()
	in := sources{std: importer.ForCompiler(fset, "source", nil)}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	c := types.Config{Importer: in, IgnoreFuncBodies: true, Error: func(error) {}} // of what is known by name only
	in.self, _ = c.Check("example.com/ragflow/graph", fset, files, nil)
	in.self.MarkComplete()
	return in
}

// A graph with a wrong type does not compile.
func TestWrongTypes(t *testing.T) {
	fset := token.NewFileSet()
	in := graphFromSource(t, fset)
	const frame = `package p
import ("context"; "example.com/ragflow/graph")
type S struct{ N int }
type U struct{ Add int }
type G = graph.Graph[S, U]
type T = graph.Task[S, U]
func apply(s S, u U) (S, error) { return s, nil }
func node(context.Context, S) (U, error) { return U{}, nil }
func other(context.Context, int) (U, error) { return U{}, nil }
func noUpdate(context.Context, S) (S, error) { return S{}, nil }
func pick(context.Context, S) (U, []string, error) { return U{}, nil, nil }
var plan *graph.Plan[S, U]
var inner *graph.Plan[int, string]
var runner *graph.Runner[S, U]
var ctx context.Context
`
	for _, tt := range []struct{ name, code, want string }{
		{"sound", `var _ = G{Apply: apply, Nodes: map[string]T{"a": {Run: node}, "b": {Pick: pick, To: []string{"a"}}}}`, ""},
		{"node of another state", `var _ = T{Run: other}`, "cannot use other"},
		{"node of another update", `var _ = T{Run: noUpdate}`, "cannot use noUpdate"},
		{"pick as a node", `var _ = T{Run: pick}`, "cannot use pick"},
		{"node as a pick", `var _ = T{Pick: node}`, "cannot use node"},
		{"apply of another update", `var _ = G{Apply: func(s S, u int) (S, error) { return s, nil }}`, "cannot use (func("},
		{"branch on another state", `var _ = G{Branches: []graph.Branch[int]{}}`, "cannot use []graph.Branch[int]"},
		{"route that returns no name", `var _ = graph.Branch[S]{Route: func(S) int { return 1 }}`, "cannot use (func("},
		{"input of another type", `var _ = graph.Request[U]{Input: S{}}`, "cannot use S{}"},
		{"request of another update", `func f() { runner.Invoke(ctx, graph.Request[S]{}) }`, "cannot use graph.Request[S]{}"},
		{"state of another type", `func f() { var s int; s, _ = runner.Invoke(ctx, graph.Request[U]{}); _ = s }`, "cannot use "},
		{"answer of another type", `func f() { var ok bool; ok, _ = graph.Ask[string](ctx, "k", ""); _ = ok }`, "cannot use "},
		{"deed of another type", `func f() { var n int; n, _ = graph.Once(ctx, "k", func(context.Context, string) (string, error) { return "", nil }); _ = n }`, "cannot use graph.Once"},
		{"deed without its key", `func f() { graph.Once(ctx, "k", func(context.Context) (string, error) { return "", nil }) }`, "func(ctx context.Context, idempotencyKey string)"},
		{"cache of another node", `var _ = T{Cache: &graph.Cache[S, int]{}}`, "cannot use &graph.Cache[S, int]{}"},
		{"key of another state", `var _ = graph.Cache[S, U]{Key: func(int) string { return "" }}`, "cannot use (func("},
		{"handler of another update", `var _ = graph.OnError[S, U]{Update: func(S, graph.Failure) S { return S{} }}`, "cannot use (func("},
		{"subgraph of another state", `var _ T = graph.Sub(inner, func(S) string { return "" }, func(S, string) U { return U{} })`, "func(S, string) U"},
		{"subgraph of another input", `var _ T = graph.Sub(inner, func(S) int { return 0 }, func(S, int) U { return U{} })`, "func(S) int"},
		{"subgraph in its place", `var _ T = graph.Sub(inner, func(S) string { return "" }, func(S, int) U { return U{} })`, ""},
		{"parts of another type", `var _ = graph.FanOut(1, func(S) []int { return nil }, func(context.Context, S, string) (U, error) { return U{}, nil }, func(S, []U) (U, error) { return U{}, nil })`, "func(context.Context, S, string) (U, error)"},
		{"edit of another update", `var _ = graph.Edit[S, U]{Change: func(context.Context, S, graph.Commit) ([]S, error) { return nil, nil }}`, "cannot use (func("},
		{"frames of another state", `func f() { var x []graph.Frame[int]; x, _ = plan.Inside(ctx, nil, "t", 1, "a"); _ = x }`, "cannot use "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := parser.ParseFile(fset, tt.name+".go", frame+tt.code, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			var faults []string
			c := types.Config{Importer: in, Error: func(err error) {
				if !strings.Contains(err.Error(), "imported and not used") {
					faults = append(faults, err.Error())
				}
			}}
			_, _ = c.Check("p", fset, []*ast.File{f}, nil)
			got := strings.Join(faults, "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("faults %q, want %q", got, tt.want)
			}
		})
	}
}
