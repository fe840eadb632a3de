package mutate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// input holds the arguments of a target: a string, for bytes too, an int64, for
// every kind of whole number, or a bool each.
type input []any

// errBad is of a file that holds no input of the target.
var errBad = errors.New("no input of this fuzz target")

// holding makes an input of the arguments of Add.
func holding(args []any) input {
	in := make(input, len(args))
	for i, a := range args {
		v := reflect.ValueOf(a)
		switch {
		case v.Kind() == reflect.Slice:
			in[i] = string(v.Bytes())
		case v.CanInt():
			in[i] = v.Int()
		case v.CanUint():
			in[i] = int64(v.Uint()) //nolint:gosec // values gives it back in the width of its type
		default:
			in[i] = a // a string or a bool: Add has refused what no target takes, but fractions, which values refuses
		}
	}
	return in
}

// values are the arguments of a call, in the types that the target declares. The target may
// write to its bytes.
func (in input) values(t reflect.Value, target reflect.Type) []reflect.Value {
	out := make([]reflect.Value, 1, 1+len(in))
	out[0] = t
	for i, a := range in {
		out = append(out, reflect.ValueOf(a).Convert(target.In(i+1)))
	}
	return out
}

// encode writes an input as a seed file of Go.
func (in input) encode(target reflect.Type) string {
	var b strings.Builder
	b.WriteString("go test fuzz v1\n")
	for i, v := range in.values(reflect.Value{}, target)[1:] {
		switch {
		case v.Kind() == reflect.Slice:
			fmt.Fprintf(&b, "[]byte(%q)\n", v.Bytes())
		case v.Kind() == reflect.Uint8:
			fmt.Fprintf(&b, "byte(%q)\n", rune(v.Uint())) //nolint:gosec // a byte
		case v.Kind() == reflect.String:
			fmt.Fprintf(&b, "string(%q)\n", v.String())
		default:
			fmt.Fprintf(&b, "%s(%v)\n", target.In(i+1), v)
		}
	}
	return b.String()
}

// decode reads a seed file of Go for a target.
func decode(file string, target reflect.Type) (input, error) {
	lines := strings.Split(strings.TrimRight(strings.ReplaceAll(file, "\r\n", "\n"), "\n"), "\n")
	if lines[0] != "go test fuzz v1" || len(lines) != target.NumIn() {
		return nil, errBad
	}
	var in input
	for i, line := range lines[1:] {
		a, err := decodeLine(line)
		if err != nil || !reflect.TypeOf(a).ConvertibleTo(target.In(i+1)) {
			return nil, fmt.Errorf("line %d: %w", i+2, errBad)
		}
		in = append(in, a)
	}
	return in, nil
}

// decodeLine reads a value with its type, such as byte('\x00') or int(-3).
func decodeLine(line string) (any, error) {
	tree, err := parser.ParseExpr(line)
	call, ok := tree.(*ast.CallExpr)
	if err != nil || !ok || len(call.Args) != 1 {
		return nil, errBad
	}
	sign, arg := int64(1), call.Args[0]
	if u, ok := arg.(*ast.UnaryExpr); ok && u.Op.String() == "-" {
		sign, arg = -1, u.X
	}
	switch x := arg.(type) {
	case *ast.Ident:
		return strconv.ParseBool(x.Name)
	case *ast.BasicLit:
		if n, err := strconv.ParseInt(x.Value, 0, 64); err == nil {
			return sign * n, nil
		}
		s, err := strconv.Unquote(x.Value)
		if strings.HasPrefix(x.Value, "'") {
			r, _, _, err := strconv.UnquoteChar(x.Value[1:len(x.Value)-1], '\'')
			return int64(r), err
		}
		return s, err
	}
	return nil, errBad
}

// readFolder reads the seed files of a folder for a target, in the order of
// their names. A folder that is not there holds none. Where it is a cache, files that were
// made for other arguments are left out.
func readFolder(dir string, target reflect.Type, cache bool) (out []input, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read seed: %w", err)
		}
		in, err := decode(string(data), target)
		if cache && errors.Is(err, errBad) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read seed %s: %w", filepath.Join(dir, e.Name()), err)
		}
		out = append(out, in)
	}
	return out, err
}

// write puts an input into a folder under a name that its text gives, as Go does.
func (in input) write(dir string, target reflect.Type) (path string, err error) {
	file := in.encode(target)
	path = filepath.Join(dir, fmt.Sprintf("%x", sha256.Sum256([]byte(file)))[:16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return path, err
	}
	return path, os.WriteFile(path, []byte(file), 0o644)
}
