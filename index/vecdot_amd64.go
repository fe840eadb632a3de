package index

import "golang.org/x/sys/cpu"

// wide tells whether the processor multiplies 32 bytes at once, as nearly all of x86
// since 2013 do (AVX2). What comes out has the same bits.
var wide = cpu.X86.HasAVX2 //nolint:gochecknoglobals // constant while the program runs

// dotWide is dotPlain, eight numbers at once.
//
//go:noescape
func dotWide(a, b []float32) float32

// dotsWide multiplies the digits of even and of odd dimensions with the half bytes of as
// many rows as out has room for. It looks at no bounds.
//
//go:noescape
func dotsWide(even, odd []int8, halves []uint64, out []int32)
