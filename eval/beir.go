package eval

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"

	"example.com/ragflow/ingest"
)

// beirLine is a line of a corpus or of queries in the BEIR form.
type beirLine struct {
	ID    any    `json:"_id"` // a number is its digits
	Title string `json:"title"`
	Text  string `json:"text"`
}

// decodeLine reads one line of a corpus or of queries.
func decodeLine(line []byte, example string) (id, title, text string, err error) {
	var l beirLine
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	err = dec.Decode(&l)
	if err == nil && dec.More() {
		err = errors.New("the line goes on after the object")
	}
	if err != nil {
		if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && typed.Field != "" {
			return "", "", "", fmt.Errorf("%q is a %s, but a string is expected", typed.Field, typed.Value)
		}
		return "", "", "", fmt.Errorf("no JSON object such as %s: %w", example, err)
	}
	switch value := l.ID.(type) {
	case string:
		id = strings.TrimSpace(value)
	case json.Number:
		id = value.String()
	}
	if id == "" {
		return "", "", "", fmt.Errorf("no _id; each line has one of its own, as in %s", example)
	}
	return id, l.Title, l.Text, nil
}

const (
	corpusExample = `{"_id": "d1", "title": "…", "text": "…"}`
	queryExample  = `{"_id": "q1", "text": "…"}`
	qrelsExample  = `"q1 <tab> d1 <tab> 1"`
)

// Corpus is a file of documents in the BEIR form: JSON lines with _id, title and
// text, packed with gzip or not.
type Corpus struct{ Path string }

// Hash is the SHA-256 of the file, in hex.
func (c Corpus) Hash() (string, error) {
	f, err := os.Open(c.Path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Check reads the file and counts its documents. All that is wrong with it is
// told at once, as a [*DatasetError]; a file without documents is a fault. seen,
// which may be nil, is told how many were read.
func (c Corpus) Check(ctx context.Context, seen func(documents int)) (int, error) {
	documents := 0
	err := c.read(corpusExample, "document", func(_, _, _ string) error {
		documents++
		if seen != nil {
			seen(documents)
		}
		return context.Cause(ctx)
	})
	return documents, err
}

// Records reads the documents, which [Corpus.Check] found to be whole, one after
// the other. The first error ends them.
func (c Corpus) Records() iter.Seq2[ingest.Record, error] {
	return func(yield func(ingest.Record, error) bool) {
		stop := errors.New("enough")
		err := c.read(corpusExample, "document", func(id, title, text string) error {
			if !yield(ingest.Record{ID: id, Title: title, Text: text}, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(ingest.Record{}, err)
		}
	}
}

// read reads the lines of the file.
func (c Corpus) read(example, what string, do func(id, title, text string) error) error {
	file, err := os.Open(c.Path)
	if err != nil {
		return err // it names the file
	}
	defer file.Close() //nolint:errcheck // read only
	return readBEIR(file, example, what, do)
}

// readBEIR calls do with each line in the BEIR form. What is wrong with the lines,
// none at all among it, is told at once, as a [*DatasetError].
func readBEIR(r io.Reader, example, what string, do func(id, title, text string) error) error {
	var wrong faults
	lines := map[string]int{}
	err := wrong.eachLine(r, func(n int, line []byte) error {
		id, title, text, err := decodeLine(line, example)
		switch {
		case err != nil:
			wrong.add(n, "%s", err)
		case lines[id] > 0:
			wrong.add(n, "the id %q is that of line %d; each %s needs one of its own", id, lines[id], what)
		case what == "query" && strings.TrimSpace(text) == "":
			wrong.add(n, "the text of query %q is empty", id)
		default:
			lines[id] = n
			return do(id, title, text)
		}
		return nil
	})
	if err == nil && len(lines) == 0 && len(wrong) == 0 {
		wrong.add(1, "the file is empty; a line is %s", example)
	}
	return errors.Join(err, wrong.err())
}

// ReadQueries reads queries in the BEIR form: JSON lines with _id and text,
// packed with gzip or not, in the order of the file. What is wrong is told at
// once, as a [*DatasetError].
func ReadQueries(r io.Reader) ([]Query, error) {
	var queries []Query
	err := readBEIR(r, queryExample, "query", func(id, _, text string) error {
		queries = append(queries, Query{ID: id, Text: text})
		return nil
	})
	return queries, err
}

// Qrel is one judgement: how relevant a document is to a query.
type Qrel struct {
	Query    string
	Document string
	Gain     int // 0 and less: not relevant
	Line     int // line number in the file
}

// ReadQrels reads judgements: query, document and score, separated by tabs or,
// where a line has none, by blanks, with or without a header; or the four columns
// of TREC, whose second one means nothing. The file may be packed with gzip. What
// is wrong, no judgement at all among it, is told at once, as a [*DatasetError].
func ReadQrels(r io.Reader) ([]Qrel, error) {
	var list []Qrel
	var wrong faults
	known := map[[2]string]int{}
	first := true
	err := wrong.eachLine(r, func(n int, line []byte) error {
		q, err := qrel(columns(string(line)))
		header := first && err != nil
		first = false
		pair := [2]string{q.Query, q.Document}
		switch {
		case header && strings.Contains(strings.ToLower(string(line)), "id"):
		case err != nil:
			wrong.add(n, "%s", err)
		case known[pair] > 0 && list[known[pair]-1].Gain != q.Gain:
			wrong.add(n, "document %q is judged %d for query %q, but %d on line %d", q.Document, q.Gain, q.Query, list[known[pair]-1].Gain, list[known[pair]-1].Line)
		case known[pair] == 0:
			q.Line = n
			list = append(list, q)
			known[pair] = len(list)
		}
		return nil
	})
	if err == nil && len(list) == 0 && len(wrong) == 0 {
		wrong.add(1, "there are no judgements; a line is %s", qrelsExample)
	}
	return list, errors.Join(err, wrong.err())
}

// columns splits at tabs, since ids may hold blanks, or else at blanks.
func columns(line string) []string {
	if !strings.Contains(line, "\t") {
		return strings.Fields(line)
	}
	out := strings.Split(line, "\t")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

func qrel(c []string) (Qrel, error) {
	if len(c) == 4 { // of TREC
		c = []string{c[0], c[2], c[3]}
	}
	if len(c) != 3 || c[0] == "" || c[1] == "" {
		return Qrel{}, fmt.Errorf("not a judgement such as %s: query, document and score", qrelsExample)
	}
	score, err := strconv.ParseFloat(c[2], 64)
	if err != nil || score != math.Trunc(score) || math.Abs(score) > 1000 {
		return Qrel{}, fmt.Errorf("the score is %q, but a whole number such as 0 or 1 is expected", c[2])
	}
	return Qrel{Query: c[0], Document: c[1], Gain: int(score)}, nil
}
