package index

import (
	"encoding/binary"
	"math"
)

// A vector of the table vectors is a 32-bit float, the step, and a signed byte for each dimension, which counts steps.
// Vectors of before are 32-bit floats, one for each dimension. All numbers are little-endian.
const (
	stepBytes  = 4
	floatBytes = 4
	maxCode    = 127
)

// pack returns the bytes of a vector. A component changes by half a step at most, 1/254 of the largest one.
func pack(v []float32) []byte {
	var largest float32
	for _, f := range v {
		largest = max(largest, f, -f)
	}
	step := largest / maxCode
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, stepBytes+len(v)), math.Float32bits(step))
	for _, f := range v {
		code := 0.0
		if step > 0 {
			code = math.RoundToEven(float64(f / step))
		}
		out = append(out, byte(int8(min(maxCode, max(-maxCode, code)))))
	}
	return out
}

// unpack appends the vector with some bytes to a list of numbers; ok is false if they are none of the dimension.
func unpack(to []float32, body []byte, dimension int) (_ []float32, ok bool) {
	switch {
	case len(body) == stepBytes+dimension:
		step := math.Float32frombits(binary.LittleEndian.Uint32(body))
		for _, code := range body[stepBytes:] {
			to = append(to, step*float32(int8(code)))
		}
	case len(body) == floatBytes*dimension:
		for i := range dimension {
			to = append(to, math.Float32frombits(binary.LittleEndian.Uint32(body[floatBytes*i:])))
		}
	default:
		return to, false
	}
	return to, true
}

// Rounded returns a vector as the index stores it.
func Rounded(v []float32) []float32 {
	out, _ := unpack(make([]float32, 0, len(v)), pack(v), len(v))
	return out
}
