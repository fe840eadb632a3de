package mutate

import (
	"bytes"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// How long texts get, in bytes.
const (
	common = 1 << 10  // of a mutation; of a longer seed, mostly a part this long is taken
	huge   = 48 << 10 // of one in hugeEach mutations
)

const (
	hugeEach   = 4096 // mutations, one of which repeats a part until it is huge
	keeps      = 256  // mutations are kept to be mutated further
	keepEach   = 16   // mutations, one of which is kept
	brokenEach = 32   // mutations, one of which may break the encoding of a text
)

// mutator makes inputs of other inputs: the same ones for the same seed, name and seeds.
type mutator struct {
	rand  *rand.Rand
	seeds []input
	kept  []input // mutations of before, so that changes add up
	made  int
}

func newMutator(seed uint64, name string, seeds []input) *mutator {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &mutator{rand: rand.New(rand.NewPCG(seed, h.Sum64())), seeds: seeds} //nolint:gosec // to be the same each time
}

// next returns a mutation: of a seed, or of a mutation in one case of four.
func (m *mutator) next() input {
	m.made++
	of := m.any()
	in := slices.Clone(of)
	for {
		i := m.rand.IntN(len(in))
		if _, ok := in[i].(string); !ok && !m.chance(4) {
			i = m.rand.IntN(len(in)) // texts more often
		}
		in[i] = m.change(in[i], i)
		if m.chance(3) {
			break
		}
	}
	for i, a := range in { // mostly well-formed, where it was: else guessing at encodings takes most of the time
		if s, ok := a.(string); ok && utf8.ValidString(of[i].(string)) && !m.chance(brokenEach) {
			in[i] = strings.ToValidUTF8(s, "\uFFFD")
		}
	}
	if m.chance(keepEach) {
		if len(m.kept) < keeps {
			m.kept = append(m.kept, in)
		} else {
			m.kept[m.rand.IntN(keeps)] = in
		}
	}
	if m.made%hugeEach == 0 {
		in = slices.Clone(in)
		for i, a := range in {
			if s, ok := a.(string); ok && s != "" {
				in[i] = m.long(s)
			}
		}
	}
	return in
}

// any returns an input that there is.
func (m *mutator) any() input {
	if len(m.kept) > 0 && m.chance(4) {
		return m.kept[m.rand.IntN(len(m.kept))]
	}
	return m.seeds[m.rand.IntN(len(m.seeds))]
}

// change returns an argument, the i-th, changed.
func (m *mutator) change(a any, i int) any {
	switch a := a.(type) {
	case bool:
		return !a
	case int64:
		switch m.rand.IntN(3) {
		case 0:
			return a + m.rand.Int64N(33) - 16
		case 1:
			return m.rand.Int64N(1 << m.rand.IntN(20))
		}
		edges := []int64{-1, 0, 1, 127, 128, 255, 256, 1 << 15, 1<<31 - 1, -1 << 31, 1<<63 - 1, -1 << 63}
		return edges[m.rand.IntN(len(edges))]
	case string:
		other, _ := m.any()[i].(string)
		return string(m.mutate([]byte(m.part(a)), []byte(m.part(other))))
	}
	return a
}

// part returns a text, or mostly a part of one that is longer than is common.
func (m *mutator) part(s string) string {
	if len(s) <= common || !utf8.ValidString(s) || m.chance(16) {
		return s
	}
	at := m.rand.IntN(len(s) - common)
	return s[at : at+common]
}

// mutate changes bytes in one way; other is of another input.
func (m *mutator) mutate(b, other []byte) []byte {
	most := max(len(b), 4*common)
	from, to := m.span(b)
	switch m.rand.IntN(14) {
	case 0: // flip a bit
		if len(b) > 0 {
			b[from] ^= 1 << m.rand.IntN(8)
		}
	case 1: // any byte
		if len(b) > 0 {
			b[from] = byte(m.rand.IntN(256))
		}
	case 2: // delete
		b = slices.Delete(b, from, to)
	case 3: // repeat, which nests what opens
		b = slices.Insert(b, to, bytes.Repeat(b[from:to], 1+m.rand.IntN(1+min(64, common/(1+to-from))))...)
	case 4: // a part of another
		of, end := m.span(other)
		b = slices.Replace(b, from, to, other[of:end]...)
	case 5: // a part of another, nothing lost
		of, end := m.span(other)
		b = slices.Insert(b, from, other[of:end]...)
	case 6: // the beginning of one, the end of another
		of, _ := m.span(other)
		b = append(b[:from:from], other[of:]...)
	case 7: // move
		moved := slices.Clone(b[from:to])
		b = slices.Delete(b, from, to)
		at, _ := m.span(b)
		b = slices.Insert(b, at, moved...)
	case 8: // any character
		b = slices.Insert(b, from, []byte(string(m.anyRune()))...)
	case 9: // other ends of lines
		ends := []string{"\r\n", "\r", "\n\n", " ", "\u2028", "\x00"}
		b = bytes.ReplaceAll(b, []byte("\n"), []byte(ends[m.rand.IntN(len(ends))]))
	case 10: // cut off
		b = b[:from]
	default: // what formats are made of, once or many times
		token := tokens[m.rand.IntN(len(tokens))]
		if m.chance(8) {
			token = strings.Repeat(token, 2+m.rand.IntN(40))
		}
		if m.chance(2) {
			to = from
		}
		b = slices.Replace(b, from, to, []byte(token)...)
	}
	return b[:min(len(b), most)]
}

// span chooses a part: half the time whole lines, and mostly a short one.
func (m *mutator) span(b []byte) (from, to int) {
	if len(b) == 0 {
		return 0, 0
	}
	from = m.rand.IntN(len(b))
	to = min(len(b), from+1+m.rand.IntN(1<<m.rand.IntN(10)))
	if m.chance(2) {
		from = bytes.LastIndexByte(b[:from], '\n') + 1
		if n := bytes.IndexByte(b[to:], '\n'); n >= 0 {
			to += n + 1
		}
	}
	return from, to
}

// long repeats a text, a part of it or a token until it is huge.
func (m *mutator) long(s string) string {
	from, to := m.span([]byte(s))
	of := []string{s, s[from:to], tokens[m.rand.IntN(len(tokens))]}[m.rand.IntN(3)]
	return s[:from] + strings.Repeat(of, max(1, (huge-len(s))/len(of))) + s[from:]
}

// anyRune returns a character of any script, more often a common one.
func (m *mutator) anyRune() rune {
	last := []rune{0x7f, 0x24f, 0x1eff, 0xffff, utf8.MaxRune}
	return m.rand.Int32N(last[m.rand.IntN(len(last))] + 1)
}

func (m *mutator) chance(of int) bool { return m.rand.IntN(of) == 0 }
