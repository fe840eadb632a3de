package meaning

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"math"
)

// weightsFile is written by scripts/reader/pack.py, which describes it. It is used in place.
//
//go:embed weights.bin
var weightsFile []byte

const magic = "ragflow meaning1"

// network is a transformer. Its words and the codes of its matrices are parts of the file.
type network struct {
	width, heads, inner, words, positions int

	wordCodes, blockScales        []byte
	rowScales, position, segments []float32
	inputNorm                     layerNorm
	layers                        []layer
	pool, poolBias                []float32 // the pool matrix is [input][output]
	head, headBias                []float32
}

type layer struct {
	attention, output, inner, outer matrix // attention has the outputs query, key and value
	attentionNorm, outerNorm        layerNorm
}

type layerNorm struct{ gain, bias []float32 }

// loadNetwork returns the network of a file of weights, and an error if the file has another length than its header
// says.
func loadNetwork(data []byte) (*network, error) {
	f := &reader{data: data}
	header := f.bytes(len(magic) + 6*4)
	if f.short || string(header[:len(magic)]) != magic {
		return nil, errors.New("load weights: this is no file of weights")
	}
	shape := make([]int, 6)
	for i := range shape {
		shape[i] = int(binary.LittleEndian.Uint32(header[len(magic)+4*i:]))
	}
	n := &network{width: shape[1], heads: shape[2], inner: shape[3], words: shape[4], positions: shape[5]}
	if err := n.check(shape[0]); err != nil {
		return nil, err
	}
	n.wordCodes, n.blockScales, n.rowScales = f.bytes(n.words*n.width/2), f.bytes(n.words*n.width/block), f.floats(n.words)
	n.position, n.segments, n.inputNorm = f.floats(n.positions*n.width), f.floats(2*n.width), f.norm(n.width)
	for range shape[0] {
		n.layers = append(n.layers, layer{
			attention: f.matrix(n.width, 3*n.width), output: f.matrix(n.width, n.width), attentionNorm: f.norm(n.width),
			inner: f.matrix(n.width, n.inner), outer: f.matrix(n.inner, n.width), outerNorm: f.norm(n.width),
		})
	}
	n.pool, n.poolBias, n.head, n.headBias = f.floats(n.width*n.width), f.floats(n.width), f.floats(n.width), f.floats(1)
	if f.short || f.at != len(f.data) {
		return nil, errors.New("load weights: the file has another length than its header says")
	}
	return n, nil
}

// check refuses shapes that the kernels cannot have: they take 48 outputs at once and 32 components of a head.
func (n *network) check(layers int) error {
	switch {
	case layers < 1 || layers > 64 || n.words < 1 || n.words > 1<<20 || n.heads < 1 || n.positions != maxTokens,
		n.width != 32*n.heads || n.width%48 != 0 || n.width > 1<<10,
		n.inner < 48 || n.inner%48 != 0 || n.inner > 1<<12:
		return errors.New("load weights: the header has a shape that the kernels do not know")
	}
	return nil
}

// block is the number of components of a word with the same scale.
const block = 32

// word writes the embedding of a word. The low halves of the bytes of a block are its first 16 components.
func (n *network) word(id int32, row []float32) {
	codes := n.wordCodes[int(id)*n.width/2:]
	scales := n.blockScales[int(id)*n.width/block:]
	for first := 0; first < n.width; first += block {
		scale := n.rowScales[id] * float32(int8(scales[first/block]))
		for i, code := range codes[first/2:][:block/2] {
			row[first+i] = scale * float32(int(code&15)-8)
			row[first+block/2+i] = scale * float32(int(code>>4)-8)
		}
	}
}

// reader takes arrays from a file. Each begins at a multiple of 64 bytes.
type reader struct {
	data  []byte
	at    int
	short bool
}

func (f *reader) bytes(n int) []byte {
	if n > len(f.data)-f.at {
		f.short = true
		return nil
	}
	part := f.data[f.at:][:n:n]
	f.at = min((f.at+n+63)/64*64, len(f.data))
	return part
}

func (f *reader) floats(n int) []float32 {
	part := f.bytes(4 * n)
	values := make([]float32, len(part)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(part[4*i:]))
	}
	return values
}

func (f *reader) norm(width int) layerNorm { return layerNorm{f.floats(width), f.floats(width)} }

func (f *reader) matrix(inputs, outputs int) matrix {
	return matrix{inputs, outputs, f.bytes(inputs * outputs), f.floats(outputs), f.floats(outputs), f.floats(outputs)}
}
