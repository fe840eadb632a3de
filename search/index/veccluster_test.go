package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// clumps makes vectors in groups that overlap. Dimensions weigh i^-decay: at 0 all
// the same, at 1 a few decide, as in the embeddings of real models.
func clumps(rows, dimension, groups int, decay float64) *vectorSegment {
	random := rand.New(rand.NewPCG(uint64(rows), uint64(dimension)))
	v := &vectorSegment{vectorStamp: vectorStamp{database: "test", kind: VectorsPassage}, dimension: dimension, chunks: rows}
	weights := make([]float64, dimension)
	for i := range weights {
		weights[i] = math.Pow(float64(i+1), -decay)
	}
	centres := make([]float64, groups*dimension)
	for i := range centres {
		centres[i] = random.NormFloat64() * weights[i%dimension]
	}
	for row := range rows {
		v.rows, v.lengths = append(v.rows, uint32(row)), append(v.lengths, 1)
		v.data = append(v.data, clump(random, centres, weights)...)
	}
	v.even = true
	return v
}

// clump is a vector near one of the centres.
func clump(random *rand.Rand, centres, weights []float64) []float32 {
	d := len(weights)
	at := random.IntN(len(centres)/d) * d
	x := make([]float32, d)
	for i := range x {
		x[i] = float32(centres[at+i] + 0.7*random.NormFloat64()*weights[i])
	}
	unit, _, err := normalise(x)
	if err != nil {
		panic(err) // never zero
	}
	return unit
}

// between is a vector between two, nearer to the first: a question is no passage.
func between(a, b []float32) []float32 {
	x := make([]float32, len(a))
	for i := range x {
		x[i] = 0.8*a[i] + 0.2*b[i]
	}
	unit, _, err := normalise(x)
	if err != nil {
		panic(err) // never zero
	}
	return unit
}

// nearestRows are the k nearest rows, the slow way.
func nearestRows(v *vectorSegment, unit []float32, k int, allowed func(row int) bool) []candidate {
	best := newTop(k, betterRow)
	for row := range v.rows {
		if allowed(row) {
			best.offer(candidate{chunk: row, score: cosine(unit, v.row(row))})
		}
	}
	return best.ranked()
}

func all(int) bool { return true }

// TestProbe finds what it finds that reads the vectors of all rows, and leaves most
// unread: its codes say no more of a cosine than they may.
func TestProbe(t *testing.T) {
	for _, decay := range []float64{0, 0.5, 1} {
		v := clumps(4000, 96, 12, decay)
		if _, err := v.cluster(t.Context()); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(3, 4))
		var scanned, compared, read int
		const queries, k = 50, 20
		for range queries {
			unit := between(v.row(random.IntN(4000)), v.row(random.IntN(4000)))
			p := &probe{}
			v.near.codes.ask(&p.question, unit)
			products := p.ask(&p.question, &v.near.codes, 0, 4000)
			for place, row := range v.near.order {
				q, exact, product := &p.question, cosine(unit, v.row(int(row))), products[place]
				if rough := q.roughly(product); math.Abs(exact-rough) > q.roughSlip {
					t.Fatalf("decay %v: half a code says %v of the cosine %v, more than %v beside it", decay, rough, exact, q.roughSlip)
				}
				if told := q.cosine(&v.near.codes, place, product); math.Abs(exact-told) > q.slip {
					t.Fatalf("decay %v: a code says %v of the cosine %v, more than %v beside it", decay, told, exact, q.slip)
				}
			}
			if err := v.probe(t.Context(), p, unit, measure{}, k, len(v.near.ends), 0, all); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(nearestRows(v, unit, k, all), p.list, cmp.AllowUnexported(candidate{})); d != "" {
				t.Fatalf("decay %v: (-all compared +probe)\n%s", decay, d)
			}
			scanned, compared, read = scanned+p.scanned, compared+p.compared, read+p.read
		}
		t.Logf("decay %v: of %d rows the codes of %d are compared, and %d are read", decay, scanned/queries, compared/queries, read/queries)
		if scanned != queries*4000 || compared > queries*1600 || read > queries*3*k {
			t.Errorf("decay %v: of %d rows the codes of %d were compared, and %d were read", decay, scanned/queries, compared/queries, read/queries)
		}
	}
}

// TestClusters finds nearly all that the slow way finds, with the same scores,
// for vectors that are not stored.
func TestClusters(t *testing.T) {
	for _, decay := range []float64{0, 0.5, 1} {
		t.Run(fmt.Sprintf("decay %v", decay), func(t *testing.T) {
			v := clumps(4000, 48, 12, decay)
			told, err := v.cluster(t.Context())
			if err != nil || told < wantedRecall {
				t.Fatalf("recall %v, %v", told, err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			found, wanted := 0, 0
			for range 50 {
				unit := between(v.row(random.IntN(4000)), v.row(random.IntN(4000)))
				got, err := v.approximate(t.Context(), unit, measure{}, 10, v.near.probe, 0, all)
				if err != nil || len(got) != 10 {
					t.Fatal(len(got), err)
				}
				want := nearestRows(v, unit, 10, all)
				for _, c := range got {
					if exact := cosine(unit, v.row(c.chunk)); c.score != exact {
						t.Fatalf("row %d scores %v, want %v", c.chunk, c.score, exact)
					}
					if slices.Contains(want, c) {
						found++
					}
				}
				wanted += len(want)
			}
			recall := float64(found) / float64(wanted)
			t.Logf("looking into %d of %d lists: recall %.3f, told %.3f", v.near.probe, len(v.near.ends), recall, told)
			if recall < 0.95 {
				t.Errorf("recall %v", recall)
			}
		})
	}
}

// TestClustersRareFilter: where few rows may be found, none of the nearest is
// missed.
func TestClustersRareFilter(t *testing.T) {
	v := clumps(4000, 32, 12, 0.5)
	if _, err := v.cluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, share := range []int{37, 400, 4000, 5000} {
		allowed := func(row int) bool { return row%share == share-1 }
		for q := range 20 {
			unit := v.row(q * 199)
			lists, patience := v.least(true, allowed)
			got, err := v.approximate(t.Context(), unit, measure{}, 10, lists, patience, allowed)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(nearestRows(v, unit, 10, allowed), got, cmp.AllowUnexported(candidate{}), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("one row in %d, query %d (-want +got):\n%s", share, q, diff)
			}
		}
	}
}

// TestClustersAreTheSame whatever the number of processors, and read from a file,
// where the vectors stay.
func TestClustersAreTheSame(t *testing.T) {
	name := filepath.Join(t.TempDir(), "1.vec")
	var first []byte
	for _, procs := range []int{1, 3} {
		before := runtime.GOMAXPROCS(procs)
		v := clumps(3000, 33, 7, 0.5)
		_, err := v.cluster(t.Context())
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.writeTo(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		bytes, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = bytes
		}
		if !slices.Equal(first, bytes) {
			t.Errorf("with %d processors the file is another", procs)
		}
		read, err := loadVectors(name)
		if err != nil {
			t.Fatal(err)
		}
		if read.data != nil && runtime.GOOS != "windows" {
			t.Error("the vectors were kept in memory")
		}
		for q := range 20 {
			want, err := v.approximate(t.Context(), v.row(q), measure{}, 10, v.near.probe, 0, all)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read.approximate(t.Context(), v.row(q), measure{}, 10, read.near.probe, 0, all)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(candidate{})); diff != "" {
				t.Fatalf("query %d (-want +got):\n%s", q, diff)
			}
		}
		if read.file != nil {
			if err := read.file.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAskNothing: a vector that has no part in what the others differ by is compared
// with them all the same.
func TestAskNothing(t *testing.T) {
	c := encode([]float32{1, 0, -1, 0}, 2, []uint32{0, 1})
	var q question
	c.ask(&q, []float32{0, 1})
	for place, product := range new(probe).ask(&q, &c, 0, 2) {
		if got := q.cosine(&c, place, product); got != 0 {
			t.Errorf("cosine %v of vectors at right angles", got)
		}
	}
}

// TestQuick: a search is quick that looks at few codes or vectors, and for sure.
func TestQuick(t *testing.T) {
	of := func(rows, dimension, lists, probe int) *vectorSegment {
		v := &vectorSegment{dimension: dimension, rows: make([]uint32, rows), even: true}
		if lists > 0 {
			v.near = &clusters{probe: probe, ends: make([]uint32, lists)}
		}
		return v
	}
	uneven := of(100_000, 384, 316, 16)
	uneven.even = false
	for _, tt := range []struct {
		name   string
		parts  []*vectorSegment
		metric string
		only   bitmap
		want   bool
	}{
		{name: "none", parts: []*vectorSegment{nil}, want: true},
		{name: "a hundred thousand", parts: []*vectorSegment{of(100_000, 384, 316, 16), nil, of(300, 384, 0, 0)}, want: true},
		{name: "a million", parts: []*vectorSegment{of(1_000_000, 384, 1000, 24)}},
		{name: "many that are each compared", parts: []*vectorSegment{of(20_000, 384, 0, 0)}},
		{name: "lengths count", parts: []*vectorSegment{uneven}, metric: MetricDot},
		{name: "lengths do not count", parts: []*vectorSegment{uneven}, want: true},
		{name: "some may be found", parts: []*vectorSegment{of(100_000, 384, 316, 16)}, only: newBitmap(1)},
	} {
		s := &Searcher{parts: make([]part, len(tt.parts))}
		s.parts[0].only = tt.only
		if got := (&Vectors{s: s, parts: tt.parts, metric: tt.metric}).Quick(); got != tt.want {
			t.Errorf("%s: quick is %v", tt.name, got)
		}
	}
}

// BenchmarkClusters searches vectors of 384 dimensions, built once each. A
// million are made where RAGFLOW_FULL is set.
func BenchmarkClusters(b *testing.B) {
	for _, rows := range []int{10_000, 100_000, 1_000_000} {
		if rows > 100_000 && os.Getenv("RAGFLOW_FULL") == "" {
			continue
		}
		v := clumps(rows, 384, rows/4000+1, 0.5)
		begun := time.Now()
		recall, err := v.cluster(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		b.Logf("%d rows: %d of %d lists, recall %.3f, built in %v", rows, v.near.probe, len(v.near.ends), recall, time.Since(begun).Round(time.Millisecond))
		b.Run(fmt.Sprintf("exact/%d", rows), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				nearestRows(v, v.row(i*997%rows), 20, all)
			}
		})
		b.Run(fmt.Sprintf("clusters/%d", rows), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if _, err := v.approximate(b.Context(), v.row(i*997%rows), measure{}, 20, v.near.probe, 0, all); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
