package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"example.com/ragflow/internal/beir"
	"example.com/ragflow/internal/text"
)

// corpus is a folder with corpus.jsonl, queries.jsonl, if judged qrels.tsv, and for the large corpus
// corpus.f32 and queries.f32.
type corpus string

func (c corpus) path(name string) string { return filepath.Join(string(c), name) }

func (c corpus) documents() ([]beir.Record, error) {
	var out []beir.Record
	for r, err := range beir.Records(c.path("corpus.jsonl")) {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// size returns the number of documents.
func (c corpus) size() (n float64, err error) {
	for _, err := range beir.Records(c.path("corpus.jsonl")) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

func (c corpus) queries() ([]beir.Query, error) { return beir.Queries(c.path("queries.jsonl"), "") }

// dimension is that of all vectors.
const dimension = 384

// vectorsOf reads consecutive vectors in little endian.
func (c corpus) vectorsOf(name string) ([][]float32, error) {
	data, err := os.ReadFile(c.path(name + ".f32"))
	if err != nil {
		return nil, err
	}
	out := make([][]float32, len(data)/4/dimension)
	for i := range out {
		out[i] = make([]float32, dimension)
		for d := range out[i] {
			out[i][d] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*(i*dimension+d):]))
		}
	}
	return out, nil
}

// longest is the maximum length of a sentence of the large corpus in bytes, so that no passage is cut in two.
const longest = 250

// generate makes both corpora: SciFact with its judged queries, and n passages of sentences drawn from real
// English ones, so that words have natural frequencies, with clustered vectors. The same n gives the same
// files.
func generate(data, folder, count string) error {
	n, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	small, large := corpus(filepath.Join(folder, "scifact")), corpus(filepath.Join(folder, "passages-"+count))
	for _, c := range []corpus{small, large} {
		if err := os.MkdirAll(string(c), 0o755); err != nil {
			return err
		}
	}
	if err := scifact(filepath.Join(data, "beir", "scifact"), small); err != nil {
		return err
	}
	if _, err := os.Stat(large.path("corpus.f32")); err == nil {
		return nil // made before
	}
	var sentences []string
	for _, set := range []string{"beir/scifact", "beir/squad-v1.1-dev", "mtrag/corpus-pooled/cloud.jsonl.gz", "mtrag/corpus-pooled/clapnq.jsonl.gz"} {
		path := filepath.Join(data, set)
		if !strings.HasSuffix(path, ".gz") {
			path = filepath.Join(path, "corpus.jsonl.gz")
		}
		for r, err := range beir.Records(path) {
			if err != nil {
				return err
			}
			for _, s := range text.Sentences(r.Text) {
				sentence := strings.TrimSpace(r.Text[s.Start:s.End])
				if len(strings.Fields(sentence)) >= 4 && len(sentence) < longest && !strings.Contains(sentence, "\n") {
					sentences = append(sentences, sentence)
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(7, uint64(n)))
	err = lines(large.path("corpus.jsonl"), n, func(i int) any {
		var parts []string
		for range 5 {
			parts = append(parts, sentences[random.IntN(len(sentences))])
		}
		return map[string]string{"_id": strconv.Itoa(i), "text": strings.Join(parts, " ")}
	})
	if err == nil {
		err = lines(large.path("queries.jsonl"), 300, func(i int) any {
			words := strings.Fields(sentences[random.IntN(len(sentences))])
			return map[string]string{"_id": strconv.Itoa(i), "text": strings.Join(words[:min(len(words), 4+random.IntN(6))], " ")}
		})
	}
	if err == nil {
		err = makeVectors(large, n, random)
	}
	return err
}

// scifact unpacks the set and keeps the judged queries.
func scifact(from string, to corpus) error {
	var documents []beir.Record
	for r, err := range beir.Records(filepath.Join(from, "corpus.jsonl.gz")) {
		if err != nil {
			return err
		}
		documents = append(documents, r)
	}
	if err := lines(to.path("corpus.jsonl"), len(documents), func(i int) any {
		return map[string]string{"_id": documents[i].ID, "title": documents[i].Title, "text": documents[i].Text}
	}); err != nil {
		return err
	}
	qrels, err := os.ReadFile(filepath.Join(from, "qrels", "test.tsv"))
	if err == nil {
		err = os.WriteFile(to.path("qrels.tsv"), qrels, 0o600)
	}
	if err != nil {
		return err
	}
	queries, err := beir.Queries(filepath.Join(from, "queries.jsonl.gz"), to.path("qrels.tsv"))
	if err != nil {
		return err
	}
	return lines(to.path("queries.jsonl"), len(queries), func(i int) any {
		return map[string]string{"_id": queries[i].ID, "text": queries[i].Text}
	})
}

// makeVectors draws unit vectors around n/250 centres, and queries around the same centres.
func makeVectors(c corpus, n int, random *rand.Rand) error {
	centres := make([][dimension]float32, max(1, n/250))
	for i := range centres {
		for d := range centres[i] {
			centres[i][d] = float32(random.NormFloat64())
		}
	}
	write := func(name string, n int) error {
		f, err := os.Create(c.path(name + ".new"))
		if err != nil {
			return err
		}
		out := bufio.NewWriter(f)
		for range n {
			v := centres[random.IntN(len(centres))]
			sum := 0.0
			for d := range v {
				v[d] += float32(random.NormFloat64())
				sum += float64(v[d]) * float64(v[d])
			}
			for d := range v {
				v[d] /= float32(math.Sqrt(sum))
			}
			if err := binary.Write(out, binary.LittleEndian, v[:]); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
		return os.Rename(f.Name(), c.path(name))
	}
	if err := write("queries.f32", 300); err != nil {
		return err
	}
	return write("corpus.f32", n)
}

// lines writes n JSON objects.
func lines(path string, n int, of func(i int) any) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(f)
	enc := json.NewEncoder(out)
	for i := range n {
		if err := enc.Encode(of(i)); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// known finds the generated vector of a text.
type known struct {
	once    sync.Once
	corpus  corpus
	vectors map[string][]float32
	err     error
}

func (k *known) of(texts []string) ([][]float32, error) {
	k.once.Do(k.read)
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if out[i] = k.vectors[t]; out[i] == nil && k.err == nil {
			return nil, fmt.Errorf("no vector was made for %q", t)
		}
	}
	return out, k.err
}

func (k *known) read() {
	k.vectors = map[string][]float32{}
	queries, err := k.corpus.queries()
	if err == nil {
		var rows [][]float32
		if rows, err = k.corpus.vectorsOf("queries"); err == nil {
			for i, q := range queries {
				k.vectors[q.Text] = rows[i]
			}
		}
	}
	k.err = err
}

// withDocuments adds the vectors of the documents.
func (k *known) withDocuments() (err error) {
	k.once.Do(k.read)
	documents, err := k.corpus.documents()
	if err != nil {
		return err
	}
	rows, err := k.corpus.vectorsOf("corpus")
	for i, d := range documents {
		if err == nil {
			k.vectors[d.Text] = rows[i]
		}
	}
	return err
}
