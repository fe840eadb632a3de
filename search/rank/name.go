package rank

// JaroWinkler says how alike two names are: from 0, nothing in common, to 1, the
// same. It counts letters that stand at about the same place in both, and those in
// another order half (Jaro, 1989); up to four letters that both begin with bring it
// nearer to 1 by a tenth each (Winkler, 1990). It compares runes as they are.
func JaroWinkler(a, b string) float64 {
	s, t := []rune(a), []rune(b)
	if len(s) == 0 && len(t) == 0 {
		return 1
	}
	reach := max(0, max(len(s), len(t))/2-1)
	inS, inT := make([]bool, len(s)), make([]bool, len(t))
	matches := 0
	for i, r := range s {
		for j := max(0, i-reach); j < min(len(t), i+reach+1); j++ {
			if !inT[j] && t[j] == r {
				inS[i], inT[j] = true, true
				matches++
				break
			}
		}
	}
	if matches == 0 {
		return 0
	}
	swapped, j := 0, 0
	for i, r := range s {
		if !inS[i] {
			continue
		}
		for !inT[j] {
			j++
		}
		if t[j] != r {
			swapped++
		}
		j++
	}
	m := float64(matches)
	jaro := (m/float64(len(s)) + m/float64(len(t)) + (m-float64(swapped)/2)/m) / 3
	prefix := 0
	for prefix < min(4, len(s), len(t)) && s[prefix] == t[prefix] {
		prefix++
	}
	return jaro + float64(prefix)*0.1*(1-jaro)
}
