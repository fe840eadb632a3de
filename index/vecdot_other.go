//go:build !amd64

package index

// wide tells whether the processor multiplies 32 bytes at once: see vecdot_amd64.go.
const wide = false

func dotWide(a, b []float32) float32 { return dotPlain(a, b) }

func dotsWide(_, _ []int8, _ []uint64, _ []int32) {
	panic("index: this processor has no wide registers")
}
