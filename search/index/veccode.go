package index

import "math"

// codes are vectors as one byte a dimension, in two halves of four bits: the high
// ones tell quickly which vectors are worth a look at the low ones. A byte is the
// number of steps that the value has, and codeZero. The scale of a dimension is its
// greatest value, so that no value is clipped. Immutable.
type codes struct {
	scale     []float32 // of each dimension: the worth of one step
	high, low []uint64  // half bytes of the vectors, sixteen a word, the first dimension lowest
}

const (
	codeZero = 1 << 7
	// halves is how many half bytes a word has, and lanes how many of them are
	// multiplied at once.
	halves, lanes = 16, 4
	// middleHalf is what a half byte is where it is not known, and spreadHalf the
	// variance about it; spreadStep is that of what rounding takes from a value.
	middleHalf = 7.5
	spreadHalf = (16*16 - 1) / 12.0
	spreadStep = 1 / 12.0
)

// codeWords is how many words each half of a code takes.
func codeWords(dimension int) int { return (dimension + halves - 1) / halves }

// encode makes the codes of some rows of vectors, in that order.
func encode(data []float32, dimension int, rows []uint32) codes {
	words := codeWords(dimension)
	c := codes{make([]float32, dimension), make([]uint64, words*len(rows)), make([]uint64, words*len(rows))}
	for at := 0; at < len(data); at += dimension {
		for i, f := range data[at : at+dimension] {
			c.scale[i] = max(c.scale[i], float32(math.Abs(float64(f))))
		}
	}
	for i := range c.scale {
		c.scale[i] /= math.MaxInt8
	}
	for place, row := range rows {
		high, low := c.high[place*words:(place+1)*words], c.low[place*words:(place+1)*words]
		for i, f := range data[int(row)*dimension : (int(row)+1)*dimension] {
			code := uint64(codeZero)
			if c.scale[i] > 0 {
				code += uint64(int64(math.Round(float64(f / c.scale[i])))) //nolint:gosec // never below 0 together
			}
			shift := i % halves * 4
			high[i/halves] |= code >> 4 << shift
			low[i/halves] |= code & 0xf << shift
		}
	}
	return c
}

// question is a vector of length 1 as codes are compared with: a whole number for each
// dimension, of two bytes, and what the products say of the cosine.
type question struct {
	high, low digits // bytes of the numbers; the low ones have a sign, too

	rough, roughZero float64 // cosine of one more in the product of the high bytes and halves, and of none
	step, zero       float64 // the same for the product of the whole numbers and codes
	// roughSlip and slip are how far the cosine is, hardly ever more, from what these say.
	roughSlip, slip float64
}

// sure is by how many standard deviations a sum may differ that hardly ever does: one in
// 100,000 by the inequality of Hoeffding, which holds for the sums of what rounding takes
// from each dimension.
const sure = 5

// ask makes a vector of length 1 a question, in the memory of q.
func (c *codes) ask(q *question, unit []float32) {
	const limit = math.MaxInt8 << 8
	greatest := 0.0
	for i, f := range unit {
		greatest = max(greatest, math.Abs(float64(f)*float64(c.scale[i])))
	}
	step := greatest / limit
	q.high.clear(codeWords(len(unit)), wide)
	q.low.clear(codeWords(len(unit)), wide)
	var sumHigh, sumLow int64
	var squares, lowSquares, lostHigh, lost float64
	for i, f := range unit {
		w := float64(float64(f) * float64(c.scale[i]))
		if greatest == 0 || w == 0 {
			continue
		}
		number := int64(math.Round(w / step))
		high := (number + 128) >> 8
		low := number - high<<8
		q.high.set(i, high)
		q.low.set(i, low)
		sumHigh, sumLow = sumHigh+high, sumLow+low
		squares += square(w)
		lowSquares += float64(low * low)
		lostHigh += square((w - float64(step*float64(high<<8))) / float64(c.scale[i]))
		lost += square((w - float64(step*float64(number))) / float64(c.scale[i]))
	}
	q.step, q.zero = step, step*((middleHalf-codeZero)*float64(sumLow)-256*codeZero*float64(sumHigh))
	q.rough, q.roughZero = 16*256*step, 256*step*(middleHalf-codeZero)*float64(sumHigh)
	const rounding = 1e-5
	q.roughSlip = float64(sure*math.Sqrt((spreadHalf+spreadStep)*squares)) + math.Sqrt(lostHigh) + rounding
	q.slip = float64(sure*math.Sqrt(float64(spreadStep*squares)+float64(spreadHalf*lowSquares*square(step)))) + math.Sqrt(lost) + rounding
}

// square is rounded before anything is added to it, on every machine.
func square(x float64) float64 { return float64(x * x) }

// roughly is the cosine that the product of the high halves tells.
func (q *question) roughly(product int32) float64 {
	return float64(q.rough*float64(product)) + q.roughZero
}

// cosine is what the whole code of a place tells, whose high halves have that product with
// the high bytes.
func (q *question) cosine(c *codes, place int, product int32) float64 {
	words := q.high.words()
	from, to := place*words, (place+1)*words
	var low, cross [1]int32
	q.high.dots(c.low[from:to], low[:])
	q.low.dots(c.high[from:to], cross[:])
	whole := 256*(16*int64(product)+int64(low[0])) + 16*int64(cross[0])
	return float64(q.step*float64(whole)) + q.zero
}

// products are those of the high halves of places, from the first on as many as out has
// room for, and the high bytes.
func (q *question) products(c *codes, first int, out []int32) {
	q.high.dots(c.high[first*q.high.words():], out)
}
