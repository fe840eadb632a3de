package mutate

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSeedFile(t *testing.T) {
	target := reflect.TypeOf(func(*testing.T, string, []byte, int, uint8, bool) {})
	in := input{"a\xff\"\n", "\x00", int64(-3), int64('\''), true}
	const want = "go test fuzz v1\nstring(\"a\\xff\\\"\\n\")\n[]byte(\"\\x00\")\nint(-3)\nbyte('\\'')\nbool(true)\n"
	file := in.encode(target)
	if diff := cmp.Diff(want, file); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	got, err := decode(file, target)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, got); diff != "" {
		t.Errorf("read again (-want +got):\n%s", diff)
	}
	for _, bad := range []string{"", "go test fuzz v1\n", file + "int(1)\n", "go test fuzz v1\nstring(1)\n\n\n\n\n", want[:20]} {
		if got, err := decode(bad, target); err == nil {
			t.Errorf("decode(%q) = %v", bad, got)
		}
	}
}

// A mutator must reach far from its seeds, and not forget them.
func TestMutator(t *testing.T) {
	m := newMutator(1, "FuzzX", []input{{"# A\n\nSome words here.\n", int64(3), true}, {"| a |\n|---|\n", int64(9), false}})
	distinct, longer, large := map[[3]any]bool{}, 0, 0
	for range 2 * hugeEach {
		in := m.next()
		s, ok := in[0].(string)
		if !ok {
			t.Fatal("an argument changed its type")
		}
		distinct[[3]any(in)] = true
		if len(s) > 200 {
			longer++
		}
		if len(s) > huge/2 {
			large++
		}
		if len(s) > huge+8*common {
			t.Fatalf("a text of %d bytes", len(s))
		}
	}
	if len(distinct) < hugeEach || longer < hugeEach/20 || large == 0 {
		t.Errorf("of %d mutations %d are distinct, %d long, %d huge", 2*hugeEach, len(distinct), longer, large)
	}
}
