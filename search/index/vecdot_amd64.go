package index

import "golang.org/x/sys/cpu"

// wide tells whether the processor multiplies 32 bytes at once, as nearly all of x86
// since 2013 do (AVX2). What comes out has the same bits.
var wide = cpu.X86.HasAVX2 //nolint:gochecknoglobals // constant while the program runs

// widest tells whether it multiplies 64 bytes and adds up the products at once.
//
//nolint:gochecknoglobals // as above
var widest = wide && cpu.X86.HasBMI2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI

// dotWide is dotPlain, eight numbers at once.
//
//go:noescape
func dotWide(a, b []float32) float32

// dotWideRow is dotWide with a row as a file holds it.
//
//go:noescape
func dotWideRow(a []float32, row []byte) float32

// dotsOf multiplies the digits of even and of odd dimensions with the half bytes of as
// many rows as out has room for. It looks at no bounds.
func dotsOf(even, odd []int8, halves []uint64, out []int32) {
	if widest {
		dotsWidest(even, odd, halves, out)
		return
	}
	dotsWide(even, odd, halves, out)
}

//go:noescape
func dotsWide(even, odd []int8, halves []uint64, out []int32)

//go:noescape
func dotsWidest(even, odd []int8, halves []uint64, out []int32)
