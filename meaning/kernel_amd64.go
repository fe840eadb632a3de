package meaning

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate go -C ../tools run ./kernels

//go:noescape
func integersAVX512(t *tile)

//go:noescape
func integersAVX2(t *tile)

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
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VNNI {
		wide := avx2
		wide.name, wide.linear, wide.multiply = "AVX512-VNNI", linearTiles(8, 48, integersAVX512), multiplyTiles(8, 32, floatsAVX512)
		list = append(list, wide)
	}
	return list
}

// linearTiles cuts a product into tiles. The panels of a tile stay in the nearest cache while all rows pass.
func linearTiles(height, width int, run func(*tile)) func(*tile, *matrix, *activations, int, []float32) {
	return func(t *tile, m *matrix, a *activations, rows int, out []float32) {
		t.leftStride, t.rightStride, t.outStride = uintptr(m.inputs), 64, uintptr(4*m.outputs)
		t.panelStride, t.steps = uintptr(16*m.inputs), uintptr(m.inputs/4)
		for o := 0; o < m.outputs; o += width {
			t.right, t.scale, t.sums, t.bias = unsafe.Pointer(&m.codes[o*m.inputs]), &m.scale[o], &m.sums[o], &m.bias[o]
			for r := 0; r < rows; r += height {
				t.left, t.step, t.low, t.out = unsafe.Pointer(&a.codes[r*m.inputs]), &a.step[r], &a.low[r], &out[r*m.outputs+o]
				run(t)
			}
		}
	}
}

func multiplyTiles(height, width int, run func(*tile)) func(*tile, product) {
	return func(t *tile, p product) {
		t.leftStride, t.rightStride, t.outStride = uintptr(4*p.leftStride), uintptr(4*p.rightStride), uintptr(4*p.outStride)
		t.steps = uintptr(p.inner)
		for c := 0; c < p.columns; c += width {
			t.right = unsafe.Pointer(&p.right[c])
			for r := 0; r < p.rows; r += height {
				t.left, t.out = unsafe.Pointer(&p.left[r*p.leftStride]), &p.out[r*p.outStride+c]
				run(t)
			}
		}
	}
}
