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

// dotCodes is the scalar product of a query and a code; see clusters.query.
func dotCodes(q []int32, code []int8) int64 {
	code = code[:len(q)]
	var s0, s1, s2, s3 int32
	for len(q) >= 8 && len(code) >= 8 {
		x, y := (*[8]int32)(q), (*[8]int8)(code)
		s0 += x[0] * int32(y[0])
		s1 += x[1] * int32(y[1])
		s2 += x[2] * int32(y[2])
		s3 += x[3] * int32(y[3])
		s0 += x[4] * int32(y[4])
		s1 += x[5] * int32(y[5])
		s2 += x[6] * int32(y[6])
		s3 += x[7] * int32(y[7])
		q, code = q[8:], code[8:]
	}
	for i := range q {
		s0 += q[i] * int32(code[i])
	}
	return int64(s0) + int64(s1) + int64(s2) + int64(s3)
}
