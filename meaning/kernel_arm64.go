package meaning

import "golang.org/x/sys/cpu"

//go:noescape
func integersNEON(t *tile)

//go:noescape
func floatsNEON(t *tile)

//go:noescape
func softmaxNEON(row []float32)

//go:noescape
func geluNEON(row []float32)

// kernels returns those that this processor can run, the fastest last.
func kernels() []kernel {
	list := []kernel{portable()}
	if cpu.ARM64.HasASIMDDP {
		neon := portable()
		neon.name, neon.linear, neon.multiply = "NEON", linearTiles(4, 16, integersNEON), multiplyTiles(4, 16, floatsNEON)
		neon.softmax, neon.gelu = softmaxNEON, geluNEON
		list = append(list, neon)
	}
	return list
}
