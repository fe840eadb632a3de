package index

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bits-and-blooms/bitset"
	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// exhaustive is the search that skips nothing: every posting of every term is
// added up, in the order of Searcher.terms, and all chunks are sorted.
func exhaustive(s *Searcher, q state.Query, k int) []candidate {
	var all []candidate
	terms, score := s.queryTerms(q), s.scorer.of(q)
	for i := range s.parts {
		p := &s.parts[i]
		chunks, files := make([]float64, p.Totals.Chunks), make([]float64, len(p.Files))
		for _, t := range terms {
			c := newCursor(p.segment, t.parts[i])
			byFile := map[int][]posting{}
			for ; c.chunk != noChunk; c.next() {
				f := p.fileOf(int(c.chunk))
				byFile[f] = append(byFile[f], c.posting)
			}
			for f, list := range byFile {
				title, length := list[0].title, p.Files[f].Title
				total := uint32(0)
				first, end := p.chunksOf(f)
				for at := first; at < end; at++ {
					var in posting
					for _, e := range list {
						if int(e.chunk) == at {
							in = e
						}
					}
					total += in.body
					v := score.chunkImpact(t.chunkGain, in.body, p.ChunkBody[at], in.heading, p.ChunkHeading[at], title, length)
					chunks[at] += float64(t.weight * v)
				}
				files[f] += float64(t.weight * score.fileImpact(t.fileGain, total, p.Files[f].Body, title, length))
			}
		}
		for c, v := range chunks {
			if v > 0 && p.shows(p.fileOf(c)) {
				all = append(all, candidate{i, c, v + files[p.fileOf(c)]})
			}
		}
	}
	slices.SortFunc(all, s.better)
	return append([]candidate(nil), all[:min(k, len(all))]...)
}

// pruned is what Search finds.
func pruned(tb testing.TB, s *Searcher, q state.Query, k int) []candidate {
	tb.Helper()
	found := newTop(k, s.better)
	if err := s.best(tb.Context(), q, found); err != nil {
		tb.Fatal(err)
	}
	return append([]candidate(nil), found.ranked()...)
}

// word is the n-th word of a made-up language without endings.
func word(n int) string {
	out := []byte("xo")
	for ; n > 0 || len(out) < 4; n /= 16 {
		out = append(out, "bcdfghjklmnpqrtv"[n%16], 'o')
	}
	return string(out)
}

// made makes files of random terms, as analyze would: words by a law of Zipf
// and Mandelbrot over a vocabulary, a quarter of each chunk about its topic.
type made struct {
	r          *rand.Rand
	vocabulary []string
	cumulative []float64 // how often words up to each are used
	words      int       // of a chunk, on average
	chunks     int       // of a file, at most
	fields     bool      // titles and headings, too
}

func newMade(seed uint64, vocabulary, words, chunks int, fields bool) *made {
	m := &made{r: rand.New(rand.NewPCG(seed, 1)), words: words, chunks: chunks, fields: fields}
	sum := 0.0
	for i := range vocabulary {
		m.vocabulary = append(m.vocabulary, word(i))
		sum += 1 / math.Pow(float64(i)+2.7, 1.05)
		m.cumulative = append(m.cumulative, sum)
	}
	return m
}

func (m *made) word() string {
	i, _ := slices.BinarySearch(m.cumulative, m.r.Float64()*m.cumulative[len(m.cumulative)-1])
	return m.vocabulary[min(i, len(m.vocabulary)-1)]
}

// file returns the index of a file.
func (m *made) file(source string) *fileTerms {
	x := &fileTerms{terms: map[string]*fileTerm{}}
	chunks := 1 + m.r.IntN(m.chunks)
	if m.fields {
		for range m.r.IntN(4) {
			x.title++
			x.term(m.word()).title++
		}
	}
	topic := make([]string, 12)
	for i := range topic {
		topic[i] = m.word()
	}
	for i := range chunks {
		c := chunkLengths{id: fmt.Sprintf("%s#%d", source, i), body: uint32(m.words/2 + m.r.IntN(m.words+1))}
		for n := range int(c.body) {
			w := topic[n%len(topic)]
			if n%4 != 0 {
				w = m.word()
			}
			x.term(w).in(i).body++
		}
		if m.fields {
			for range m.r.IntN(3) {
				c.heading++
				x.term(m.word()).in(i).heading++
			}
		}
		x.chunks = append(x.chunks, c)
	}
	return x
}

// segment makes a segment of about n chunks.
func (m *made) segment(tb testing.TB, n int) *segment {
	tb.Helper()
	b := newBuilder()
	for f := 0; b.s.Totals.Chunks < n; f++ {
		source := fmt.Sprintf("%07d.md", f)
		b.add(segmentFile{Source: source}, m.file(source))
	}
	s, err := b.finish()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func (m *made) query(words int) state.Query {
	var q []string
	for range words {
		q = append(q, m.word())
	}
	return state.Query{Text: strings.Join(q, " ")}
}

// searcherOf searches segments as they are.
func searcherOf(r search.Ranking, segments ...*segment) *Searcher {
	s := &Searcher{ranking: r, analyzer: text.For("")}
	for i, seg := range segments {
		root := fmt.Sprintf("/%d", i)
		s.add(&snapshot{root: root, all: seg.Totals}, []part{{root: root, segment: seg}})
	}
	return s.ready()
}

// TestPruningIsExact compares the search with the one that skips nothing, bit by
// bit: several segments of other averages, all fields, other rankings than that
// which bounds are made for, filters from rare to none.
func TestPruningIsExact(t *testing.T) {
	rankings := map[string]search.Ranking{
		"default": search.DefaultRanking(), "plain": {K1: 1.5, B: 0.75}, "lucene": {K1: 0.9, B: 0.4, Title: 1, Heading: 1, Document: 0.3},
		"no lengths": {K1: 2, Title: 5, Heading: 3, Document: 1}, "all lengths": {B: 1, K1: 1.2, Title: 2, Heading: 0.1, Document: 2},
		"binary": {Title: 1, Heading: 1, Document: 1},
	}
	for seed := range uint64(4) {
		m := newMade(seed, 600, 20+int(40*seed), 1+int(5*seed), seed%2 == 1)
		large, small := m.segment(t, 6000), newMade(seed+9, 600, 12, 3, true).segment(t, 500)
		for name, r := range rankings {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				s := searcherOf(r, small, large)
				for n := range 40 {
					q, k := m.query(1+n%9), 1+m.r.IntN(30)
					if n%3 == 0 {
						q.Boosts = []state.Boost{{Text: m.word(), Weight: 0.3}}
					}
					narrow(m.r, s, n)
					got, want := pruned(t, s, q, k), exhaustive(s, q, k)
					if d := cmp.Diff(want, got, cmp.AllowUnexported(candidate{})); d != "" {
						t.Fatalf("%q, %d best: (-exhaustive +search)\n%s", q.Text, k, d)
					}
				}
			})
		}
	}
}

// TestPruningOfManyFiles is TestPruningIsExact for many files of one chunk each, and for
// filters that leave few of them.
func TestPruningOfManyFiles(t *testing.T) {
	for _, fields := range []bool{false, true} {
		m := newMade(12, 3000, 12, 1, fields)
		s := searcherOf(search.DefaultRanking(), m.segment(t, 30_000))
		for n := range 60 {
			q, k := m.query(1+n%8), 1+n%4*n%4*m.r.IntN(60)
			if n%5 == 0 {
				q.Boosts = []state.Boost{{Text: m.word(), Weight: 0.3}, {Text: m.word(), Weight: 5e-324}}
			}
			narrow(m.r, s, n)
			if d := cmp.Diff(exhaustive(s, q, k), pruned(t, s, q, k), cmp.AllowUnexported(candidate{})); d != "" {
				t.Fatalf("%q, %d best, fields %t: (-exhaustive +search)\n%s", q.Text, k, fields, d)
			}
		}
	}
}

// narrow lets between none and all of the files be found.
func narrow(r *rand.Rand, s *Searcher, n int) {
	share := []float64{0.004, 0.05, 0.9}[n%3]
	for i := range s.parts {
		p := &s.parts[i]
		p.shown = nil
		if n%4 == 0 {
			continue
		}
		p.shown = bitset.New(uint(len(p.Files)))
		for f := range p.Files {
			if r.Float64() < share {
				p.shown.Set(uint(f))
			}
		}
	}
}

// BenchmarkMade searches made-up chunks for two to eight words, frequent ones
// among them, at two sizes; the million needs RAGFLOW_FULL=1.
func BenchmarkMade(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			if n > 100_000 && os.Getenv("RAGFLOW_FULL") == "" {
				b.Skip("takes minutes (set RAGFLOW_FULL=1)")
			}
			s := searcherOf(search.DefaultRanking(), newMade(1, 50_000, 120, 8, true).segment(b, n))
			m := newMade(2, 50_000, 120, 8, true)
			queries := make([]state.Query, 300)
			for i := range queries {
				queries[i] = m.query(2 + i%7)
			}
			var took []time.Duration
			runtime.GC()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				start := time.Now()
				if _, err := s.Search(context.Background(), queries[i%len(queries)], 20); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
