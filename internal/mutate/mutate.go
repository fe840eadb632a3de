// Package mutate runs fuzz targets blind: over inputs changed at random, without
// the counters of coverage, which take most of the time of Go's own fuzzing.
//
//	func FuzzParse(tf *testing.F) {
//		f := mutate.New(tf)
//		f.Add("a seed")
//		f.Fuzz(func(t *testing.T, s string) { … })
//	}
//
// `go test` runs the seeds as ever, and then some mutations of them, the same
// ones each time; scripts/fuzz --blind runs millions of others. `go test -fuzz`
// knows nothing of it. An input that fails, takes too long or too much memory is
// written to testdata/fuzz of the package, in the format that Go replays seeds
// from.
//
// Flags of the test:
//
//	-blind n          mutations of each target; by default 200, with -short 20
//	-blindseed n      which ones
//	-blindcorpus dir  a folder of further seeds, dir/FuzzParse/*, such as Go's cache of fuzzing
//	-blindlimit time  that one input may take; 30s
package mutate

import (
	"flag"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// widest is the memory that may be in use while one input runs, in bytes.
const widest = 1 << 30

// Mutations of a target without -blind.
const (
	usual = 200
	short = 20
)

//nolint:gochecknoglobals // flags are registered once a process
var (
	count  = flag.Int("blind", 0, "mutations of each fuzz target; none says 200")
	seed   = flag.Uint64("blindseed", 0, "which mutations")
	corpus = flag.String("blindcorpus", "", "folder with further seeds of each fuzz target")

	// Many times what the slowest inputs need on a busy machine.
	longest = flag.Duration("blindlimit", 30*time.Second, "time that one mutation may take")
)

// F is a testing.F whose Fuzz also runs mutations of the seeds.
type F struct {
	*testing.F

	seeds []input
	slow  int
}

// New returns f with mutations.
func New(f *testing.F) *F {
	f.Helper()
	return &F{F: f, slow: 1}
}

// Slow runs a twentieth of the usual mutations: for a target of which one run takes
// milliseconds.
func (f *F) Slow() { f.slow = 20 }

// Add adds a seed, as testing.F.Add does.
func (f *F) Add(args ...any) {
	f.Helper()
	f.F.Add(args...)
	f.seeds = append(f.seeds, holding(args))
}

// Fuzz fuzzes target as testing.F.Fuzz does. Unless that is guided by coverage,
// target is called with mutations after its first seed; the test that holds it
// fails with the first of them that fails.
func (f *F) Fuzz(target any) {
	f.Helper()
	if guided := flag.Lookup("test.fuzz"); guided != nil && guided.Value.String() != "" {
		f.F.Fuzz(target)
		return
	}
	call, begun := reflect.ValueOf(target), false
	f.F.Fuzz(reflect.MakeFunc(call.Type(), func(in []reflect.Value) []reflect.Value {
		call.Call(in)
		if t, ok := reflect.TypeAssert[*testing.T](in[0]); ok && !begun && !t.Failed() {
			begun = true
			f.blind(t, call)
		}
		return nil
	}).Interface())
}

// blind calls a target with mutations until one fails.
func (f *F) blind(t *testing.T, target reflect.Value) {
	t.Helper()
	n := usual
	switch {
	case *count > 0:
		n = *count
	case testing.Short():
		n = short
	}
	n = max(1, n/f.slow)
	m := newMutator(*seed, f.Name(), append(f.seeds, f.more(t, target.Type())...))
	g := newGuard(filepath.Join("testdata", "fuzz", f.Name()), target.Type())
	defer g.end()
	began, done := time.Now(), 0
	defer func() {
		if done < n { // also where the target panics, or ends the goroutine with FailNow
			t.Logf("mutation %d with -blindseed %d fails; %s", done+1, *seed, g.keep())
		}
	}()
	for ; done < n; done++ {
		in := m.next()
		g.begin(in)
		target.Call(in.values(reflect.ValueOf(t), target.Type()))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d executions in %v", done, time.Since(began).Round(time.Millisecond))
}

// more reads the further seeds of a target, and those that were kept.
func (f *F) more(t *testing.T, target reflect.Type) (out []input) {
	t.Helper()
	dirs := []string{filepath.Join("testdata", "fuzz", f.Name())}
	if *corpus != "" {
		dirs = append(dirs, filepath.Join(*corpus, f.Name()))
	}
	for i, dir := range dirs {
		read, err := readFolder(dir, target, i > 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, read...)
	}
	return out
}
