package index

// dot is the scalar product of vectors of one length. Arrays spare the checks of
// bounds, and eight sums keep additions from waiting for each other. The
// conversions keep compilers from fusing multiplication and addition, which
// rounds otherwise.
func dot(a, b []float32) float32 {
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
func cosine(a, b []float32) float64 { return min(1, max(-1, float64(dot(a, b)))) }

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
