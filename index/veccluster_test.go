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

// TestRescoreBest finds what it finds that reads each candidate, and leaves most unread
// where they differ by more than codes take away.
func TestRescoreBest(t *testing.T) {
	for _, decay := range []float64{0, 0.5, 1} {
		v := clumps(3000, 48, 12, decay)
		if _, err := v.cluster(t.Context()); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(3, 4))
		spared := 0
		for range 50 {
			unit := clump(random, make([]float64, v.dimension), slices.Repeat([]float64{1}, v.dimension))
			query, step := v.near.query(unit)
			var list []candidate
			for place, row := range v.near.order {
				code := v.near.codes[place*v.dimension : (place+1)*v.dimension]
				c := candidate{chunk: int(row), score: float64(dotCodes(query, code))}
				if exact := cosine(unit, v.row(int(row))); math.Abs(exact-c.score*step) > v.near.slip(unit, step) {
					t.Fatalf("decay %v: a code says %v of the cosine %v, more than %v beside it", decay, c.score*step, exact, v.near.slip(unit, step))
				}
				list = append(list, c)
			}
			slices.SortFunc(list, betterRow)
			list = list[:100]
			want := slices.Clone(list)
			if err := v.rescore(unit, measure{}, want); err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(want, betterRow)
			got, err := v.rescoreBest(unit, measure{}, list, 20, step)
			if d := cmp.Diff(want[:20], got, cmp.AllowUnexported(candidate{})); d != "" || err != nil {
				t.Fatalf("decay %v: (-all read +rescoreBest)\n%s%v", decay, d, err)
			}
			for _, c := range list { // the scores of those not read are whole
				if c.score > 1 || c.score < -1 {
					spared++
				}
			}
		}
		if spared < 50*20 {
			t.Errorf("decay %v: of 100 candidates only %d are left unread", decay, spared/50)
		}
		t.Logf("decay %v: of 100 candidates %d are left unread", decay, spared/50)
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
				// Between two of the stored ones: a question is no passage.
				x := make([]float32, v.dimension)
				a, b := v.row(random.IntN(4000)), v.row(random.IntN(4000))
				for i := range x {
					x[i] = 0.8*a[i] + 0.2*b[i]
				}
				unit, _, err := normalise(x)
				if err != nil {
					t.Fatal(err)
				}
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
			if diff := cmp.Diff(nearestRows(v, unit, 10, allowed), got, cmp.AllowUnexported(candidate{})); diff != "" {
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

// Products of codes do not overflow, whatever the dimension and the values.
func TestDotCodes(t *testing.T) {
	for _, d := range []int{1, 7, 8, 384, 4096, maxDimension} {
		c := &clusters{scale: make([]float32, d)}
		unit, code := make([]float32, d), make([]int8, d)
		for i := range d {
			c.scale[i], unit[i], code[i] = 1, 1, math.MaxInt8
		}
		q, _ := c.query(unit)
		if got, want := dotCodes(q, code), int64(q[0])*math.MaxInt8*int64(d); got != want || q[0] < 100 {
			t.Errorf("%d dimensions: %d, want %d; steps of %d", d, got, want, q[0])
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
