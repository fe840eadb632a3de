package index

import (
	"encoding/binary"
	"math"
)

// dot is the scalar product of vectors of one length: the same bits on every machine.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	if wide {
		return dotWide(a, b)
	}
	return dotPlain(a, b)
}

// dotRow is dot with a vector as a file holds it; room has room for it.
func dotRow(a []float32, row []byte, room []float32) float32 {
	row, room = row[:4*len(a)], room[:len(a)]
	if wide {
		return dotWideRow(a, row)
	}
	for i := range room {
		room[i] = math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
	}
	return dotPlain(a, room)
}

// dotPlain is dot for any processor. Arrays spare the checks of
// bounds, and eight sums keep additions from waiting for each other. The
// conversions keep compilers from fusing multiplication and addition, which
// rounds otherwise.
func dotPlain(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b)
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += float32(a[i] * b[i])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// cosine is the cosine of vectors of length 1, which rounding may put a little
// beyond its bounds.
func cosine(a, b []float32) float64 { return bounded(dot(a, b)) }

func bounded(product float32) float64 { return min(1, max(-1, float64(product))) }

// digits are whole numbers from −128 to 127, one a dimension, to be multiplied with half
// bytes.
type digits struct {
	lanes     []uint64 // four for each word of half bytes, as dotHalves wants them; empty where the others are not
	even, odd []int8   // of dimensions of even and of odd numbers, eight each for a word, as dotsOf wants them
}

// clear makes all digits 0, those of so many words. They are multiplied by dotsOf or
// by dotHalves from now on.
func (d *digits) clear(words int, wide bool) {
	d.lanes, d.even, d.odd = d.lanes[:0], d.even[:0], d.odd[:0]
	if wide {
		d.even, d.odd = append(d.even, make([]int8, words*halves/2)...), append(d.odd, make([]int8, words*halves/2)...)
		return
	}
	d.lanes = append(d.lanes, make([]uint64, words*lanes)...)
}

// set gives a dimension, which has 0, its digit.
func (d *digits) set(i int, digit int64) {
	switch {
	case len(d.lanes) > 0:
		// The half byte n of a word is in lane n/4 after a shift by n%4 half bytes.
		at, lane := i/halves*lanes+i%lanes, lanes-1-i%halves/lanes
		d.lanes[at] += uint64(digit) << (16 * lane) //nolint:gosec // modulo 2^64, see dotHalves
	case i%2 == 0:
		d.even[i/2] = int8(digit) //nolint:gosec // as digits say
	default:
		d.odd[i/2] = int8(digit) //nolint:gosec // as digits say
	}
}

// words is how many words of half bytes the digits are multiplied with.
func (d *digits) words() int { return max(len(d.lanes)/lanes, len(d.even)/(halves/2)) }

// dots are the products with the half bytes of as many rows as out has room for, which
// follow each other.
func (d *digits) dots(rows []uint64, out []int32) {
	words := d.words()
	rows = rows[:words*len(out)]
	if len(d.lanes) == 0 {
		dotsOf(d.even, d.odd[:len(d.even)], rows, out)
		return
	}
	for i := range out {
		out[i] = int32(dotHalves(d.lanes, rows[i*words:(i+1)*words])) //nolint:gosec // far below 2^31 for every dimension
	}
}

// everyFourth are the half bytes of a word that are multiplied at once, each in a lane of
// 16 bits.
const everyFourth = 0x000f_000f_000f_000f

// dotHalves is the scalar product of bytes, signed, and half bytes: four at a time by one
// multiplication, as that of polynomials. With four lanes a0…a3 of half bytes and b3…b0 of
// bytes, in that order, its highest lane is a0·b0 + … + a3·b3, and what the lanes below
// carry into it is rounded off: sixteen products stay below 2^15.
func dotHalves(b, halves []uint64) int64 {
	const half = 1 << 47
	var sum int64
	for len(halves) >= 1 && len(b) >= lanes {
		x, y := halves[0], (*[lanes]uint64)(b)
		sum += int64((x&everyFourth)*y[0]+(x>>4&everyFourth)*y[1]+(x>>8&everyFourth)*y[2]+(x>>12&everyFourth)*y[3]+half) >> 48 //nolint:gosec // modulo 2^64
		halves, b = halves[1:], b[lanes:]
	}
	return sum
}
