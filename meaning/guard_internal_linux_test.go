package meaning

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// atEnd copies values to the end of memory after which nothing can be read.
func atEnd[T byte | float32](t *testing.T, values []T) []T {
	t.Helper()
	page := syscall.Getpagesize()
	size := len(values) * int(unsafe.Sizeof(values[0]))
	memory, err := syscall.Mmap(-1, 0, up(size, page)+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(memory) })
	end := up(size, page)
	if err := syscall.Mprotect(memory[end:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	out := unsafe.Slice((*T)(unsafe.Pointer(&memory[end-size])), len(values))
	copy(out, values)
	return out
}

// TestKernelsReadNoFurther puts each argument before memory that ends the process when it is read.
func TestKernelsReadNoFurther(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	floats := func(n int) []float32 { return atEnd(t, randomFloats(r, n)) }
	for _, rows := range []int{1, 7, 8, 9, 31, 160, 511, 512} {
		padded := up(rows, 8)
		m := randomMatrix(r, 48, 96)
		m.codes, m.scale, m.sums, m.bias = atEnd(t, m.codes), atEnd(t, m.scale), atEnd(t, m.sums), atEnd(t, m.bias)
		a := &activations{codes: atEnd(t, randomBytes(r, padded*48)), step: floats(padded), low: floats(padded)}
		out, row := floats(padded*96), floats(up(rows, 16))
		p := product{left: floats(padded * rows), right: floats(rows * 32), out: floats(padded * 32), leftStride: rows, rightStride: 32, outStride: 32}
		p.rows, p.inner, p.columns = rows, rows, 32
		for _, k := range kernels() {
			k.linear(new(tile), &m, a, rows, out)
			k.multiply(new(tile), p)
			k.softmax(row)
			k.gelu(row)
			k.addNorm(row, floats(len(row)), floats(len(row)), floats(len(row)))
			k.quantise(row, atEnd(t, make([]byte, len(row))))
		}
	}
}
