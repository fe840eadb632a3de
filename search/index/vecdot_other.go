//go:build !amd64

package index

// wide tells whether the processor multiplies 32 bytes at once: see vecdot_amd64.go.
const wide = false

var widest = false //nolint:gochecknoglobals // as above; tests try what there is

func dotWide(a, b []float32) float32 { return dotPlain(a, b) }

func dotWideRow(a []float32, _ []byte) float32 { return dotWide(a, nil) }

func dotsOf(_, _ []int8, _ []uint64, _ []int32) {
	panic("index: this processor has no wide registers")
}
