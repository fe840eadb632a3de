package index

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// A vector that is unpacked differs by half a step at most from the one that was packed. Vectors of before, which are floats, are read too.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, dimension := range []int{1, 2, 3, 384} {
		v, floats := make([]float32, dimension), []byte(nil)
		largest := 0.0
		for i := range v {
			v[i] = float32(random.NormFloat64())
			largest = max(largest, math.Abs(float64(v[i])))
			floats = binary.LittleEndian.AppendUint32(floats, math.Float32bits(v[i]))
		}
		for name, body := range map[string][]byte{"codes": pack(v), "floats": floats} {
			got, ok := unpack(nil, body, dimension)
			if !ok || len(got) != dimension {
				t.Fatalf("%s of %d dimensions: %v, %v", name, dimension, got, ok)
			}
			for i := range got {
				if diff := math.Abs(float64(got[i] - v[i])); diff > largest/253 || name == "floats" && diff > 0 {
					t.Errorf("%s of %d dimensions: %v became %v", name, dimension, v[i], got[i])
				}
			}
		}
		if _, ok := unpack(nil, floats[:len(floats)-1], dimension); ok {
			t.Errorf("%d dimensions: a byte less was read", dimension)
		}
	}
	if got, ok := unpack(nil, pack([]float32{0, 0}), 2); !ok || got[0] != 0 {
		t.Errorf("a vector of zeros became %v", got)
	}
}
