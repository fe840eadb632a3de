package index_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestBM25Formula is R11: with k1 = 1.5 and b = 0.75 the score equals the
// formula to 1e-9.
func TestBM25Formula(t *testing.T) {
	db := open(t, "", index.Options{Ranking: &search.Ranking{K1: 1.5, B: 0.75}})
	put(t, db, "/docs",
		file("a", "", "alpha beta beta gamma"),
		file("b", "", "beta delta"),
		file("c", "", "epsilon zeta eta theta"),
	)
	hits, err := searcher(t, db, "/docs").Search(t.Context(), state.Query{Text: "beta gamma unknown"}, 10)
	if err != nil {
		t.Fatal(err)
	}
	const n, average = 3.0, 10.0 / 3
	idf := func(df float64) float64 { return math.Log((n-df+0.5)/(df+0.5) + 1) }
	tf := func(tf, length float64) float64 { return tf * 2.5 / (tf + 1.5*(0.25+0.75*length/average)) }
	want := map[string]float64{
		"a#0": idf(2)*tf(2, 4) + idf(1)*tf(1, 4),
		"b#0": idf(2) * tf(1, 2),
	}
	if len(hits) != len(want) {
		t.Errorf("%d hits, want %d: only scores above 0 are kept", len(hits), len(want))
	}
	for _, h := range hits {
		if math.Abs(h.Score-want[h.Chunk]) > 1e-9 {
			t.Errorf("%s scores %.12f, want %.12f", h.Chunk, h.Score, want[h.Chunk])
		}
	}
}

// twin is the obvious search: every chunk is looked at for every term.
type twin struct {
	r     search.Ranking
	files map[string]search.Entry // by source
}

func count(terms []string, term string) float64 {
	n := 0.0
	for _, t := range terms {
		if t == term {
			n++
		}
	}
	return n
}

// analyzed remembers, because the twin asks again and again.
var analyzed sync.Map

func analyze(s string) []string {
	if terms, ok := analyzed.Load(s); ok {
		return terms.([]string)
	}
	var out []string
	for _, t := range text.For("en").Analyze(s) {
		out = append(out, t.Term)
	}
	analyzed.Store(s, out)
	return out
}

type twinHit struct {
	id, source string
	ordinal    int
	score      float64
}

func (w *twin) search(q state.Query, k int) []twinHit {
	weights := map[string]float64{}
	for _, t := range analyze(q.Text) {
		weights[t] = 1
	}
	for _, b := range q.Boosts {
		for _, t := range analyze(b.Text) {
			weights[t] = max(weights[t], b.Weight)
		}
	}
	var files []search.Entry
	var n, body, heading, chunkTitle, title float64
	for _, source := range slices.Sorted(maps.Keys(w.files)) {
		e := w.files[source]
		if len(e.Chunks) == 0 {
			continue
		}
		files = append(files, e)
		for _, c := range e.Chunks {
			n++
			body += float64(len(analyze(c.Text)))
			heading += float64(len(analyze(strings.Join(c.Headings, "\n"))))
			chunkTitle += float64(len(analyze(text.Titled(e.File.Title, e.File.Source))))
		}
		title += float64(len(analyze(text.Titled(e.File.Title, e.File.Source))))
	}
	norm := func(tf float64, length int, average float64) float64 {
		if tf == 0 {
			return 0
		}
		return tf / (1 - w.r.B + w.r.B*float64(length)/average)
	}
	gain := func(weight, n, df, tf float64) float64 {
		return weight * math.Log((n-df+0.5)/(df+0.5)+1) * tf * (w.r.K1 + 1) / (tf + w.r.K1)
	}
	scores := map[string]float64{}
	shares := map[string]float64{}
	for _, term := range slices.Sorted(maps.Keys(weights)) {
		var df, fileDF float64
		for _, e := range files {
			inFile := false
			for _, c := range e.Chunks {
				if count(analyze(c.Text), term)+count(analyze(strings.Join(c.Headings, "\n")), term)+count(analyze(text.Titled(e.File.Title, e.File.Source)), term) > 0 {
					df++
					inFile = true
				}
			}
			if inFile {
				fileDF++
			}
		}
		for _, e := range files {
			titles := analyze(text.Titled(e.File.Title, e.File.Source))
			var total float64
			var length int
			for _, c := range e.Chunks {
				terms, heads := analyze(c.Text), analyze(strings.Join(c.Headings, "\n"))
				total += count(terms, term)
				length += len(terms)
				tf := norm(count(terms, term), len(terms), body/n) +
					w.r.Heading*norm(count(heads, term), len(heads), heading/n) +
					w.r.Title*norm(count(titles, term), len(titles), chunkTitle/n)
				if tf > 0 {
					scores[c.ID] += gain(weights[term], n, df, tf)
				}
			}
			tf := norm(total, length, body/float64(len(files))) + w.r.Title*norm(count(titles, term), len(titles), title/float64(len(files)))
			if tf > 0 {
				shares[e.File.Source] += gain(weights[term], float64(len(files)), fileDF, tf)
			}
		}
	}
	var out []twinHit
	for _, e := range files {
		for _, c := range e.Chunks {
			if s := scores[c.ID]; s > 0 {
				out = append(out, twinHit{c.ID, e.File.Source, c.Ordinal, s + w.r.Document*shares[e.File.Source]})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b twinHit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.source, b.source), cmp.Compare(a.ordinal, b.ordinal))
	})
	return out[:min(k, len(out))]
}

const vocabulary = "volume network container image compose swarm build cache layer mount host port bridge daemon rootless secret config stack node task"

// randomText is up to n words, frequent ones more often; sometimes it is empty.
func randomText(r *rand.Rand, n int) string {
	words := strings.Fields(vocabulary)
	var out []string
	for range r.IntN(n + 1) {
		out = append(out, words[int(float64(len(words))*r.Float64()*r.Float64())])
	}
	return strings.Join(out, " ")
}

func randomFile(r *rand.Rand, source string) search.Entry {
	var texts []string
	for range r.IntN(6) {
		texts = append(texts, strings.TrimSuffix(randomText(r, 2)+" > "+randomText(r, 2), " > ")+": "+randomText(r, 30)+" end")
	}
	return file(source, randomText(r, 3), texts...)
}

func randomQuery(r *rand.Rand) state.Query {
	q := state.Query{Text: randomText(r, 5)}
	for range r.IntN(3) {
		q.Boosts = append(q.Boosts, state.Boost{Text: randomText(r, 2), Weight: 0.1 + r.Float64()})
	}
	return q
}

// TestTwin: the k best are those of the twin, in its order.
func TestTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	rankings := []search.Ranking{
		search.DefaultRanking(),
		{K1: 1.5, B: 0.75},
		{K1: 0, B: 1, Title: 1, Heading: 3, Document: 0.2},
		{K1: 2, B: 0, Heading: 1, Document: 1},
	}
	for round := range 24 {
		ranking := rankings[round%len(rankings)]
		w := twin{ranking, map[string]search.Entry{}}
		db := open(t, "", index.Options{Ranking: &ranking})
		var entries []search.Entry
		for i := range 1 + r.IntN(40) {
			e := randomFile(r, fmt.Sprintf("%03d.md", i))
			w.files[e.File.Source] = e
			entries = append(entries, e)
		}
		r.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		put(t, db, "/docs", entries...)
		s := searcher(t, db, "/docs")
		for range 20 {
			q, k := randomQuery(r), 1+r.IntN(12)
			compareWithTwin(t, s, &w, q, k)
		}
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
}

func compareWithTwin(t *testing.T, s *index.Searcher, w *twin, q state.Query, k int) {
	t.Helper()
	hits, err := s.Search(t.Context(), q, k)
	if err != nil {
		t.Fatal(err)
	}
	want := w.search(q, k)
	if len(hits) != len(want) {
		t.Fatalf("%+v: %d hits, want %d", q, len(hits), len(want))
	}
	for i, h := range hits {
		if math.Abs(h.Score-want[i].score) > 1e-9 {
			t.Errorf("%+v: hit %d scores %v, want %v", q, i, h.Score, want[i].score)
		}
		// Scores that differ by rounding alone may change places.
		near := func(j int) bool {
			return j >= 0 && j < len(want) && math.Abs(want[j].score-want[i].score) < 1e-9
		}
		if h.Chunk != want[i].id && !near(i-1) && !near(i+1) && i+1 < k {
			t.Errorf("%+v: hit %d is %s, want %s", q, i, h.Chunk, want[i].id)
		}
	}
}

// TestIncrementalIsFresh: after any puts and deletes an index answers exactly as
// one that was made in one go, to the last bit, whatever GOMAXPROCS.
func TestIncrementalIsFresh(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	r := rand.New(rand.NewPCG(9, 10))
	db := open(t, filepath.Join(t.TempDir(), "index.db"), index.Options{})
	now := map[string]search.Entry{}
	for step := range 60 {
		runtime.GOMAXPROCS(1 + step%3)
		switch {
		case r.IntN(4) == 0 && len(now) > 0:
			var gone []string
			for _, source := range slices.Sorted(maps.Keys(now)) {
				if r.IntN(4) == 0 {
					gone = append(gone, source)
					delete(now, source)
				}
			}
			if err := db.Delete(t.Context(), "/docs", gone...); err != nil {
				t.Fatal(err)
			}
		default:
			var entries []search.Entry
			for _, i := range r.Perm(30)[:1+r.IntN(5)] {
				e := randomFile(r, fmt.Sprintf("%03d.md", i))
				now[e.File.Source] = e
				entries = append(entries, e)
			}
			put(t, db, "/docs", entries...)
		}
		if step%3 != 0 {
			continue
		}
		fresh := open(t, "", index.Options{})
		put(t, fresh, "/docs", slices.Collect(maps.Values(now))...)
		sameAnswers(t, r, searcher(t, db, "/docs"), searcher(t, fresh, "/docs"))
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
}

func sameAnswers(t *testing.T, r *rand.Rand, got, want *index.Searcher) {
	t.Helper()
	check(t, "documents", [2]int{got.Docs(), got.Files()}, [2]int{want.Docs(), want.Files()})
	for _, w := range analyze(vocabulary) {
		check(t, "df of "+w, got.DocFreq(w), want.DocFreq(w))
	}
	for range 10 {
		q := randomQuery(r)
		a, err := got.Search(t.Context(), q, 8)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Search(t.Context(), q, 8)
		if err != nil {
			t.Fatal(err)
		}
		check(t, fmt.Sprintf("hits of %+v", q), a, b)
		var ids []string
		for _, h := range a {
			ids = append(ids, h.Chunk)
		}
		ca, err := got.Chunks(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		cb, err := want.Chunks(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "chunks", ca, cb)
		check(t, "number of chunks", len(ca), len(ids))
	}
}
