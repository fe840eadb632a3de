//go:build !amd64

package index

func packSixteens(_ []uint32, _, _ []byte, _ uint32) (done int, ascend bool) { return 0, true }

func pickSixteens(_ []uint32, _, _ []byte, _ uint32, _ *onesSet) (done, kept int, ascend bool) {
	return 0, 0, true
}

func siftEights(_, _ []uint32, _ []float64, _ float64) (done, kept int) { return 0, 0 }

func addEights(_ []uint32, _ []uint16, _ []float64, _ *shareTable, _ *gains, _ []uint32) (done, news int) {
	return 0, 0
}
