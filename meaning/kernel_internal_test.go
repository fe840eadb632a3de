package meaning

import (
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

const canary = float32(-12345.5)

// guarded returns n floats between canaries, and a function that tells whether the canaries are still there.
func guarded(n int) ([]float32, func() bool) {
	all := slices.Repeat([]float32{canary}, n+128)
	untouched := func() bool {
		return !slices.ContainsFunc(slices.Concat(all[:64], all[64+n:]), func(v float32) bool { return v != canary })
	}
	return all[64:][:n:n], untouched
}

// randomFloats are the same on every processor.
func randomFloats(r *rand.Rand, n int) []float32 {
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(r.IntN(1<<20)-1<<19) / (1 << 18)
	}
	return values
}

func randomBytes(r *rand.Rand, n int) []byte {
	values := make([]byte, n)
	for i := range values {
		values[i] = byte(r.Uint32())
	}
	return values
}

func randomMatrix(r *rand.Rand, inputs, outputs int) matrix {
	codes := make([]byte, inputs*outputs)
	for i := range codes {
		codes[i] = byte(r.IntN(127) - 63)
	}
	scale := randomFloats(r, outputs)
	for i := range scale {
		scale[i] *= 0.002
	}
	return matrix{inputs, outputs, codes, scale, randomFloats(r, outputs), randomFloats(r, outputs)}
}

// bits makes floats comparable bit by bit.
func bits(values []float32) []uint32 {
	list := make([]uint32, len(values))
	for i, v := range values {
		list[i] = math.Float32bits(v)
	}
	return list
}

func up(n, to int) int { return (n + to - 1) / to * to }

// checkParts compares every function of the kernels with the portable one, on rows of random numbers.
func checkParts(t *testing.T, seed uint64, rows int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	padded := up(rows, 8)
	inputs, outputs := 16*(1+r.IntN(32)), 48*(1+r.IntN(4))
	m := randomMatrix(r, inputs, outputs)
	a := &activations{codes: randomBytes(r, padded*inputs), step: randomFloats(r, padded), low: randomFloats(r, padded)}
	inner, columns := 1+r.IntN(max(64, maxTokens/rows)), 1+r.IntN(max(100, maxTokens/rows))
	p := product{
		rows: rows, inner: inner, columns: columns, leftStride: inner + r.IntN(5), rightStride: up(columns, 32), outStride: up(columns, 32) + r.IntN(5),
	}
	p.left, p.right = randomFloats(r, padded*p.leftStride), randomFloats(r, inner*p.rightStride)
	row, residual, gain, bias := randomFloats(r, inputs), randomFloats(r, inputs), randomFloats(r, inputs), randomFloats(r, inputs)
	for i := range row {
		row[i] *= float32(int(1) << r.IntN(6))
	}
	var want []uint32
	for _, k := range kernels() {
		got := results(t, k, m, a, p, row, residual, gain, bias)
		if k.name == "portable" {
			want = got
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("seed %d, %d rows, %s: number %d is %x, portable %x", seed, rows, k.name, i, got[i], want[i])
			}
		}
	}
}

func results(t *testing.T, k kernel, m matrix, a *activations, p product, row, residual, gain, bias []float32) []uint32 {
	t.Helper()
	var list []uint32
	check := func(part string, values []float32, untouched func() bool) {
		t.Helper()
		if !untouched() {
			t.Fatalf("%s: %s writes outside of its memory", k.name, part)
		}
		list = append(list, bits(values)...)
	}
	out, untouched := guarded(up(p.rows, 8) * m.outputs)
	k.linear(new(tile), &m, a, p.rows, out)
	check("linear", out[:p.rows*m.outputs], untouched)

	out, untouched = guarded(up(p.rows, 8) * p.outStride)
	p.out = out
	k.multiply(new(tile), p)
	for r := range p.rows {
		check("multiply", out[r*p.outStride:][:p.columns], untouched)
	}

	out, untouched = guarded(len(row))
	for _, part := range []struct {
		name string
		f    func([]float32)
	}{{"softmax", k.softmax}, {"gelu", k.gelu}, {"addNorm", func(x []float32) { k.addNorm(x, residual, gain, bias) }}} {
		copy(out, row)
		part.f(out)
		check(part.name, out, untouched)
	}

	codes := slices.Repeat([]byte{77}, len(row)+64)
	step, low := k.quantise(row, codes[32:][:len(row)])
	if slices.ContainsFunc(slices.Concat(codes[:32], codes[32+len(row):]), func(c byte) bool { return c != 77 }) {
		t.Fatalf("%s: quantise writes outside of its memory", k.name)
	}
	for _, c := range codes {
		list = append(list, uint32(c))
	}
	return append(list, bits([]float32{step, low + 0})...)
}

func TestKernelsGiveTheSameBits(t *testing.T) {
	for rows := 1; rows <= 24; rows++ {
		for seed := range uint64(5) {
			checkParts(t, seed, rows)
		}
	}
}

func FuzzKernels(f *testing.F) {
	f.Add(uint64(1), uint16(1))
	f.Add(uint64(2), uint16(511))
	f.Fuzz(func(t *testing.T, seed uint64, rows uint16) { checkParts(t, seed, 1+int(rows)%maxTokens) })
}

// smallNetwork is a network of random weights, which the portable kernel can compute in a moment.
func smallNetwork(r *rand.Rand) *network {
	n := &network{width: 96, heads: 3, inner: 144, words: 50, positions: maxTokens}
	n.wordCodes, n.blockScales, n.rowScales = randomBytes(r, 50*48), randomBytes(r, 50*3), randomFloats(r, 50)
	vector := func() []float32 { return randomFloats(r, n.width) }
	n.position, n.segments, n.inputNorm = randomFloats(r, maxTokens*n.width), randomFloats(r, 2*n.width), layerNorm{vector(), vector()}
	for range 2 {
		n.layers = append(n.layers, layer{
			attention: randomMatrix(r, 96, 288), output: randomMatrix(r, 96, 96), attentionNorm: layerNorm{vector(), vector()},
			inner: randomMatrix(r, 96, 144), outer: randomMatrix(r, 144, 96), outerNorm: layerNorm{vector(), vector()},
		})
	}
	n.pool, n.poolBias, n.head, n.headBias = randomFloats(r, 96*96), vector(), vector(), randomFloats(r, 1)
	return n
}

func randomIDs(r *rand.Rand, n, words int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(r.IntN(words))
	}
	return ids
}

// TestTextsGiveTheSameBits runs texts of many lengths. The sum of all bits is that of an Epyc of 2022, so that other
// architectures and compilers are compared with it.
func TestTextsGiveTheSameBits(t *testing.T) {
	n := smallNetwork(rand.New(rand.NewPCG(7, 7)))
	for _, k := range kernels() {
		r, m, sum := rand.New(rand.NewPCG(8, 8)), newMachine(n, k), fnv.New64()
		for _, tokens := range []int{512, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 127, 160, 255, 257, 511} {
			ids := randomIDs(r, tokens, n.words)
			vector, err := m.embed(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			logit, err := m.judge(t.Context(), ids, (tokens+1)/2)
			if err != nil {
				t.Fatal(err)
			}
			if slices.ContainsFunc(append(vector, logit), func(v float32) bool { return v != v }) {
				t.Errorf("%s: a text of %d tokens is no number", k.name, tokens)
			}
			if err := binary.Write(sum, binary.LittleEndian, append(vector, logit)); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := sum.Sum64(), uint64(0x8c8b0e5c31d16260); got != want {
			t.Errorf("%s: the sum of the bits is %#x, want %#x", k.name, got, want)
		}
	}
}

func TestTextsLeaveNothingBehind(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	n := smallNetwork(r)
	for _, k := range kernels() {
		used := newMachine(n, k)
		if _, err := used.embed(t.Context(), randomIDs(r, 300, n.words)); err != nil {
			t.Fatal(err)
		}
		got, err := used.embed(t.Context(), []int32{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		want, err := newMachine(n, k).embed(t.Context(), []int32{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(bits(got), bits(want)) {
			t.Errorf("%s: a text has another vector after a longer one", k.name)
		}
	}
}

func FuzzLoadNetwork(f *testing.F) {
	header := binary.LittleEndian.AppendUint32([]byte(magic), 1)
	for _, v := range []uint32{96, 3, 144, 5, maxTokens} {
		header = binary.LittleEndian.AppendUint32(header, v)
	}
	f.Add(header)
	f.Add(append(header, make([]byte, 600_000)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := loadNetwork(data); err == nil && len(n.layers) == 0 {
			t.Error("a network without layers and without an error")
		}
	})
}
