package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	mathbig "math/big"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
)

//nolint:unused // fields that only Compile looks at
type (
	unexported struct{ a, b int }
	mixed      struct{ A, b int }
	marked     struct {
		A int
		b sync.Mutex `json:"-"`
		F func()     `json:"-"`
		_ struct{}
	}
	deep    struct{ Docs map[string][]*inDoc }
	inDoc   struct{ Render func() string }
	family  struct{ Left, Right *family }
	endless struct {
		Next *endless
		Stop chan int
	}
	byValue    struct{ v int }
	writesOnly struct{ v int }
	textOnly   struct{ v int }
	readsOnly  struct{ Kind string }
	byPointer  struct{ v int }
	holdsOne   struct {
		P *byPointer
		L []byPointer
	}
	holdsValue struct{ V byPointer }
	base       struct{ ID string }
	Embedded   struct{ N int }
	embeds     struct {
		base
		Embedded
		Name string
	}
	embedsPtr  struct{ *base }
	word       string
	embedsWord struct{ word }
	twice      struct {
		A string `json:"B"`
		B string
	}
	renamed struct {
		base `json:"base"`
	}
	oddKeys    map[struct{ X int }]string
	textKeys   map[netip.Addr]string
	numberKeys map[int8][]string
	boolKeys   map[bool]int
	holdsError struct{ Err error }
	standard   struct {
		T time.Time
		D time.Duration
		R json.RawMessage
		N json.Number
		A netip.Addr
		B []byte
		I *mathbig.Int
		F float32
		X [2]int
	}
	bigByValue struct{ I mathbig.Int }
	arrayOfBig struct {
		A [2]mathbig.Int
		S []mathbig.Int
	}
	mapOfBig struct{ M map[string]mathbig.Int }
)

func (byValue) MarshalJSON() ([]byte, error)    { return []byte("1"), nil }
func (*byValue) UnmarshalJSON([]byte) error     { return nil }
func (writesOnly) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (textOnly) MarshalText() ([]byte, error)   { return []byte("1"), nil }
func (*readsOnly) UnmarshalJSON([]byte) error   { return nil }
func (*byPointer) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (*byPointer) UnmarshalJSON([]byte) error   { return nil }

// compiled is what Compile says of a graph with states of a type.
func compiled[S any]() string {
	_, err := graph.Compile(graph.Graph[S, int]{
		Name:  "g",
		Apply: func(s S, _ int) (S, error) { return s, nil },
		Nodes: map[string]graph.Task[S, int]{"a": {Run: func(context.Context, S) (int, error) { return 0, nil }}},
		Order: []string{"a"}, Edges: chain(graph.Start, "a", graph.End),
	})
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(strings.TrimPrefix(err.Error(), `compile graph "g": `), "graph_test.", "")
}

// TestCodecs: what JSON would lose or refuse is a fault of Compile, with the way
// to it; types with methods for both ways pass.
func TestCodecs(t *testing.T) {
	const (
		lost   = `it is not exported, so JSON would lose it; export it, or add json:"-" if it need not be saved`
		face   = `is an interface, and JSON does not record its type; use a concrete type, json.RawMessage, or a type with MarshalJSON and UnmarshalJSON`
		half   = `has a method to write it, but neither UnmarshalJSON nor UnmarshalText to read it`
		uncall = `has a pointer receiver and would not be called here; use a value receiver or store a pointer`
		keys   = `have no JSON; use strings, integers, or a type with MarshalText and UnmarshalText`
	)
	for _, tt := range []struct {
		name string
		got  string
		want []string
	}{
		{"a func", compiled[func()](), []string{"state func(): func() has no JSON"}},
		{"a channel", compiled[chan int](), []string{"state chan int: chan int has no JSON"}},
		{"a complex number", compiled[[]complex128](), []string{"state []complex128: field []: complex128 has no JSON"}},
		{"nothing exported", compiled[unexported](), []string{"state unexported: field a: " + lost, "state unexported: field b: " + lost}},
		{"one not exported", compiled[mixed](), []string{"state mixed: field b: " + lost}},
		{"one that need not be saved", compiled[marked](), nil},
		{"far down", compiled[deep](), []string{"state deep: field Docs[][].Render: func() string has no JSON"}},
		{"a type that holds itself", compiled[family](), nil},
		{"a type that holds itself and a channel", compiled[endless](), []string{"state endless: field Stop: chan int has no JSON"}},
		{"the same fault twice", compiled[[2]struct{ A, B chan int }](), []string{
			"state [2]struct { A chan int; B chan int }: field [].A: chan int has no JSON",
			"state [2]struct { A chan int; B chan int }: field [].B: chan int has no JSON",
		}},
		{"both methods", compiled[byValue](), nil},
		{"written only", compiled[writesOnly](), []string{"state writesOnly: writesOnly " + half}},
		{"written as text only", compiled[*textOnly](), []string{"state *textOnly: textOnly " + half}},
		{"read by itself", compiled[readsOnly](), nil},
		{"methods of the pointer, by value", compiled[holdsValue](), []string{"state holdsValue: field V: the method that writes byPointer " + uncall}},
		{"methods of the pointer, by pointer", compiled[holdsOne](), nil},
		{"a pointer", compiled[*holdsValue](), nil},
		{"embedded", compiled[embeds](), nil},
		{"embedded by a pointer that is not exported", compiled[embedsPtr](), []string{"state embedsPtr: field base: " + lost}},
		{"embedded, and no struct", compiled[embedsWord](), []string{"state embedsWord: field word: " + lost}},
		{"embedded under a name", compiled[renamed](), []string{"state renamed: field base: " + lost}},
		{"two of one name", compiled[twice](), []string{`state twice: field B: it has the JSON name "B", like A, so only one of them would be saved`}},
		{"keys that are structs", compiled[oddKeys](), []string{"state oddKeys: keys of oddKeys " + keys}},
		{"keys that are booleans", compiled[boolKeys](), []string{"state boolKeys: keys of boolKeys " + keys}},
		{"keys with text", compiled[textKeys](), nil},
		{"keys that are numbers", compiled[numberKeys](), nil},
		{"any", compiled[map[string]any](), []string{"state map[string]interface {}: field []: interface {} " + face}},
		{"an error", compiled[holdsError](), []string{"state holdsError: field Err: error " + face}},
		{"types of the standard library", compiled[standard](), nil},
		{"a big number by value", compiled[bigByValue](), []string{"state bigByValue: field I: the method that writes big.Int " + uncall}},
		{"big numbers in an array and a slice", compiled[arrayOfBig](), []string{"state arrayOfBig: field A[]: the method that writes big.Int " + uncall}},
		{"big numbers in a map", compiled[mapOfBig](), []string{"state mapOfBig: field M[]: the method that writes big.Int " + uncall}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(strings.Join(tt.want, "\n"), tt.got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// Types that cannot be saved are found before anything runs.
func ExampleCompile_codec() {
	type page struct {
		Text   string
		Render func() string
		cached []byte
	}
	_, err := graph.Compile(graph.Graph[[]page, page]{
		Name:  "report",
		Apply: func(s []page, u page) ([]page, error) { return append(s, u), nil },
		Nodes: map[string]graph.Task[[]page, page]{"write": {Run: func(context.Context, []page) (page, error) { return page{cached: nil}, nil }}},
		Order: []string{"write"},
		Edges: []graph.Edge{{From: graph.Start, To: "write"}, {From: "write", To: graph.End}},
	})
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, "update") {
			fmt.Print(line)
		}
	}
	// Output:
	// update graph_test.page: field Render: func() string has no JSON
	// update graph_test.page: field cached: it is not exported, so JSON would lose it; export it, or add json:"-" if it need not be saved
}
