package meaning

import "golang.org/x/sys/cpu"

//go:noescape
func integersAVX512(t *tile)

//go:noescape
func integersAVX2(t *tile)

//go:noescape
func integersAVXVNNI(t *tile)

//go:noescape
func floatsAVX512(t *tile)

//go:noescape
func floatsAVX2(t *tile)

//go:noescape
func softmaxAVX2(row []float32)

//go:noescape
func geluAVX2(row []float32)

//go:noescape
func addNormAVX2(x, residual, gain, bias []float32)

//go:noescape
func quantiseAVX2(row []float32, codes []uint8) (step, low float32)

// kernels returns those that this processor can run, the fastest last.
func kernels() []kernel {
	list := []kernel{portable()}
	avx2 := kernel{
		name: "AVX2", linear: linearTiles(4, 16, integersAVX2), multiply: multiplyTiles(4, 16, floatsAVX2),
		softmax: softmaxAVX2, gelu: geluAVX2, addNorm: addNormAVX2, quantise: quantiseAVX2,
	}
	if cpu.X86.HasAVX2 {
		list = append(list, avx2)
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasAVXVNNI {
		four := avx2
		four.name, four.linear = "AVX-VNNI", linearTiles(4, 16, integersAVXVNNI)
		list = append(list, four)
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VNNI {
		wide := avx2
		wide.name, wide.linear, wide.multiply = "AVX512-VNNI", linearTiles(8, 48, integersAVX512), multiplyTiles(8, 32, floatsAVX512)
		list = append(list, wide)
	}
	return list
}
