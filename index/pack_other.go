//go:build !amd64

package index

func packSixteens(_ []uint32, _, _ []byte, _ uint32) (done int, ascend bool) { return 0, true }

func pickSixteens(_ []uint32, _, _ []byte, _ uint32, _ *onesSet) (done, kept int, ascend bool) {
	return 0, 0, true
}
