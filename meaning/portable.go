package meaning

import "math"

// portable runs on every processor. A conversion to float32 around a product keeps the compiler from rounding product
// and sum at once, which some processors can.
func portable() kernel {
	return kernel{
		name: "portable", linear: linearGo, multiply: multiplyGo,
		softmax: softmaxGo, gelu: geluGo, addNorm: addNormGo, quantise: quantiseGo,
	}
}

func linearGo(_ *tile, m *matrix, a *activations, rows int, out []float32) {
	for r := range rows {
		codes := a.codes[r*m.inputs:][:m.inputs]
		for first := 0; first < m.outputs; first += 16 {
			for i, sum := range panelSums(codes, m.codes[first*m.inputs:][:16*m.inputs]) {
				o := first + i
				shift := float32(a.low[r]*m.sums[o]) + m.bias[o]
				out[r*m.outputs+o] = float32(float32(sum)*float32(a.step[r]*m.scale[o])) + shift
			}
		}
	}
}

func panelSums(codes []uint8, panel []byte) [16]int32 {
	var sums [16]int32
	for i := 0; i+4 <= len(codes); i += 4 {
		a0, a1, a2, a3 := int32(codes[i]), int32(codes[i+1]), int32(codes[i+2]), int32(codes[i+3])
		weights := (*[64]byte)(panel[16*i:])
		for o := range sums {
			w := weights[4*o:][:4]
			sums[o] += a0*int32(int8(w[0])) + a1*int32(int8(w[1])) + a2*int32(int8(w[2])) + a3*int32(int8(w[3]))
		}
	}
	return sums
}

func multiplyGo(_ *tile, p product) {
	for r := range p.rows {
		out := p.out[r*p.outStride:][:p.columns]
		clear(out)
		for i, value := range p.left[r*p.leftStride:][:p.inner] {
			for c, right := range p.right[i*p.rightStride:][:p.columns] {
				out[c] += float32(value * right)
			}
		}
	}
}

func softmaxGo(row []float32) {
	highest := row[0]
	for _, v := range row {
		highest = max(highest, v)
	}
	var lanes [8]float32
	for i, v := range row {
		row[i] = exp(v - highest)
		lanes[i%8] += row[i]
	}
	share := 1 / fold(lanes)
	for i := range row {
		row[i] *= share
	}
}

// geluGo uses x / (1 + exp(-2y)), which is x * (1 + tanh(y)) / 2.
func geluGo(row []float32) {
	const linear, cubic = -1.5957691216, -0.0713548162726
	for i, v := range row {
		factor := float32(float32(v*v)*cubic) + linear
		row[i] = v / (exp(factor*v) + 1)
	}
}

func addNormGo(x, residual, gain, bias []float32) {
	var lanes [8]float32
	for i := range x {
		x[i] += residual[i]
		lanes[i%8] += x[i]
	}
	mean := fold(lanes) / float32(len(x))
	lanes = [8]float32{}
	for i := range x {
		x[i] -= mean
		lanes[i%8] += float32(x[i] * x[i])
	}
	factor := 1 / float32(math.Sqrt(float64(fold(lanes)/float32(len(x))+1e-12)))
	for i := range x {
		x[i] = float32(float32(factor*x[i])*gain[i]) + bias[i]
	}
}

func quantiseGo(row []float32, codes []uint8) (step, low float32) {
	const levels = 255
	low, high := row[0], row[0]
	for _, v := range row {
		low, high = min(low, v), max(high, v)
	}
	width := max(high-low, 1e-20)
	inverse := levels / width
	for i, v := range row {
		codes[i] = uint8(math.RoundToEven(float64(float32((v - low) * inverse))))
	}
	return width / levels, low
}

// exp is exact to about two millionths: a power of two, and a polynomial of the rest. Adding roundBit leaves no bits
// after the point, and the bits before it are the exponent.
func exp(x float32) float32 {
	const roundBit = 3 << 22
	x = min(max(x, -80), 88)
	power := float32(x*math.Log2E) + roundBit
	n := power - roundBit
	x -= float32(n * 0.693145751953125)
	x -= float32(n * 1.42860677e-6)
	p := float32(x*(1.0/120)) + 1.0/24
	p = float32(p*x) + 1.0/6
	p = float32(p*x) + 0.5
	p = float32(p*x) + 1
	p = float32(p*x) + 1
	return math.Float32frombits(math.Float32bits(p) + math.Float32bits(power)<<23)
}

// fold adds the lanes of a sum in the order of the assembly.
func fold(l [8]float32) float32 {
	return ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))
}
