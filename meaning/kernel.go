package meaning

import "unsafe"

//go:generate go -C ../tools run ./kernels

// kernel is the arithmetic of one kind of processor. All kernels return the same bits: sums of integers are exact, and
// sums of floats have one order. Lengths of rows are multiples of 16.
type kernel struct {
	name string
	// linear multiplies rows of activations by a matrix. It may write up to the next multiple of 8 rows.
	linear func(t *tile, m *matrix, a *activations, rows int, out []float32)
	// multiply may also write up to the next multiple of 8 rows and 32 columns.
	multiply func(t *tile, p product)
	softmax  func(row []float32)
	gelu     func(row []float32)
	// addNorm adds the residual to x and normalises the sum.
	addNorm func(x, residual, gain, bias []float32)
	// quantise makes bytes of a row.
	quantise func(row []float32, codes []uint8) (step, low float32)
}

// matrix has the weights of a linear layer, as weights.bin has them.
type matrix struct {
	inputs, outputs   int
	codes             []byte // panels of 16 outputs: [outputs/16][inputs/4][16][4]
	scale, sums, bias []float32
}

// activations are rows of bytes: component i of row r is about low[r] + step[r]*codes[r*width+i].
type activations struct {
	codes     []uint8
	step, low []float32
}

// product is out = left * right for matrices whose rows are strides apart.
type product struct {
	left, right, out                   []float32
	leftStride, rightStride, outStride int
	rows, inner, columns               int
}

// tile is the argument of the assembly: a part of a product whose sums fit the registers. Strides are in bytes.
type tile struct {
	left, right                                     unsafe.Pointer
	leftStride, rightStride, panelStride, outStride uintptr
	steps                                           uintptr // of one row of floats, or of four inputs
	out                                             *float32
	scale, sums, bias, step, low                    *float32 // for integers
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
