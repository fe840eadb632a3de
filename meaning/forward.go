package meaning

import (
	"context"
	"math"
)

// maxTokens is how many positions the network has.
const maxTokens = 512

// machine computes with a network and a kernel. It has the memory for one text at a time, so one goroutine uses it.
type machine struct {
	*network
	kernel

	x    []float32 // the hidden states, a row for each token
	wide []float32 // query, key and value of each token, or the inner layer
	side []float32 // what is added to x next

	keys, values, scores []float32 // of one head: keys by component, values and scores by token
	codes                activations
	tile                 tile
}

const (
	headWidth = 32
	stride    = maxTokens + 16 // of keys and scores: no power of two, so that rows do not share lines of the cache
)

func newMachine(n *network, k kernel) *machine {
	floats := func(n int) []float32 { return make([]float32, n) }
	return &machine{
		network: n, kernel: k,
		x: floats(maxTokens * n.width), wide: floats(maxTokens * max(3*n.width, n.inner)), side: floats(maxTokens * n.width),
		keys: floats(headWidth * stride), values: floats(maxTokens * headWidth), scores: floats(maxTokens * stride),
		codes: activations{codes: make([]uint8, maxTokens*max(n.width, n.inner)), step: floats(maxTokens), low: floats(maxTokens)},
	}
}

// embed returns the mean of the hidden states of the tokens, with length 1.
func (m *machine) embed(ctx context.Context, ids []int32) ([]float32, error) {
	if err := m.forward(ctx, ids, 0); err != nil {
		return nil, err
	}
	mean := make([]float32, m.width)
	for t := range ids {
		for i, v := range rowAt(m.x, t, m.width) {
			mean[i] += v
		}
	}
	var squares float64
	for _, v := range mean {
		squares += float64(v) * float64(v)
	}
	length := float32(math.Sqrt(squares))
	for i := range mean {
		mean[i] /= length
	}
	return mean, nil
}

// judge returns how well a passage answers a question: the logit of the first token. The passage begins at a token.
func (m *machine) judge(ctx context.Context, ids []int32, passage int) (float32, error) {
	if err := m.forward(ctx, ids, passage); err != nil {
		return 0, err
	}
	w := m.width
	m.multiply(&m.tile, product{left: m.x, right: m.pool, out: m.side, leftStride: w, rightStride: w, outStride: w, rows: 1, inner: w, columns: w})
	logit := m.headBias[0]
	for i, v := range m.side[:w] {
		logit += float32(tanh(v+m.poolBias[i]) * m.head[i])
	}
	return logit, nil
}

func tanh(x float32) float32 { return 1 - 2/(exp(2*x)+1) }

// forward makes the hidden states of the last layer. The first token of the passage is 0 if there is no question. It
// ends early, with the error of the context, between two layers.
func (m *machine) forward(ctx context.Context, ids []int32, passage int) error {
	for t, id := range ids {
		row := rowAt(m.x, t, m.width)
		m.word(id, row)
		if passage > 0 {
			segment := rowAt(m.segments, min(t/passage, 1), m.width)
			for i := range row {
				row[i] += segment[i]
			}
		}
		m.addNorm(row, rowAt(m.position, t, m.width), m.inputNorm.gain, m.inputNorm.bias)
	}
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		m.layer(&m.layers[i], len(ids))
	}
	return nil
}

func (m *machine) layer(l *layer, tokens int) {
	m.linear(&l.attention, m.x, tokens, m.wide)
	for head := range m.heads {
		m.attend(head, tokens)
	}
	m.linear(&l.output, m.side, tokens, m.side)
	m.add(l.attentionNorm, tokens)
	m.linear(&l.inner, m.x, tokens, m.wide)
	for t := range tokens {
		m.gelu(rowAt(m.wide, t, m.inner))
	}
	m.linear(&l.outer, m.wide, tokens, m.side)
	m.add(l.outerNorm, tokens)
}

// linear multiplies rows by a matrix. in and out may be the same, because the rows are made bytes first.
func (m *machine) linear(matrix *matrix, in []float32, tokens int, out []float32) {
	for t := range tokens {
		m.codes.step[t], m.codes.low[t] = m.quantise(rowAt(in, t, matrix.inputs), m.codes.codes[t*matrix.inputs:][:matrix.inputs])
	}
	m.kernel.linear(&m.tile, matrix, &m.codes, tokens, out)
}

// add adds side to x and normalises the rows.
func (m *machine) add(n layerNorm, tokens int) {
	for t := range tokens {
		m.addNorm(rowAt(m.x, t, m.width), rowAt(m.side, t, m.width), n.gain, n.bias)
	}
}

// attend writes the components of one head to side: for each token the mean of all values, weighted by how well its
// query and their keys match.
func (m *machine) attend(head, tokens int) {
	first, width := head*headWidth, 3*m.width
	for t := range tokens {
		row := rowAt(m.wide, t, width)
		for i, v := range row[m.width+first:][:headWidth] {
			m.keys[i*stride+t] = v
		}
		copy(m.values[t*headWidth:], row[2*m.width+first:][:headWidth])
	}
	m.multiply(&m.tile, product{
		left: m.wide[first:], leftStride: width, right: m.keys, rightStride: stride, out: m.scores, outStride: stride,
		rows: tokens, inner: headWidth, columns: tokens,
	})
	for t := range tokens {
		row := m.scores[t*stride:][:(tokens+15)/16*16]
		for i := tokens; i < len(row); i++ {
			row[i] = -1e30
		}
		m.softmax(row)
	}
	m.multiply(&m.tile, product{
		left: m.scores, leftStride: stride, right: m.values, rightStride: headWidth, out: m.side[first:], outStride: m.width,
		rows: tokens, inner: tokens, columns: headWidth,
	})
}

// rowAt is row t of a matrix.
func rowAt(matrix []float32, t, width int) []float32 {
	return matrix[t*width:][:width:width]
}
