package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/a.go": `package a

import (
	"example.com/m/internal/x"
	why "example.com/m/internal/y"
)

const (
	One = 1
	Two = 2
	six = 6
)

var Late x.T

type (
	Name   = x.T
	Record struct {
		Shown  []x.T
		hidden x.T
		why.Embedded
	}
	Doer interface{ Do(x.T) error }
	List[T why.Any] struct{ all []T }
)

func New(n Name, more ...map[string]x.T) *Record { return &Record{hidden: x.T{}} }
func (r *Record) Get() (x.T, error)              { return r.hidden, nil }
func (l List[T]) Len() int                       { return len(l.all) }
func (r *Record) get() x.T                       { return r.hidden }
func small() x.T                                 { return x.T{} }
func (small) Big() x.T                           { return x.T{} }
`,
		"a/a_test.go":     "package a\n\nfunc TestA() {}\n",
		"internal/x/x.go": "package x\n\ntype T struct{}\n",
		"b/main.go":       "package main\n\nfunc Exported() {}\n",
		"c.go":            "package c\n\nfunc C() {}\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	code, err := run([]string{"-limit", "10", "-leaks", "6", dir}, &out)
	want := `a/a.go:14: Late shows x.T: declare an alias here, or unexport it
a/a.go:19: Record shows x.T: declare an alias here, or unexport it
a/a.go:21: Record shows why.Embedded: declare an alias here, or unexport it
a/a.go:23: Doer shows x.T: declare an alias here, or unexport it
a/a.go:24: List shows why.Any: declare an alias here, or unexport it
a/a.go:27: New shows x.T: declare an alias here, or unexport it
a/a.go:28: Record.Get shows x.T: declare an alias here, or unexport it
   9 a
   1 .
  10 exported declarations in all, 7 of them show internal types
7 signatures show internal types, not at most 6
`
	if err != nil || code != 1 || out.String() != want {
		t.Errorf("got code %d, %v:\n%swant:\n%s", code, err, out.String(), want)
	}
	if err := os.Remove(filepath.Join(dir, "a/a.go")); err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[string]int{"1": 0, "0": 0} {
		if code, err := run([]string{"-limit", limit, dir}, &out); code != want || err != nil {
			t.Errorf("limit %s: got code %d, %v, want %d", limit, code, err, want)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "d.go"), []byte("package c\n\nfunc D() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, err := run([]string{"-limit", "1", dir}, &out); code != 1 || err != nil {
		t.Errorf("over the limit: got code %d, %v, want 1", code, err)
	}
}
