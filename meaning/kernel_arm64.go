package meaning

import "golang.org/x/sys/cpu"

//go:noescape
func integersNEON(t *tile)

//go:noescape
func floatsNEON(t *tile)

// kernels returns those that this processor can run, the fastest last. Functions of one row are in Go.
func kernels() []kernel {
	list := []kernel{portable()}
	if cpu.ARM64.HasASIMDDP {
		neon := portable()
		neon.name, neon.linear, neon.multiply = "NEON", linearTiles(4, 16, integersNEON), multiplyTiles(4, 16, floatsNEON)
		list = append(list, neon)
	}
	return list
}
